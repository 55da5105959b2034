"""The order of undoing that a definition tells: one after another, caught or not."""

from __future__ import annotations

from orchestrator.asl.undoing import (
    Doubt,
    Then,
    Undo,
)
from tests.asl.undone import PASSES, Object, choice, end, failures, plain, said, scope, task

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
