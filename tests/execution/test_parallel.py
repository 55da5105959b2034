"""Parallel states."""

from __future__ import annotations

import pytest

from orchestrator.execution.frame import FrameStatus, RestsOn
from tests.execution.definitions import PASS, parallel, states, task
from tests.execution.harness import World
from tests.execution.outcomes import Call, Hung, Lost, Outcome, Raised, Returned, script


def by_state(**outcomes: Outcome) -> World:
    """Return a world with two branches, A and B, of a Task each."""
    definition = states(P=parallel(states(A=task()), states(B=task())))
    return World(definition, lambda call: outcomes[call.state])


def test_branches_have_the_same_input_and_their_outputs_come_in_order() -> None:
    world = by_state(A=Returned("a", after_seconds=9), B=Returned("b", after_seconds=1))
    assert world.run({"n": 1}).result == ["a", "b"]
    assert [call.input for call in world.calls] == [{"n": 1}, {"n": 1}]


def test_branches_rest_as_frames_of_their_own() -> None:
    world = by_state(A=Returned(1), B=Returned(2, after_seconds=5)).start()
    started = world.the("ParallelStateStarted").id
    assert set(world.frames) == {"", f"/{started}.0", f"/{started}.1"}
    assert world.frames[""].rests_on is RestsOn.CHILDREN
    assert world.forks[""].total == world.forks[""].admitted == 2
    world.step()
    ended = world.frames[f"/{started}.0"]
    assert (ended.status, ended.input.value) == (FrameStatus.ENDED, 1)
    assert world.forks[""].succeeded == 1
    world.finish()
    assert world.result == [1, 2]
    assert world.missing[0].below == (f"/{started}.",)


def test_a_branch_that_ends_touches_neither_its_parent_nor_its_siblings() -> None:
    world = by_state(A=Returned(1), B=Returned(2, after_seconds=5)).start()
    world.step()
    decision = world.decisions[-1]
    assert [update.frame.id for update in decision.updated] == ["/3.0"]
    assert [fork.frame for fork in decision.forks_updated] == [""]


def test_the_events_name_what_came_before_them() -> None:
    definition = states(P=parallel(states(A=PASS), states(B=PASS)))
    world = World(definition).run()
    assert [(event.id, event.previous_id, event.type) for event in world.history] == [
        (1, 0, "ExecutionStarted"),
        (2, 0, "ParallelStateEntered"),
        (3, 2, "ParallelStateStarted"),
        (4, 3, "PassStateEntered"),
        (5, 4, "PassStateExited"),
        (6, 3, "PassStateEntered"),
        (7, 6, "PassStateExited"),
        (8, 7, "ParallelStateSucceeded"),
        (9, 7, "ParallelStateExited"),
        (10, 9, "ExecutionSucceeded"),
    ]
    assert len(world.decisions) == 1


def test_the_data_of_a_parallel_is_shaped_as_that_of_a_task() -> None:
    shaped = parallel(
        states(A=PASS),
        InputPath="$.a",
        Parameters={"b.$": "$.b"},
        ResultSelector={"first.$": "$[0].b"},
        ResultPath="$.r",
        OutputPath="$.r",
    )
    assert World(states(P=shaped)).run({"a": {"b": 5}}).result == {"first": 5}


def test_a_branch_that_fails_ends_its_siblings_and_the_execution() -> None:
    world = by_state(A=Raised("E", "why"), B=Hung()).run()
    assert (world.status, world.error, world.cause) == ("FAILED", "E", "why")
    failed = world.the("TaskFailed").id
    rest = [(event.type, event.previous_id) for event in world.history if event.id > failed]
    assert rest == [
        ("TaskStateAborted", failed),
        ("TaskStateAborted", failed),
        ("ParallelStateFailed", failed),
        ("ExecutionFailed", failed + 3),
    ]


def test_a_caught_branch_error_leaves_the_parallel() -> None:
    catch = [{"ErrorEquals": ["E"], "ResultPath": "$.e", "Next": "C"}]
    definition = states(P=parallel(states(A=task()), states(B=task()), Catch=catch), C=PASS)
    outcomes: dict[str, Outcome] = {"A": Raised("E"), "B": Hung()}
    world = World(definition, lambda call: outcomes[call.state]).run({"n": 1})
    assert world.result == {"n": 1, "e": {"Error": "E", "Cause": None}}
    failed = world.the("ParallelStateFailed")
    assert world.the("ParallelStateExited").previous_id == failed.id


def test_branch_failed_takes_any_error_of_a_branch() -> None:
    catch = [{"ErrorEquals": ["States.BranchFailed"], "Next": "C"}]
    definition = states(P=parallel(states(A=task()), Catch=catch), C=PASS)
    assert World(definition, script(Raised("E"))).run().status == "SUCCEEDED"
    runtime = states(P=parallel(states(A=task(OutputPath="$.no")), Catch=catch), C=PASS)
    assert World(runtime).run().error == "States.Runtime"


def test_a_retry_runs_all_branches_again() -> None:
    retry = [{"ErrorEquals": ["E"], "MaxAttempts": 1}]
    definition = states(P=parallel(states(A=task()), states(B=task()), Retry=retry))

    def handle(call: Call) -> Outcome:
        first = len([one for one in world.calls if one.state == call.state]) == 1
        return Raised("E", after_seconds=1) if call.state == "A" and first else Returned(call.state)

    world = World(definition, handle)
    assert world.run().result == ["A", "B"]
    assert sorted(call.state for call in world.calls) == ["A", "A", "B", "B"]
    assert world.types.count("ParallelStateStarted") == 2
    assert "ParallelStateFailed" not in world.types
    assert len({call.frame for call in world.calls}) == 4


def test_a_late_report_of_an_aborted_branch_is_stale() -> None:
    retry = [{"ErrorEquals": ["E"], "MaxAttempts": 1, "IntervalSeconds": 60}]
    definition = states(P=parallel(states(A=task()), states(B=task()), Retry=retry))
    outcomes: dict[str, Outcome] = {"A": Raised("E"), "B": Returned(1, after_seconds=5)}
    world = World(definition, lambda call: outcomes[call.state]).start()
    world.step()
    event = world.next_event()
    assert event is not None
    world.tell(event)
    assert len(world.decisions) == 2


def test_forks_nest() -> None:
    inner = parallel(states(X=task()), states(Y=task()))
    world = World(states(P=parallel(states(Q=inner), states(Z=task())))).run(1)
    assert world.result == [[1, 1], 1]
    assert any(frame.count("/") == 2 for frame in (call.frame for call in world.calls))


def test_a_failure_deep_inside_aborts_everything_beside_it() -> None:
    inner = parallel(states(X=task()), states(Y=task()))
    definition = states(P=parallel(states(Q=inner), states(R=parallel(states(Z=task())))))
    outcomes: dict[str, Outcome] = {"X": Raised("E", after_seconds=1), "Y": Hung(), "Z": Hung()}
    world = World(definition, lambda call: outcomes[call.state]).run()
    assert world.error == "E"
    assert world.types.count("TaskStateAborted") == 3
    assert world.types.count("ParallelStateAborted") == 1
    assert world.types.count("ParallelStateFailed") == 2


@pytest.mark.parametrize("after", [True, False])
def test_the_frame_goes_on_where_the_parallel_stood(*, after: bool) -> None:
    following = {"Next": "Z"} if after else {}
    world = World(
        states(P=parallel(states(A=task()), **following), Z=PASS)
        if after
        else states(P=parallel(states(A=task())))
    ).run(1)
    assert world.execution.final_state == ("Z" if after else "P")


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("States.ALL", 1),
        ("States.TaskFailed", 1),
        ("States.BranchFailed", 1),
        ("Task.WorkerLost", 2),
    ],
)
def test_what_may_have_happened_in_a_branch_is_repeated_by_its_own_name_only(
    name: str, times: int
) -> None:
    retry = [{"ErrorEquals": [name], "MaxAttempts": 1}]
    definition = states(P=parallel(states(A=task()), Retry=retry))
    world = World(definition, script(Lost()), at_most_once=True).run()
    assert (world.error, len(world.calls)) == ("Task.WorkerLost", times)


def test_a_heartbeat_missed_in_a_branch_keeps_its_name() -> None:
    catch = [{"ErrorEquals": ["States.HeartbeatTimeout"], "Next": "C"}]
    definition = states(P=parallel(states(A=task(HeartbeatSeconds=5)), Catch=catch), C=PASS)
    assert World(definition, script(Hung())).run().status == "SUCCEEDED"
