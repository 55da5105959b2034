"""Task: rest until a handler has done the work, or failed, or been silent for too long."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from orchestrator.asl.document import DocumentError, Json, show
from orchestrator.asl.errors import RUNTIME, TIMEOUT, Failure, StateFailure
from orchestrator.asl.paths import Path
from orchestrator.asl.resources import Kind, Resource
from orchestrator.asl.states import Task
from orchestrator.execution import (
    answers,
    attempt,
    dataflow,
    frame,
    key,
    lambdas,
    register,
    served,
)
from orchestrator.execution.events import (
    CallbackFailed,
    CallbackSucceeded,
    ChildEnded,
    MomentDue,
    Report,
    TaskFailed,
    TaskLost,
    TaskSucceeded,
)
from orchestrator.execution.failure import leave, meet
from orchestrator.execution.frame import Pause, RestsOn
from orchestrator.execution.history import Detail
from orchestrator.execution.payload import Payload
from orchestrator.execution.quantity import whole
from orchestrator.execution.setback import (
    DELIVERIES_SPENT,
    WORKER_LOST,
    OutputTooLarge,
    Setback,
    bounded,
    lost,
)
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition

MOST_SECONDS = 99_999_999
"""The longest time limit."""

INVALID_RESULT = "Task.InvalidResult"
_OF_LAMBDA = {
    INVALID_RESULT: lambdas.UNKNOWN,
    WORKER_LOST: lambdas.UNKNOWN,
    DELIVERIES_SPENT: lambdas.SERVICE_EXCEPTION,
}


def enter(transition: Transition, thread: Thread, state: Task) -> None:
    """Schedule an attempt."""
    resource = state.resource
    served.check(transition, state)
    waits = resource.waits_for_token
    token = transition.promise(thread) if waits else transition.token()
    given = dataflow.effective_input(transition, thread, state)
    parameters = dataflow.parameters(transition, thread, state, given)
    dataflow.check_size(transition, parameters, state.name)
    timeout, heartbeat = _limits(transition, thread, state, given)
    task = frame.Task(
        resource=served.served_by(transition, state, parameters),
        token=token,
        attempt=thread.retries.total + 1,
        key=_key(transition, thread),
        arguments=served.arguments(resource, parameters),
        ready_at=transition.now,
        heartbeat_seconds=heartbeat,
    )
    settings: dict[str, Detail] = {}
    if timeout is not None:
        settings["timeoutInSeconds"] = timeout
    if heartbeat is not None:
        settings["heartbeatInSeconds"] = heartbeat
    role = _role(transition, thread, state, given)
    if role is not None:
        settings["taskCredentials"] = {"roleArn": role}
    attempt.record_scheduled(transition, thread, resource, parameters, settings)
    limit = None if timeout is None else transition.now + timedelta(seconds=timeout)
    thread.rest_on_task(task, limit)


def resume(
    transition: Transition,
    thread: Thread,
    state: Task,
    event: Report | MomentDue,
) -> None:
    """Go on with what became of the attempt."""
    match event:
        case TaskSucceeded():
            _succeed(transition, thread, state, event)
        case TaskFailed():
            _fail(transition, thread, state, event)
        case TaskLost():
            _lose(transition, thread, state)
        case MomentDue():
            _out_of_time(transition, thread, state)
        case ChildEnded(succeeded=False) if thread.pause and thread.pause.setback:
            _time_out(transition, thread, state, thread.pause.setback)
        case CallbackSucceeded() | CallbackFailed() | ChildEnded():
            if isinstance(event, ChildEnded):
                register.adopt(transition, thread, state, event)
            _answered(transition, thread, state, answers.outcome(transition, thread, state, event))


# ---------------------------------------------------------------------------------- scheduling


def _limits(
    transition: Transition, thread: Thread, state: Task, given: Payload
) -> tuple[int | None, int | None]:
    """Return TimeoutSeconds and HeartbeatSeconds."""
    timeout, heartbeat = state.timeout_seconds, state.heartbeat_seconds
    if state.timeout_seconds_path is not None:
        timeout = _seconds(transition, thread, given, state.timeout_seconds_path)
    if state.heartbeat_seconds_path is not None:
        heartbeat = _seconds(transition, thread, given, state.heartbeat_seconds_path)
    return (
        whole(transition, thread, timeout, "TimeoutSeconds", (1, MOST_SECONDS)),
        whole(transition, thread, heartbeat, "HeartbeatSeconds", (1, MOST_SECONDS)),
    )


def _seconds(transition: Transition, thread: Thread, given: Payload, path: Path) -> int:
    value = dataflow.read(transition, thread, path, given)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MOST_SECONDS:
        raise StateFailure(
            RUNTIME, f"The path {path.text} must lead to a positive integer but found {show(value)}"
        )
    return value


def _key(transition: Transition, thread: Thread) -> str:
    """Return the same key until an attempt of this entry has reported that it failed."""
    execution = transition.view.execution.id
    return key.of_task(execution, thread.entry, thread.retries.reported, thread.state)


def _role(transition: Transition, thread: Thread, state: Task, given: Payload) -> str | None:
    if state.credentials is None:
        return None
    credentials = dataflow.rendered(
        transition, thread, state.credentials, given, "Credentials"
    ).value
    role: Json = credentials.get("RoleArn") if isinstance(credentials, dict) else None
    return role if isinstance(role, str) else None


# ------------------------------------------------------------------------------------ outcomes


def _succeed(transition: Transition, thread: Thread, state: Task, event: TaskSucceeded) -> None:
    resource, task = state.resource, _task(thread)
    attempt.record_started(transition, thread, resource, task.claimed_by, event.started_at)
    result = event.result
    refused = _refused(transition, resource, result)
    if refused is not None:
        _answered(transition, thread, state, refused)
        return
    if resource.kind is Kind.LAMBDA_INVOKE and task.resource != served.MOCK:
        result = lambdas.invoked(result, task.key)
    if not answers.submit(transition, thread, state, result):
        _take(transition, thread, state, result)


def _answered(
    transition: Transition, thread: Thread, state: Task, outcome: Payload | Failure
) -> None:
    """Go on with what a task has ended with, once its beginning is recorded."""
    if isinstance(outcome, Failure):
        attempt.record_failed(transition, thread, state.resource, outcome)
        meet(transition, thread, Setback(outcome, reported=True))
        return
    refused = _refused(transition, state.resource, outcome)
    if refused is not None:
        _answered(transition, thread, state, refused)
    else:
        _take(transition, thread, state, outcome)


def _take(transition: Transition, thread: Thread, state: Task, result: Payload) -> None:
    failed = register.succeeded(transition, thread, state, result)
    attempt.record_succeeded(transition, thread, state.resource, result)
    if failed is not None:
        raise failed
    output, assigned = dataflow.finished(transition, thread, state, result)
    leave(transition, thread, state, output, state.next, assigned)


def _refused(transition: Transition, resource: Resource, result: Payload) -> Failure | None:
    """Return why a result is the task's failure, which can be caught: too large, or no JSON."""
    try:
        if result.fits(transition.limits):
            return None
    except DocumentError as error:
        return Failure(_worded(resource, INVALID_RESULT), str(error))
    name = resource.text
    if resource.kind in (Kind.LAMBDA_INVOKE, Kind.SERVICE):
        name = resource.resource_type
    return OutputTooLarge(name).failure


def _fail(transition: Transition, thread: Thread, state: Task, event: TaskFailed) -> None:
    resource, task = state.resource, _task(thread)
    attempt.record_started(transition, thread, resource, task.claimed_by, event.started_at)
    error, cause = _worded(resource, event.error), event.cause
    if error is not None and _is_lambda(resource) and task.resource != served.MOCK:
        cause = lambdas.cause_of(error, cause, task.key)
    if task.resource == served.MOCK:
        answers.submit_mocked(transition, thread, state)
    failure = bounded(error, cause, transition.limits)
    attempt.record_failed(transition, thread, resource, failure)
    meet(transition, thread, Setback(failure, reported=True))


def _lose(transition: Transition, thread: Thread, state: Task) -> None:
    resource, task = state.resource, _task(thread)
    attempt.record_started(transition, thread, resource, task.claimed_by, transition.now)
    why = lost(task.deliveries, at_most_once=task.at_most_once)
    answers.abandon(transition, thread, state)
    failure = Failure(_worded(resource, why.error), why.cause)
    attempt.record_failed(transition, thread, resource, failure)
    setback = Setback(failure, unknown=task.at_most_once, silent=True)
    meet(transition, thread, replace(setback, reported=answers.may_have_a_child(thread, state)))


def _out_of_time(transition: Transition, thread: Thread, state: Task) -> None:
    """Fail at a limit; a child execution is stopped, and in a saga waited for: it undoes itself."""
    task, limit = _task(thread), thread.timeout_at
    answers.abandon(transition, thread, state)
    has_child = answers.may_have_a_child(thread, state)
    setback = Setback(
        Failure(TIMEOUT),
        unknown=task.at_most_once,
        heartbeat=limit is None or limit > transition.now,
        silent=task.deliveries > 0,
        reported=has_child,  # the next attempt starts another
    )
    if has_child and transition.machine.undoes:
        thread.outwait(Pause(replace(setback, silent=False)))
    else:
        _time_out(transition, thread, state, setback)


def _time_out(transition: Transition, thread: Thread, state: Task, setback: Setback) -> None:
    task = _task(thread)
    if task.deliveries > 0 and thread.rests_on is RestsOn.TASK:
        attempt.record_started(transition, thread, state.resource, task.claimed_by, transition.now)
    attempt.record_timed_out(transition, thread, state.resource)
    meet(transition, thread, setback)


def _task(thread: Thread) -> frame.Task:
    if thread.task is None:
        raise ValueError("the frame rests on no task")
    return thread.task


def _is_lambda(resource: Resource) -> bool:
    return resource.kind in (Kind.LAMBDA_ARN, Kind.LAMBDA_INVOKE)


def _worded(resource: Resource, error: str | None) -> str | None:
    if error is None or not _is_lambda(resource):
        return error
    return _OF_LAMBDA.get(error, error)
