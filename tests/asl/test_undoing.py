"""The order of undoing that a definition tells, and that it is the one of every way."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.asl.definition import parse
from orchestrator.asl.undoing import (
    MOST_STEPS_IN_ALL,
    Beside,
    Doubt,
    Failure,
    More,
    Outcome,
    Rounds,
    Step,
    Then,
    Undo,
    order_of_undoing,
)

Object = dict[str, Any]
PASSES: Object = {"Type": "Pass", "End": True}


def task(name: str, then: str | None = None, **fields: Any) -> Object:
    """A Task that `undo.NAME` undoes."""
    undo = {"Compensate": {"Resource": f"celery:undo.{name}"}}
    return plain(then, **{**undo, **fields})


def plain(then: str | None = None, **fields: Any) -> Object:
    way = {"End": True} if then is None else {"Next": then}
    return {"Type": "Task", "Resource": "celery:do", **way, **fields}


def choice(*targets: str) -> Object:
    rules = [{"Variable": "$.n", "IsNull": True, "Next": target} for target in targets[1:]]
    return {"Type": "Choice", "Choices": rules, "Default": targets[0]}


def scope(**states: Object) -> Object:
    return {"StartAt": next(iter(states)), "States": states}


def failures(definition: Object) -> dict[str, Failure]:
    machine = parse(json.dumps(definition)).machine
    assert machine is not None
    return {failure.state: failure for failure in order_of_undoing(machine)}


def end(definition: Object, state: str) -> tuple[Step, ...]:
    """What is undone if nothing catches the failure of a state."""
    outcome = failures(definition)[state].outcomes[-1]
    assert outcome.then is Then.END
    return outcome.steps


def said(steps: tuple[Step, ...]) -> list[Any]:
    """Steps in short: A, A? in doubt, A?? unknown, A?! either, (FORK, [branch]), {round}, +N."""
    return [_said(step) for step in steps]


def _said(step: Step) -> Any:
    match step:
        case Undo():
            return (
                step.state
                + {"none": "", "other way": "?", "unknown": "??", "either": "?!"}[step.doubt.value]
            )
        case Beside():
            doubt = "" if step.doubt is Doubt.NONE else "?"
            return step.state + doubt, [said(thread.steps) for thread in step.threads]
        case Rounds():
            return set(said(step.steps))
        case More():
            return f"+{step.count}"


# ------------------------------------------------------------------------------- one after another


def test_what_was_done_is_undone_newest_first() -> None:
    machine = scope(A=task("a", "B"), B=plain("C"), C=task("c", "D"), D=task("d"))
    assert [said(end(machine, name)) for name in "ABCD"] == [[], ["A"], ["A"], ["C", "A"]]
    assert end(machine, "B") == (Undo("A", "celery:undo.a", Doubt.NONE),)


def test_what_lies_on_one_of_several_ways_is_in_doubt() -> None:
    machine = scope(
        A=task("a", "Which"),
        Which=choice("B", "C", "D"),
        B=task("b", "D"),
        C=task("c", "D"),
        D=task("d"),
    )
    assert said(end(machine, "Which")) == ["A"]
    assert said(end(machine, "D")) in (["B?", "C?", "A"], ["C?", "B?", "A"])


def test_a_loop_is_undone_round_by_round() -> None:
    machine = scope(
        A=task("a", "B"),
        B=task("b", "C"),
        C=task("c", "Again"),
        Again=choice("B", "D"),
        D=plain(),
    )
    assert said(end(machine, "B")) == [{"B?", "C?"}, "A"]
    assert said(end(machine, "D")) == [{"B?", "C?"}, "A"]


def test_a_task_that_is_tried_again_by_a_catcher_is_done_once() -> None:
    again = [{"ErrorEquals": ["States.ALL"], "Next": "Pause"}]
    pause = {"Type": "Wait", "Seconds": 1, "Next": "A"}
    machine = scope(A=task("a", "B", Catch=again), Pause=pause, B=plain())
    assert said(end(machine, "Pause")) == []
    assert said(end(machine, "B")) == ["A"]


def test_what_a_loop_is_left_with_is_newer_than_its_rounds() -> None:
    again = [{"ErrorEquals": ["States.ALL"], "Next": "A"}]
    machine = scope(Begin=plain("A"), B=task("b", "C", Catch=again), A=task("a", "B"), C=plain())
    assert said(end(machine, "C")) == ["B", {"A?"}]


def test_a_round_that_begins_with_nothing_pending_is_no_loop() -> None:
    machine = scope(
        A=task("a", "B"),
        B=task("b", "Which"),
        Which=choice("End", "Undo"),
        Undo={"Type": "Compensate", "Next": "A"},
        End=plain(),
    )
    assert said(end(machine, "End")) == ["B", "A"]


def test_nothing_before_a_pivot_is_undone() -> None:
    machine = scope(A=task("a", "Pay"), Pay=plain("C", Pivot=True), C=task("c", "D"), D=plain())
    assert said(end(machine, "Pay")) == ["A"]
    assert said(end(machine, "C")) == []
    assert said(end(machine, "D")) == ["C"]


def test_after_a_compensate_state_nothing_is_pending() -> None:
    machine = scope(
        A=task("a", "Undo"), Undo={"Type": "Compensate", "Next": "B"}, B=task("b", "C"), C=plain()
    )
    found = failures(machine)
    (undo,) = found["Undo"].outcomes
    assert (undo.then, undo.at, undo.errors, undo.next) == (Then.NEXT, "Undo", (), "B")
    assert said(undo.steps) == ["A"]
    assert said(found["B"].outcomes[-1].steps) == []
    assert said(found["C"].outcomes[-1].steps) == ["B"]


# ------------------------------------------------------------------------------------- catching


def caught(compensate: bool) -> Object:
    catcher = {"ErrorEquals": ["Bad"], "Next": "Wrong", "Compensate": compensate}
    return scope(
        A=task("a", "B"),
        B=task("b", "C", Catch=[catcher], CompensateUnknown=True),
        C=plain(),
        Wrong={"Type": "Fail"},
    )


def test_a_catcher_undoes_what_its_state_has_registered_or_keeps_it() -> None:
    undoing, keeping = failures(caught(compensate=True)), failures(caught(compensate=False))
    first, last = undoing["B"].outcomes
    assert (first.then, first.at, first.errors, first.next) == (Then.NEXT, "B", ("Bad",), "Wrong")
    assert said(first.steps) == ["B??"]
    assert said(last.steps) == ["B??", "A"]
    assert said(undoing["Wrong"].outcomes[0].steps) == ["A"]
    assert keeping["B"].outcomes[0].steps == ()
    assert said(keeping["Wrong"].outcomes[0].steps) == ["B??", "A"]


def test_what_a_state_leaves_on_either_way_is_told_once() -> None:
    keeps = [{"ErrorEquals": ["States.ALL"], "Next": "Undo"}]
    machine = scope(
        A=task("a", "F", CompensateUnknown=True, Catch=keeps),
        F={"Type": "Parallel", "Branches": [scope(B=task("b"))], "Catch": keeps, "Next": "C"},
        C=plain("Undo"),
        Undo={"Type": "Compensate", "Next": "D"},
        D=plain(),
    )
    found = failures(machine)["Undo"].outcomes[0].steps
    assert said(found) == [("F", [["B?"]]), "A?!"]


def test_a_catcher_of_everything_keeps_failures_from_what_is_around() -> None:
    def fork(names: list[str]) -> Object:
        catch = [{"ErrorEquals": names, "Next": "Out"}]
        inner = scope(A=plain("B", Catch=catch), B=plain("Out"), Out=PASSES)
        outer = [{"ErrorEquals": ["States.ALL"], "Next": "End"}]
        fork = {"Type": "Parallel", "Branches": [inner], "Catch": outer, "Next": "End"}
        return scope(F=fork, End=PASSES)

    assert [one.at for one in failures(fork(["Bad"]))["A"].outcomes] == ["A", "F", None]
    assert [one.at for one in failures(fork(["States.ALL"]))["A"].outcomes] == ["A", None]


def test_more_catchers_than_anybody_reads_are_counted() -> None:
    catch = [{"ErrorEquals": [f"E{n}"], "Next": "B"} for n in range(25)]
    found = failures(scope(A=task("a", "B", Catch=catch), B=plain()))["A"]
    assert (len(found.outcomes), found.left_out) == (21, 5)


# ---------------------------------------------------------------------------------------- forks


def parallel(**fields: Any) -> Object:
    one = scope(A=task("a", "B"), B=task("b"))
    two = scope(C=task("c"))
    fork = {"Type": "Parallel", "Branches": [one, two, scope(N=plain())], **fields}
    return scope(X=task("x", "F"), F={**fork, "Next": "Z"}, Z=plain())


def test_a_finished_parallel_is_one_step_whose_branches_are_side_by_side() -> None:
    assert said(end(parallel(), "Z")) == [("F", [["B", "A"], ["C"]]), "X"]


def test_what_other_branches_have_done_by_then_is_in_doubt() -> None:
    machine = parallel()
    assert said(end(machine, "B")) == [("F", [["A"], ["C?"]]), "X"]
    assert said(end(machine, "C")) == [("F", [["B?", "A?"]]), "X"]
    assert said(end(machine, "F")) == [("F", [["B?", "A?"], ["C?"]]), "X"]


def test_the_compensation_of_a_parallel_stands_for_its_branches_once_it_is_done() -> None:
    machine = parallel(Compensate={"Resource": "celery:undo.f"})
    assert said(end(machine, "B")) == [("F", [["A"], ["C?"]]), "X"]
    assert said(end(machine, "Z")) == ["F", "X"]


def test_a_retrier_of_a_parallel_undoes_first_and_its_catcher_only_what_it_has_done() -> None:
    machine = parallel(
        Retry=[{"ErrorEquals": ["Busy"]}],
        Catch=[{"ErrorEquals": ["States.ALL"], "Next": "Z", "Compensate": True}],
    )
    retry, catch, last = failures(machine)["B"].outcomes
    inside = ("F", [["A"], ["C?"]])
    assert (retry.then, retry.at, retry.errors) == (Then.RETRY, "F", ("Busy",))
    assert (said(retry.steps), said(catch.steps)) == ([inside], [inside])
    assert said(last.steps) == [inside, "X"]
    assert said(end(machine, "Z")) == [("F?", [["B", "A"], ["C"]]), "X"]


def test_a_parallel_whose_failure_was_caught_leaves_what_its_branches_did() -> None:
    machine = parallel(Catch=[{"ErrorEquals": ["States.ALL"], "Next": "Wrong"}])
    machine["States"]["Wrong"] = {"Type": "Fail"}
    assert said(end(machine, "Wrong")) == [("F", [["B?", "A?"], ["C?"]]), "X"]


def mapped(config: Object | None = None, **fields: Any) -> Object:
    processor = scope(A=task("a", "B"), B=task("b"))
    if config:
        processor["ProcessorConfig"] = config
    return scope(M={"Type": "Map", "ItemProcessor": processor, "Next": "Z", **fields}, Z=plain())


def test_iterations_of_a_map_are_told_once() -> None:
    (step,) = end(mapped(MaxConcurrency=3), "B")
    assert isinstance(step, Beside)
    assert (step.state, step.most) == ("M", 3)
    labels = [(thread.label, said(thread.steps)) for thread in step.threads]
    assert labels == [("the iteration that failed", ["A"]), ("each other iteration", ["B?", "A?"])]
    (step,) = end(mapped(), "Z")
    assert isinstance(step, Beside)
    assert [(one.label, said(one.steps)) for one in step.threads] == [
        ("each iteration", ["B", "A"])
    ]


def test_iterations_that_were_tolerated_may_have_done_a_part() -> None:
    assert said(end(mapped(ToleratedFailureCount=1), "Z")) == [("M", [["B?", "A?"]])]


def test_forks_in_forks_are_undone_as_they_are_done() -> None:
    inner = {
        "Type": "Parallel",
        "Branches": [scope(A=task("a")), scope(B=task("b", "C"), C=plain())],
    }
    outer = scope(I={**inner, "Next": "D"}, D=task("d", "E"), E=plain())
    machine = scope(F={"Type": "Parallel", "Branches": [outer], "Next": "Z"}, Z=plain())
    assert said(end(machine, "C")) == [("F", [[("I", [["A?"], ["B"]])]])]
    assert said(end(machine, "E")) == [("F", [["D", ("I", [["A"], ["B"]])]])]
    assert said(end(machine, "Z")) == [("F", [["D", ("I", [["A"], ["B"]])]])]


# ------------------------------------------------------------------------------ other executions


def test_what_an_execution_hands_to_its_parent_is_a_step() -> None:
    child: Object = {
        "Resource": "arn:aws:states:::states:startExecution.sync:2",
        "Parameters": {"StateMachineArn": "arn:aws:states:eu-west-1:1:stateMachine:m"},
    }
    machine = scope(A=plain("B", **child, Compensate=True), B=plain())
    assert end(machine, "B") == (Undo("A", None, Doubt.NONE),)
    machine = scope(A=plain("B", **child), B=plain())
    assert end(machine, "B") == ()


def test_a_distributed_map_is_undone_as_it_runs_like_any_other() -> None:
    config = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    for fields in ({}, {"Compensate": True}):
        assert said(end(mapped(config, **fields), "Z")) == [("M", [["B", "A"]])]


# -------------------------------------------------------------------------------- calls, the rest


def test_a_call_that_leads_out_of_a_fork_leaves_what_its_branches_did() -> None:
    waits = {"Type": "Await", "After": [{"Seconds": 9, "Next": "Done"}]}
    inner = scope(A=task("a", "W"), W=waits, Done=PASSES)
    machine = scope(
        F={
            "Type": "Parallel",
            "Branches": [inner],
            "On": {"cancel": {"Next": "Left"}},
            "Next": "Out",
        },
        Out=plain(),
        Left=plain(),
    )
    machine["Calls"] = {"cancel": {}}
    assert said(end(machine, "W")) == [("F", [["A"]])]
    assert said(end(machine, "Left")) == [("F", [["A?"]])]
    assert said(end(machine, "Out")) == [("F", [["A"]])]


def test_a_pass_or_succeed_fails_only_where_it_evaluates_something() -> None:
    quiet = scope(A={"Type": "Pass", "Result": 1, "Next": "B"}, B={"Type": "Succeed"})
    assert failures(quiet) == {}
    loud = scope(
        A={"Type": "Pass", "Parameters": {"a.$": "$.b"}, "Next": "B"},
        B={"Type": "Succeed", "OutputPath": "$.c"},
    )
    assert list(failures(loud)) == ["A", "B"]


# ------------------------------------------------------------------------------- against all ways


def random_scope(draw: random.Random, loops: bool) -> Object:
    """Tasks, Choices, pivots and Compensate states that lead forwards, or anywhere."""
    count = draw.randint(3, 9)
    names = [f"s{n}" for n in range(count)]
    states: Object = {}
    for n, name in enumerate(names[:-1]):
        ahead = names[n + 1 :]
        onto = [names[n + 1], *draw.sample(names if loops else ahead, k=1)]
        kind = draw.choice(["task", "task", "task", "choice", "pivot", "undo"])
        if kind == "task":
            catch = [{"ErrorEquals": ["States.ALL"], "Next": draw.choice(ahead)}]
            extra = {"Catch": catch} if draw.random() < 0.3 else {}
            states[name] = task(name, onto[0], **extra)
        elif kind == "choice":
            states[name] = choice(*onto)
        elif kind == "pivot":
            states[name] = plain(onto[0], Pivot=True)
        else:
            states[name] = {"Type": "Compensate", "Next": onto[0]}
    states[names[-1]] = plain()
    return scope(**states)


def ways(machine: Object, longest: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every state with what is pending when a way of at most so many states enters it."""
    waiting: list[tuple[str, tuple[str, ...], int]] = [(machine["StartAt"], (), 1)]
    while waiting:
        name, pending, length = waiting.pop()
        yield name, pending
        state = machine["States"][name]
        if length == longest:
            continue
        if state["Type"] == "Choice":
            targets = [state["Default"], *(rule["Next"] for rule in state["Choices"])]
            waiting += [(target, pending, length + 1) for target in targets]
            continue
        waiting += [(one["Next"], pending, length + 1) for one in state.get("Catch", ())]
        if "Next" in state:
            clears = state["Type"] == "Compensate" or "Pivot" in state
            after = () if clears else pending
            after += (name,) if "Compensate" in state else ()
            waiting.append((state["Next"], after, length + 1))


def is_subsequence(some: tuple[str, ...], of: list[str]) -> bool:
    rest = iter(of)
    return all(one in rest for one in some)


@pytest.mark.parametrize("loops", [False, True])
def test_the_order_is_that_of_every_way(loops: bool) -> None:
    draw = random.Random(20)
    for _ in range(300):
        machine = random_scope(draw, loops)
        found = failures(machine)
        seen: dict[str, list[tuple[str, ...]]] = {}
        for name, pending in ways(machine, longest=10):
            seen.setdefault(name, []).append(pending)
        for name in seen.keys() & found.keys():
            steps = found[name].outcomes[-1].steps
            told: list[str] = []
            sure: set[str] = set()
            looped: set[str] = set()
            for step in steps:
                inner = step.steps if isinstance(step, Rounds) else (step,)
                ones = [one for one in inner if isinstance(one, Undo)]
                told += [one.state for one in ones]
                sure |= {one.state for one in ones if one.doubt is Doubt.NONE}
                if isinstance(step, Rounds):
                    looped |= {one.state for one in ones}
            for pending in seen[name]:
                newest = tuple(one for one in reversed(pending) if one not in looped)
                assert is_subsequence(newest, told), (machine, name, pending, steps)
                assert sure <= set(pending), (machine, name, pending, steps)
            if not loops:
                assert set(told) == set().union(*seen[name])
                assert sure == set(seen[name][0]).intersection(*seen[name])


# --------------------------------------------------------------------------------------- hostile


def size(outcome: Outcome) -> int:
    return len(repr(outcome.steps).split("state="))


def test_hostile_definitions_are_answered_within_bounds() -> None:
    many = 2_000
    chain = {f"s{n}": task("a", f"s{n + 1}") for n in range(many)}
    found = failures(scope(**chain, **{f"s{many}": plain()}))
    assert len(found) == many + 1
    assert said(found["s150"].outcomes[0].steps)[-1] == "+50"
    assert sum(size(failure.outcomes[0]) for failure in found.values()) < 2 * MOST_STEPS_IN_ALL
    assert isinstance(found[f"s{many}"].outcomes[0].steps[0], More)

    diamonds: Object = {}
    for n in range(many):  # two ways each: nobody could follow 2 ** many
        diamonds[f"c{n}"] = choice(f"t{n}", f"c{n + 1}")
        diamonds[f"t{n}"] = task("a", f"c{n + 1}")
    diamonds[f"c{many}"] = plain()
    assert said(failures(scope(**diamonds))["c3"].outcomes[0].steps) == ["t2?", "t1?", "t0?"]

    mesh: Object = {f"t{n}": task("a", f"c{n}") for n in range(60)}
    mesh |= {f"c{n}": choice(*[f"t{m}" for m in range(60)], "end") for n in range(60)}
    (step,) = failures(scope(**mesh, end=plain()))["end"].outcomes[0].steps
    assert isinstance(step, Rounds)
    assert len(step.steps) == 60
