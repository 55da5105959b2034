"""Tasks that end from outside, decided without a database."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from orchestrator.asl.document import Json
from orchestrator.execution.decision import Decision, Stale
from orchestrator.execution.events import (
    CallbackFailed,
    CallbackSucceeded,
    ChildEnded,
    MomentDue,
    TaskFailed,
    TaskSucceeded,
)
from orchestrator.execution.frame import Frame, RestsOn, Task
from orchestrator.execution.payload import Payload
from tests.execution.definitions import states
from tests.execution.definitions import task as task_state
from tests.execution.harness import World

SYNC = "arn:aws:states:::states:startExecution.sync"
PARAMETERS = {"StateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:child"}


def machine(resource: str, **more: object) -> Any:
    task = {"Type": "Task", "Resource": resource, "End": True, **more}
    return {"StartAt": "A", "States": {"A": task}}


def token_machine(**more: object) -> Any:
    parameters = {"token.$": "$$.Task.Token"}
    return machine(
        "arn:aws:states:::sqs:sendMessage.waitForTaskToken", Parameters=parameters, **more
    )


def begun(definition: Json) -> tuple[World, Frame, Task]:
    """A world whose one task is claimed."""
    world = World(definition).start({"a": 1})
    world.claim()
    frame = world.only_frame()
    assert frame.task is not None
    return world, frame, frame.task


def returned(world: World, result: Json) -> Decision | Stale:
    task = world.only_frame().task
    assert task is not None
    return world.tell(
        TaskSucceeded(
            world.execution.id,
            "",
            task.token,
            task.deliveries,
            task.claimed_by or "",
            Payload.of(result),
            world.now,
        )
    )


def test_a_return_is_a_submission_and_the_token_ends_the_task() -> None:
    world, _, task = begun(token_machine())
    placeholder = json.loads(task.arguments.text)["token"]
    assert placeholder.startswith("[task token ")
    assert task.token not in task.arguments.text
    assert isinstance(returned(world, {"id": 1}), Decision)
    frame = world.only_frame()
    assert frame.rests_on is RestsOn.CALLBACK
    assert isinstance(returned(world, {"id": 2}), Stale)
    world.tell(CallbackSucceeded(world.execution.id, "", task.token, Payload.of(5)))
    assert world.result == 5
    assert world.types[2:6] == ["TaskScheduled", "TaskStarted", "TaskSubmitted", "TaskSucceeded"]
    late = CallbackSucceeded(world.execution.id, "", task.token, Payload.of(6))
    assert isinstance(world.tell(late), Stale)


def test_another_token_answers_nothing() -> None:
    world, _, task = begun(token_machine())
    answer = CallbackFailed(world.execution.id, "", f"{task.token}x", "E", None)
    assert isinstance(world.tell(answer), Stale)


def test_a_failure_that_is_sent_is_retried_as_any_other() -> None:
    retry = [{"ErrorEquals": ["E"], "IntervalSeconds": 1, "MaxAttempts": 1}]
    world, _, task = begun(token_machine(Retry=retry))
    returned(world, None)
    world.tell(CallbackFailed(world.execution.id, "", task.token, "E", "c"))
    assert world.only_frame().rests_on is RestsOn.CLOCK
    frame = world.only_frame()
    assert frame.wake_at is not None
    world.now = frame.wake_at
    world.tell(MomentDue(world.execution.id, "", frame.entry, frame.wake_at))
    again = world.only_frame().task
    assert again is not None
    assert again.token != task.token
    assert again.arguments != task.arguments


def test_a_failure_without_a_name_is_caught_by_all_only() -> None:
    catch = [
        {"ErrorEquals": ["States.Runtime"], "Next": "A"},
        {"ErrorEquals": ["States.ALL"], "Next": "B"},
    ]
    definition = token_machine(Catch=catch)
    definition["States"]["B"] = {"Type": "Pass", "End": True}
    world, _, task = begun(definition)
    returned(world, None)
    world.tell(CallbackFailed(world.execution.id, "", task.token, None, None))
    assert world.result == {"Error": None, "Cause": None}


def test_a_submitted_task_falls_silent_by_its_heartbeat() -> None:
    world, _, _ = begun(token_machine(HeartbeatSeconds=7, TimeoutSeconds=60))
    returned(world, None)
    frame = world.only_frame()
    assert frame.wake_at is not None
    assert (frame.wake_at - world.now).total_seconds() == 7
    world.now = frame.wake_at
    world.tell(MomentDue(world.execution.id, "", frame.entry, frame.wake_at))
    assert world.error == "States.Timeout"
    assert world.types[-2:] == ["TaskTimedOut", "ExecutionFailed"]
    assert world.types.count("TaskStarted") == 1


def ended(world: World, task: Task, *, succeeded: bool = True) -> ChildEnded:
    return ChildEnded(
        world.execution.id,
        "",
        task.token,
        succeeded,
        Payload.of({"ExecutionArn": "child"}),
        Payload.of({"Output": '{"a":1}'}),
        Payload.of({"Output": {"a": 1}}),
    )


@pytest.mark.parametrize(("pattern", "output"), [("", '{"a":1}'), (":2", {"a": 1})])
def test_a_child_s_end_is_the_result(pattern: str, output: Json) -> None:
    world, _, task = begun(machine(f"{SYNC}{pattern}", Parameters=PARAMETERS))
    assert task.resource == "engine:start"
    returned(world, {"ExecutionArn": "child"})
    assert world.only_frame().rests_on is RestsOn.EXECUTION
    world.tell(ended(world, task))
    assert world.result == {"Output": output}


def test_a_child_may_end_before_its_start_is_reported() -> None:
    world, _, task = begun(machine(SYNC, Parameters=PARAMETERS))
    world.tell(ended(world, task, succeeded=False))
    assert world.error == "States.TaskFailed"
    assert world.types[3:6] == ["TaskStarted", "TaskSubmitted", "TaskFailed"]


def test_a_time_limit_leaves_an_orphan() -> None:
    world, frame, task = begun(machine(SYNC, Parameters=PARAMETERS, TimeoutSeconds=5))
    returned(world, {"ExecutionArn": "child"})
    assert frame.timeout_at is not None
    world.now = frame.timeout_at
    world.tell(MomentDue(world.execution.id, "", frame.entry, frame.timeout_at))
    assert world.decisions[-1].orphans == (f"{world.execution.id}:{task.token}:",)
    assert world.decisions[-1].leaves_children


SAGA = states(
    A=task_state(Next="B", Compensate={"Resource": "celery:undo"}),
    B=task_state(
        Resource=f"{SYNC}:2",
        Parameters=PARAMETERS,
        TimeoutSeconds=5,
        Retry=[{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 1}],
        Compensate={"Resource": "celery:undo"},
    ),
)


def out_of_time(world: World) -> Task:
    """Let the time limit of B pass; return its task."""
    frame = world.only_frame()
    assert frame.task is not None
    assert frame.timeout_at is not None
    world.now = frame.timeout_at
    world.tell(MomentDue(world.execution.id, "", frame.entry, frame.timeout_at))
    assert world.decisions[-1].orphans == (f"{world.execution.id}:{frame.task.token}:",)
    return frame.task


def in_b() -> World:
    """A saga whose B has started an execution, or is about to."""
    world = World(SAGA).start()
    world.step()
    world.claim()
    return world


def test_a_saga_waits_at_a_time_limit_until_the_child_it_stops_has_undone_itself() -> None:
    world = in_b()
    returned(world, {"ExecutionArn": "child"})
    first = out_of_time(world)
    assert world.types[-1] == "TaskSubmitted"
    assert world.only_frame().rests_on is RestsOn.EXECUTION
    assert world.only_frame().wake_at is None
    world.now += timedelta(seconds=60)  # it has much to undo
    world.tell(ended(world, first, succeeded=False))
    assert world.types[-1] == "TaskTimedOut"
    assert world.only_frame().rests_on is RestsOn.CLOCK  # the pause of its Retrier
    while world.only_frame().task is None:
        world.step()
    world.claim()
    second = world.only_frame().task
    assert second is not None
    assert second.key != first.key  # else it would find the child that is stopped
    returned(world, {"ExecutionArn": "child"})
    world.tell(ended(world, out_of_time(world), succeeded=False))
    assert world.status == "RUNNING"
    world.finish()
    assert (world.status, world.error) == ("FAILED", "States.Timeout")
    assert [call.state for call in world.calls if call.resource == "celery:undo"] == ["A"]


def test_a_child_that_succeeds_before_it_is_stopped_counts() -> None:
    world = in_b()
    first = out_of_time(world)  # while its start is on the way
    returned(world, {"ExecutionArn": "child"})
    assert world.only_frame().wake_at is None
    world.tell(ended(world, first))
    assert world.result == {"Output": {"a": 1}}
    assert "TaskTimedOut" not in world.types


def test_a_start_that_is_refused_after_the_time_limit_fails_as_it_says() -> None:
    world = in_b()
    task = out_of_time(world)
    refused = "StepFunctions.ExecutionAlreadyExistsException"
    world.tell(TaskFailed(1, "", task.token, 1, "worker", refused, None, world.now))
    world.finish()
    assert world.error == refused
    assert world.compensations["", 2, 0].status == "done"


def test_a_saga_that_is_stopped_while_it_waits_for_a_child_goes_on_waiting() -> None:
    world = in_b()
    returned(world, {"ExecutionArn": "child"})
    first = out_of_time(world)
    world.stop()
    assert world.status == "RUNNING"
    world.tell(ended(world, first, succeeded=False))
    world.finish()
    assert world.status == "ABORTED"


def test_an_activity_that_is_not_there_fails_its_state() -> None:
    arn = "arn:aws:states:us-east-1:000000000000:activity:deleted"
    world = World(machine(arn)).start()
    assert world.error == "States.Runtime"
    assert (world.cause or "").endswith(f"The activity {arn} does not exist.")
