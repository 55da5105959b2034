"""What is undone, in which order, and what goes on then."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.asl.document import Json
from orchestrator.execution.decision import Stale
from orchestrator.execution.events import (
    CompensationRetried,
    CompensationSkipped,
    DeadlinePassed,
    StopRequested,
)
from tests.execution.definitions import mapping, parallel, states, task
from tests.execution.harness import World
from tests.execution.outcomes import Call, Handler, Hung, Lost, Outcome, Raised, Returned, echo

LANGUAGES = ("JSONPath", "JSONata")


def undo(name: str, **fields: Any) -> dict[str, Any]:
    return {"Resource": f"celery:undo_{name}", **fields}


def step(name: str, **fields: Any) -> dict[str, Any]:
    """Return a Task that can be undone."""
    return task(Resource=f"celery:{name}", Compensate=undo(name), **fields)


def chain(*names: str, last: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a scope of Tasks in a row, each of which can be undone."""
    following = dict(zip(names, [*names[1:], last], strict=True))
    return states(
        **{
            name: step(name, **({"Next": after} if after else {}), **fields)
            for name, after in following.items()
        }
    )


def done(world: World) -> list[str]:
    """Return what the handlers were asked to do, by the names of their resources."""
    world.verify()
    return [call.resource.removeprefix("celery:") for call in world.calls]


def undone(world: World) -> list[str]:
    return [name.removeprefix("undo_") for name in done(world) if name.startswith("undo_")]


def failing(*names: str, otherwise: Handler = echo) -> Handler:
    def handle(call: Call) -> Outcome:
        name = call.resource.removeprefix("celery:")
        return Raised("Broken", f"{name} is broken") if name in names else otherwise(call)

    return handle


SIX = ("a", "b", "c", "d", "e", "f")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("k", range(6))
def test_what_came_before_the_failure_is_undone_newest_first(language: str, k: int) -> None:
    world = World({**chain(*SIX), "QueryLanguage": language}, failing(SIX[k])).run()
    assert done(world) == [*SIX[: k + 1], *[f"undo_{name}" for name in reversed(SIX[:k])]]
    assert (world.status, world.error, world.cause) == ("FAILED", "Broken", f"{SIX[k]} is broken")
    assert world.types[-1] == "ExecutionFailed"
    assert world.types.count("CompensationSucceeded") == k
    assert world.execution.undoing == ("completed" if k else "none")


def test_success_leaves_nothing_to_undo() -> None:
    world = World(chain(*SIX)).run()
    assert world.status == "SUCCEEDED"
    assert world.compensations == {}
    assert not [one for one in world.types if one.startswith("Compensation")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_arguments_are_evaluated_when_the_step_succeeds(language: str) -> None:
    given: dict[str, Any] = (
        {"Arguments": {"id": "{% $states.result.id %}", "of": "{% $states.input.order %}"}}
        if language == "JSONata"
        else {"Parameters": {"id.$": "$.result.id", "of.$": "$.input.order"}}
    )
    first = task(Resource="celery:a", Compensate=undo("a", **given), Next="b")
    definition = {**states(a=first, b=task(Resource="celery:b")), "QueryLanguage": language}
    world = World(definition, failing("b", otherwise=lambda _: Returned({"id": 7}))).run(
        {"order": 3}
    )
    assert world.calls[-1].input == {"id": 7, "of": 3}
    assert world.calls[-1].key != world.calls[0].key


def test_without_arguments_a_compensation_gets_input_and_result() -> None:
    definition = states(a=step("a", ResultPath="$.a", Next="b"), b=task(Resource="celery:b"))
    world = World(definition, failing("b", otherwise=lambda _: Returned(9))).run({"x": 1})
    assert world.calls[-1].input == {"input": {"x": 1}, "result": 9}


@pytest.mark.parametrize("language", LANGUAGES)
def test_arguments_that_fail_fail_the_state_and_all_is_given(language: str) -> None:
    wrong: dict[str, Any] = (
        {"Arguments": "{% $states.result.nothing %}"}
        if language == "JSONata"
        else {"Parameters": {"x.$": "$.result.nothing"}}
    )
    first = task(Resource="celery:a", Compensate=undo("a", **wrong), Next="b")
    definition = {**states(a=first, b=step("b")), "QueryLanguage": language}
    world = World(definition, lambda _: Returned({"id": 7})).run({"x": 1})
    assert done(world) == ["a", "undo_a"]
    assert world.calls[-1].input == {"input": {"x": 1}, "result": {"id": 7}}
    assert world.status == "FAILED"
    assert world.error == (
        "States.QueryEvaluationError" if language == "JSONata" else "States.Runtime"
    )


# -------------------------------------------------------------------------------------- forks


def test_a_finished_fork_is_one_step_undone_side_by_side() -> None:
    definition = states(
        first=step("first", Next="fork"),
        fork=parallel(chain("a1", "a2"), chain("b1", "b2"), Next="last"),
        last=step("last", Next="bad"),
        bad=task(Resource="celery:bad"),
    )
    world = World(definition, failing("bad")).run()
    order = undone(world)
    assert order[0] == "last"
    assert order[-1] == "first"
    assert set(order[1:3]) == {"a2", "b2"}
    assert set(order[3:5]) == {"a1", "b1"}


def test_a_map_is_undone_by_at_most_as_many_at_once_as_it_ran() -> None:
    running = most = 0

    def handle(call: Call) -> Outcome:
        nonlocal running, most
        if call.resource == "celery:bad":
            return Raised("Broken")
        return Returned(call.input, after_seconds=1.0)

    definition = states(
        map=mapping(
            chain("x", "y"), MaxConcurrency=2, ResultPath="$.m", ItemsPath="$.n", Next="bad"
        ),
        bad=task(Resource="celery:bad"),
    )
    world = World(definition, handle).run({"n": [1, 2, 3, 4, 5]})
    assert undone(world).count("x") == undone(world).count("y") == 5
    scheduled = [e for e in world.history if e.type.startswith("Compensation")]
    for event in scheduled:
        if event.type == "CompensationScheduled":
            running += 1
        elif event.type == "CompensationSucceeded":
            running -= 1
        most = max(most, running)
    assert most == 2


def test_a_fork_with_a_compensation_of_its_own_is_undone_by_it_alone() -> None:
    definition = states(
        fork=parallel(chain("a"), chain("b"), Compensate=undo("fork"), Next="bad"),
        bad=task(Resource="celery:bad"),
    )
    world = World(definition, failing("bad")).run()
    assert undone(world) == ["fork"]


def test_nested_forks_with_partial_completion_mirror_what_was_done() -> None:
    inner = states(
        m=mapping(chain("p", "q"), ItemsPath="$.n", ResultPath=None, Next="r"),
        r=step("r", Next="s"),
        s=task(Resource="celery:s"),
    )

    def handle(call: Call) -> Outcome:
        if call.resource == "celery:s":
            return Raised("Broken")
        return Returned(call.input, after_seconds=100.0 if call.resource == "celery:slow" else 0.0)

    other = chain("c", "slow", "never")
    definition = states(first=step("first", Next="fork"), fork=parallel(inner, other))
    world = World(definition, handle).run({"n": [1, 2]})
    order = undone(world)
    assert "never" not in done(world)
    assert order[-1] == "first"
    assert order.index("r") < order.index("q") < order.index("p")
    assert order.index("slow") < order.index("c")
    assert sorted(order) == ["c", "first", "p", "p", "q", "q", "r", "slow"]


# --------------------------------------------------------------------------------------- when


def test_a_catcher_with_compensate_undoes_what_the_failed_state_did() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Compensate": True, "Next": "after"}]
    definition = states(
        before=step("before", Next="fork"),
        fork=parallel(chain("a", "bad"), Catch=catch),
        after=task(Resource="celery:after"),
    )
    world = World(definition, failing("bad")).run()
    assert world.status == "SUCCEEDED"
    assert done(world) == ["before", "a", "bad", "undo_a", "after"]
    assert world.execution.undoing == "completed"


def test_a_catcher_without_it_undoes_nothing_and_keeps_what_is_pending() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "after"}]
    definition = states(
        before=step("before", Next="fork"),
        fork=parallel(chain("a", "bad"), Catch=catch),
        after=step("after", Next="worse"),
        worse=task(Resource="celery:worse"),
    )
    world = World(definition, failing("bad", "worse")).run()
    assert undone(world) == ["after", "a", "before"]


def test_a_compensate_state_undoes_all_of_its_frame() -> None:
    definition = states(
        a=step("a", Next="b"),
        b=step("b", Next="back"),
        back={"Type": "Compensate", "Next": "c"},
        c=step("c", Next="bad"),
        bad=task(Resource="celery:bad"),
    )
    world = World(definition, failing("bad")).run({"x": 1})
    assert done(world) == ["a", "b", "undo_b", "undo_a", "c", "bad", "undo_c"]
    assert "CompensateStateExited" in world.types


def test_a_compensate_state_with_nothing_to_undo_goes_on_at_once() -> None:
    definition = states(back={"Type": "Compensate", "Next": "a"}, a=step("a"))
    world = World(definition).run({"x": 1})
    assert world.result == {"x": 1}


def test_a_retrier_of_a_map_undoes_first_and_then_the_delay_starts() -> None:
    tries = 0

    def handle(call: Call) -> Outcome:
        nonlocal tries
        if call.resource == "celery:y":
            tries += 1
            return Raised("Busy") if tries == 1 else Returned(1)
        return Returned(call.input, after_seconds=2.0 if "undo" in call.resource else 0.0)

    retry = [{"ErrorEquals": ["Busy"], "IntervalSeconds": 5}]
    definition = states(
        before=step("before", Next="map"), map=mapping(chain("x", "y"), Retry=retry)
    )
    world = World(definition, handle).run([1])
    assert done(world) == ["before", "x", "y", "undo_x", "x", "y"]
    assert world.seconds == 7.0


def test_a_stop_undoes_and_ends_as_aborted() -> None:
    world = World(chain("a", "b", "c"), failing(otherwise=_slow("c"))).start()
    world.wait(1)
    world.stop("Enough", "because")
    assert (world.execution.phase, world.status) == ("undoing", "RUNNING")
    world.finish()
    # The handler that ran when it was stopped has done its work: that is undone, too.
    assert undone(world) == ["c", "b", "a"]
    assert (world.status, world.error, world.cause) == ("ABORTED", "Enough", "because")


def test_a_time_limit_undoes_and_ends_as_timed_out() -> None:
    definition = {**chain("a", "b", "c"), "TimeoutSeconds": 10}
    world = World(definition, failing(otherwise=_slow("c"))).run()
    assert undone(world) == ["c", "b", "a"]
    assert world.status == "TIMED_OUT"
    assert world.types[-1] == "ExecutionTimedOut"


def _slow(name: str) -> Handler:
    def handle(call: Call) -> Outcome:
        return Returned(call.input, after_seconds=60.0 if call.resource == f"celery:{name}" else 0)

    return handle


def test_while_it_undoes_a_stop_changes_nothing_and_calls_are_refused() -> None:
    definition = chain("a", "b", "c")
    world = World(definition, failing("c", otherwise=_slow("undo_b"))).start()
    world.wait(1)
    before = world.execution
    world.stop()
    assert world.execution == before
    world.finish()
    assert world.status == "FAILED"
    assert undone(world) == ["b", "a"]


def test_an_abort_ends_now_and_abandons_what_is_left() -> None:
    world = World(chain("a", "b", "c"), failing("c", otherwise=_slow("undo_b"))).start()
    world.wait(1)
    world.tell(StopRequested(1, None, "", abort=True))
    assert (world.status, world.execution.undoing) == ("FAILED", "abandoned")
    assert world.error == "Broken"
    world = World(chain("a", "b", "c"), _slow("c")).start()
    world.wait(1)
    world.tell(StopRequested(1, "Now", "", abort=True))
    assert (world.status, world.execution.undoing) == ("ABORTED", "abandoned")
    assert undone(world) == []


# ---------------------------------------------------------------------------------- outcomes


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("outcome", [Hung(), Lost()])
@pytest.mark.parametrize("unknown", [True, False])
def test_a_silent_step_is_undone_only_if_it_says_so(
    language: str, outcome: Outcome, unknown: bool
) -> None:
    arguments: dict[str, Any] = (
        {"Arguments": {"id": "{% $states.result.id %}"}}
        if language == "JSONata"
        else {"Parameters": {"id.$": "$.result.id"}}
    )
    fields = {"CompensateUnknown": True} if unknown else {}
    silent = task(
        Resource="celery:b", TimeoutSeconds=600, Compensate=undo("b", **arguments), **fields
    )
    definition = {**states(a=step("a", Next="b"), b=silent), "QueryLanguage": language}

    def handle(call: Call) -> Outcome:
        return outcome if call.resource == "celery:b" else Returned(call.input)

    world = World(definition, handle).run()
    assert undone(world) == (["b", "a"] if unknown else ["a"])
    if unknown:
        assert next(c for c in world.calls if c.resource == "celery:undo_b").input == {"id": None}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_silent_step_that_is_caught_is_undone_once(language: str) -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Compensate": True, "Next": "after"}]
    b = step("b", TimeoutSeconds=5, CompensateUnknown=True, Catch=catch, Next="after")
    definition = {
        **states(a=step("a", Next="b"), b=b, after=step("after")),
        "QueryLanguage": language,
    }

    def handle(call: Call) -> Outcome:
        return Hung() if call.resource == "celery:b" else Returned(call.input)

    world = World(definition, handle).run(most=50)
    assert done(world) == ["a", "b", "undo_b", "after"]
    assert world.status == "SUCCEEDED"


def test_a_reported_failure_has_not_happened() -> None:
    definition = states(a=step("a", Next="b"), b=step("b", CompensateUnknown=True))
    assert undone(World(definition, failing("b")).run()) == ["a"]


def test_a_step_that_was_never_claimed_has_not_happened() -> None:
    definition = {
        **states(a=step("a", CompensateUnknown=True, TimeoutSeconds=5)),
    }
    world = World(definition)
    world.served = False
    assert done(world.run()) == []


def test_a_silent_attempt_before_a_reported_one_counts() -> None:
    outcomes: list[Outcome] = [Hung(), Raised("Busy")]

    def handle(call: Call) -> Outcome:
        return outcomes.pop(0) if call.resource == "celery:b" else Returned(call.input)

    retry = [{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 1}]
    b = step("b", CompensateUnknown=True, TimeoutSeconds=5, Retry=retry)
    world = World(states(b=b), handle).run()
    assert done(world) == ["b", "b", "undo_b"]


def test_after_a_pivot_nothing_before_it_is_undone() -> None:
    definition = states(
        a=step("a", Next="pay"),
        pay=task(Resource="celery:pay", Pivot=True, Next="b"),
        b=step("b", Next="bad"),
        bad=task(Resource="celery:bad"),
    )
    assert undone(World(definition, failing("bad")).run()) == ["b"]
    assert undone(World(definition, failing("pay")).run()) == ["a"]


def test_a_handler_that_runs_on_in_a_cancelled_branch_is_waited_for() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Compensate": True, "Next": "after"}]
    definition = states(
        fork=parallel(chain("a", "slow"), chain("b", "bad"), Catch=catch),
        after=task(Resource="celery:after"),
    )
    world = World(definition, failing("bad", otherwise=_slow("slow"))).run()
    assert undone(world) == ["b", "slow", "a"]
    assert world.seconds == 60.0
    lost = World(definition, failing("bad", otherwise=_lost("slow"))).run()
    assert undone(lost) == ["b", "a"]


def _lost(name: str) -> Handler:
    return lambda call: Lost() if call.resource == f"celery:{name}" else Returned(call.input)


def test_a_cancelled_handler_that_fails_has_done_nothing() -> None:
    definition = states(fork=parallel(chain("a", "slow"), chain("b", "bad")))

    def handle(call: Call) -> Outcome:
        if call.resource == "celery:slow":
            return Raised("Late", after_seconds=9.0)
        return Returned(call.input)

    world = World(definition, failing("bad", otherwise=handle)).run()
    assert sorted(undone(world)) == ["a", "b"]
    assert world.seconds == 9.0


# ----------------------------------------------------------------------------------- failures


def test_a_failing_compensation_is_tried_eight_times_under_one_key() -> None:
    definition = chain("a", "b", "c")
    world = World(definition, failing("c", "undo_b")).start()
    while world.execution.undoing != "none" or world.execution.phase == "open":
        if not any(True for _ in world.happenings()) and not _ready(world):
            break
        world.step()
    assert undone(world) == ["b"] * 8
    assert len({call.key for call in world.calls if call.resource == "celery:undo_b"}) == 1
    (blocked,) = [one for one in world.compensations.values() if one.status == "blocked"]
    assert blocked.state == "b"
    assert world.execution.phase == "undoing"


def _ready(world: World) -> bool:
    return any(f.task and not f.task.claimed_by for f in world.frames.values())


def blocked_world(handler: Handler | None = None) -> World:
    retry: dict[str, Any] = {"Retry": []}
    definition = states(
        a=step("a", Next="b"),
        b=task(Resource="celery:b", Compensate=undo("b", **retry), Next="c"),
        c=task(Resource="celery:c"),
    )
    world = World(definition, handler or failing("c", "undo_b")).start()
    world.wait(5)
    return world


def _blocked(world: World) -> tuple[str, int, int]:
    """The frame that is blocked, and the event and place of the compensation that blocks it."""
    (frame,) = [frame for frame in world.frames.values() if frame.status == "failed"]
    assert frame.undo is not None
    return frame.id, frame.undo.event, frame.undo.place


def test_an_operator_skips_a_blocked_compensation() -> None:
    world = blocked_world()
    assert undone(world) == ["b"]
    world.tell(CompensationSkipped(1, *_blocked(world)))
    world.finish()
    assert undone(world) == ["b", "a"]
    assert world.types.count("CompensationSkipped") == 1
    assert (world.status, world.execution.undoing) == ("FAILED", "completed")


def test_who_skips_twice_does_not_skip_what_blocks_next() -> None:
    definition = states(
        a=step("a", Next="b"),
        b=task(Resource="celery:b", Compensate=undo("b", Retry=[]), Next="c"),
        c=task(Resource="celery:c", Compensate=undo("c", Retry=[]), Next="d"),
        d=task(Resource="celery:d"),
    )
    world = World(definition, failing("d", "undo_b", "undo_c")).start()
    world.wait(5)
    skip = CompensationSkipped(1, *_blocked(world))
    world.tell(skip)
    world.wait(5)
    assert undone(world) == ["c", "b"]
    next_one = _blocked(world)
    assert next_one[0] == skip.frame
    for late in (skip, CompensationRetried(1, skip.frame, skip.event, skip.place)):
        assert isinstance(world.tell(late), Stale)
    assert _blocked(world) == next_one


def test_an_operator_retries_a_blocked_compensation() -> None:
    broken = True

    def handle(call: Call) -> Outcome:
        if call.resource == "celery:c" or (call.resource == "celery:undo_b" and broken):
            return Raised("Broken")
        return Returned(call.input)

    world = blocked_world(handle)
    broken = False
    world.tell(CompensationRetried(1, *_blocked(world)))
    world.finish()
    assert undone(world) == ["b", "b", "a"]
    assert len({c.key for c in world.calls if c.resource == "celery:undo_b"}) == 1


def test_a_lost_compensation_at_most_once_is_blocked_not_repeated() -> None:
    def handle(call: Call) -> Outcome:
        if call.resource == "celery:undo_b":
            return Lost()
        return Returned(call.input)

    world = World(chain("a", "b", "c"), failing("c", otherwise=handle), at_most_once=True).start()
    world.wait(100)
    assert undone(world) == ["b"]
    world.tell(CompensationSkipped(1, *_blocked(world)))
    assert undone(world.finish()) == ["b", "a"]


def test_other_branches_are_undone_while_one_is_blocked() -> None:
    definition = states(
        fork=parallel(chain("a1", "a2"), chain("b1", "b2"), Next="bad"),
        bad=task(Resource="celery:bad"),
    )
    world = World(definition, failing("bad", "undo_a2")).start()
    world.wait(3000)
    assert {"b2", "b1"} <= set(undone(world))
    assert "a1" not in undone(world)
    world.tell(CompensationSkipped(1, *_blocked(world)))
    assert undone(world.finish())[-1] == "a1"


def test_a_failure_elsewhere_takes_over_what_is_being_undone() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Compensate": True, "Next": "after"}]
    inner = states(
        task_=parallel(chain("a", "bad"), Catch=catch), after=task(Resource="celery:after")
    )
    other = states(
        w={"Type": "Wait", "Seconds": 10, "Next": "worse"}, worse=task(Resource="celery:worse")
    )
    definition = states(first=step("first", Next="fork"), fork=parallel(inner, other))
    world = World(definition, failing("bad", "worse", otherwise=_slow("undo_a"))).run()
    assert undone(world) == ["a", "first"]
    assert world.seconds == 60.0
    stopped = World(definition, failing("bad", otherwise=_slow("undo_a"))).start()
    stopped.wait(1)
    stopped.stop()
    assert undone(stopped.finish()) == ["a", "first"]
    assert stopped.status == "ABORTED"


def test_a_deadline_does_not_count_while_it_undoes() -> None:
    definition = {**chain("a", "b", "c"), "TimeoutSeconds": 10}
    world = World(definition, failing("c", otherwise=_slow("undo_b"))).start()
    world.wait(1)
    assert world.execution.deadline_at is not None
    world.now = world.execution.deadline_at
    world.tell(DeadlinePassed(1, world.execution.deadline_at))
    world.finish()
    assert world.status == "FAILED"


def test_items_and_variables_are_those_of_their_time() -> None:
    given: Json = {"Parameters": {"item.$": "$$.Map.Item.Value", "v.$": "$v"}}
    assert isinstance(given, dict)
    x = task(Resource="celery:x", Compensate=undo("x", **given), Next="slow")
    slow = task(Resource="celery:slow", Compensate=undo("slow", **given))
    branch = states(x=x, slow=slow)
    definition = states(
        set={"Type": "Pass", "Assign": {"v": 1}, "Next": "fork"},
        fork=parallel(
            states(m=mapping(branch, ItemsPath="$")),
            states(
                w={"Type": "Wait", "Seconds": 5, "Next": "bad"}, bad=task(Resource="celery:bad")
            ),
        ),
    )
    world = World(definition, failing("bad", otherwise=_slow("slow"))).run(["one", "two"])
    given_to = [c.input for c in world.calls if "undo" in c.resource]
    assert len(given_to) == 4
    assert [one for one in given_to if one == {"item": "one", "v": 1}] * 2 == [
        {"item": "one", "v": 1}
    ] * 4
