"""Tasks that end from outside: by their token, or with the execution that they have started.

Their handler's return is no result but a submission; who answers may be quicker than the handler.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from orchestrator.asl.errors import TASK_FAILED, Failure
from orchestrator.asl.resources import Pattern, Resource
from orchestrator.asl.states import Task
from orchestrator.execution import attempt
from orchestrator.execution.events import (
    CallbackFailed,
    CallbackSucceeded,
    ChildEnded,
)
from orchestrator.execution.frame import RestsOn
from orchestrator.execution.payload import Payload
from orchestrator.execution.served import MOCK
from orchestrator.execution.setback import bounded
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def submit(transition: Transition, thread: Thread, state: Task, result: Payload) -> bool:
    """Rest on an answer if the task wants one; tell whether it rests."""
    resource, task = state.resource, thread.task
    rests_on = _rests_on(resource)
    if rests_on is None or task is None:
        return False
    if task.resource == MOCK:
        submit_mocked(transition, thread, state)
        return False
    attempt.record_submitted(transition, thread, resource, result)
    is_over = thread.pause is not None  # then no limit is left
    earliest = None if is_over else _earliest(transition, thread, task.heartbeat_seconds)
    thread.rest_on_answer(rests_on, earliest)
    return True


_NOTHING = Payload.of({})


def submit_mocked(transition: Transition, thread: Thread, state: Task) -> None:
    """Record that a mocked task has been handed on, if it wants an answer: it has it already."""
    if _rests_on(state.resource) is not None:
        attempt.record_submitted(transition, thread, state.resource, _NOTHING)


def abandon(transition: Transition, thread: Thread, state: Task) -> None:
    """Have the execution stopped that the task may have started."""
    if may_have_a_child(thread, state):
        transition.orphan(thread)


def may_have_a_child(thread: Thread, state: Task) -> bool:
    """Tell whether the attempt is one that starts an execution, and may have done so."""
    task = thread.task
    return state.resource.waits_for_execution and task is not None and task.deliveries > 0


def _rests_on(resource: Resource) -> RestsOn | None:
    if resource.waits_for_token:
        return RestsOn.CALLBACK
    return RestsOn.EXECUTION if resource.waits_for_execution else None


def _earliest(
    transition: Transition, thread: Thread, heartbeat_seconds: int | None
) -> datetime | None:
    if heartbeat_seconds is None:
        return thread.timeout_at
    beat = transition.now + timedelta(seconds=heartbeat_seconds)
    return beat if thread.timeout_at is None else min(beat, thread.timeout_at)


def outcome(
    transition: Transition,
    thread: Thread,
    state: Task,
    event: CallbackSucceeded | CallbackFailed | ChildEnded,
) -> Payload | Failure:
    """Record that the attempt was begun, unless that has been done; return what it ended with."""
    task = thread.task
    if thread.rests_on is RestsOn.TASK:
        worker = None if task is None else task.claimed_by
        attempt.record_started(transition, thread, state.resource, worker, transition.now)
        if isinstance(event, ChildEnded):
            attempt.record_submitted(transition, thread, state.resource, event.began)
    match event:
        case CallbackSucceeded(result=result):
            return result
        case CallbackFailed(error=error, cause=cause):
            return bounded(error, cause, transition.limits)
        case ChildEnded(succeeded=True):
            two = state.resource.pattern is Pattern.SYNC_2
            return event.read if two else event.described
        case ChildEnded():
            return bounded(TASK_FAILED, event.described.text, transition.limits)
