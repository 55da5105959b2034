"""When something is undone: by catchers, retriers and states, at failures, stops and limits."""

from __future__ import annotations

from orchestrator.execution.events import (
    StopRequested,
)
from tests.execution.definitions import mapping, parallel, states, task
from tests.execution.harness import World
from tests.execution.outcomes import Call, Outcome, Raised, Returned
from tests.execution.saga import chain, done, failing, slow, step, undone


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
    world = World(chain("a", "b", "c"), failing(otherwise=slow("c"))).start()
    world.wait(1)
    world.stop("Enough", "because")
    assert (world.execution.phase, world.status) == ("undoing", "RUNNING")
    world.finish()
    # The handler that ran when it was stopped has done its work: that is undone, too.
    assert undone(world) == ["c", "b", "a"]
    assert (world.status, world.error, world.cause) == ("ABORTED", "Enough", "because")


def test_a_time_limit_undoes_and_ends_as_timed_out() -> None:
    definition = {**chain("a", "b", "c"), "TimeoutSeconds": 10}
    world = World(definition, failing(otherwise=slow("c"))).run()
    assert undone(world) == ["c", "b", "a"]
    assert world.status == "TIMED_OUT"
    assert world.types[-1] == "ExecutionTimedOut"


def test_while_it_undoes_a_stop_changes_nothing_and_calls_are_refused() -> None:
    definition = chain("a", "b", "c")
    world = World(definition, failing("c", otherwise=slow("undo_b"))).start()
    world.wait(1)
    before = world.execution
    world.stop()
    assert world.execution == before
    world.finish()
    assert world.status == "FAILED"
    assert undone(world) == ["b", "a"]


def test_an_abort_ends_now_and_abandons_what_is_left() -> None:
    world = World(chain("a", "b", "c"), failing("c", otherwise=slow("undo_b"))).start()
    world.wait(1)
    world.tell(StopRequested(1, None, "", abort=True))
    assert (world.status, world.execution.undoing) == ("FAILED", "abandoned")
    assert world.error == "Broken"
    world = World(chain("a", "b", "c"), slow("c")).start()
    world.wait(1)
    world.tell(StopRequested(1, "Now", "", abort=True))
    assert (world.status, world.execution.undoing) == ("ABORTED", "abandoned")
    assert undone(world) == []
