"""Attempts at compensations: what became of them, and whether they are made again."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.asl.errors import TIMEOUT, Failure
from orchestrator.execution import attempt, retrying
from orchestrator.execution.compensation import CompensationStatus
from orchestrator.execution.events import (
    CallbackFailed,
    CallbackSucceeded,
    ChildEnded,
    CompensationRetried,
    CompensationSkipped,
    Event,
    MomentDue,
    TaskFailed,
    TaskLost,
    TaskSucceeded,
)
from orchestrator.execution.frame import FrameStatus, RestsOn, Retries, Task
from orchestrator.execution.history import Detail, failed_with
from orchestrator.execution.setback import Setback, bounded, lost
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition
from orchestrator.execution.undoing import advance, go_on, named, note_of, terms_for


def take(transition: Transition, event: Event) -> None:
    """Go on with a frame that undoes, as an event says."""
    match event:
        case TaskSucceeded() | TaskFailed() | TaskLost() | MomentDue():
            pass
        case CallbackSucceeded() | CallbackFailed() | ChildEnded():
            pass
        case CompensationRetried() | CompensationSkipped():
            pass
        case _:
            raise TypeError(f"nothing undoes at {type(event).__name__}")
    undo = transition.tree.thread(event.frame)
    match event:
        case TaskSucceeded():
            _succeed(transition, undo, event)
        case CompensationRetried():
            undo.retries = Retries()
            go_on(transition, undo)
        case CompensationSkipped():
            _skip(transition, undo)
        case MomentDue() if undo.rests_on is RestsOn.CLOCK:
            go_on(transition, undo)
        case _:
            _meet(transition, undo, setback_of(transition, undo, event))


def _succeed(transition: Transition, undo: Thread, event: TaskSucceeded) -> None:
    record_succeeded(transition, undo, event)
    _is_over(transition, undo, CompensationStatus.DONE)


def _skip(transition: Transition, undo: Thread) -> None:
    details = named(transition, undo)
    undo.last_event = transition.record("CompensationSkipped", undo.last_event, details)
    undo.status = FrameStatus.RESTING
    _is_over(transition, undo, CompensationStatus.SKIPPED)


def _is_over(transition: Transition, undo: Thread, status: CompensationStatus) -> None:
    note = note_of(undo)
    transition.pending.mark(note.number, status)
    advance(transition, undo, (note.event, note.place))


def record_succeeded(transition: Transition, undo: Thread, event: TaskSucceeded) -> None:
    """Record that an attempt has succeeded."""
    _record_started(transition, undo, event)
    details: dict[str, Detail] = {**named(transition, undo), "output": event.result}
    undo.last_event = transition.record("CompensationSucceeded", undo.last_event, details)


def setback_of(transition: Transition, undo: Thread, event: Event) -> Setback:
    """Record how an attempt has failed."""
    task = _task(undo)
    unknown, heartbeat = False, False
    match event:
        case TaskFailed():
            failure = bounded(event.error, event.cause, transition.limits)
        case TaskLost():
            unknown = task.at_most_once
            failure = lost(task.deliveries, at_most_once=unknown, work="compensation")
        case _:
            failure, unknown = Failure(TIMEOUT), task.at_most_once
            heartbeat = undo.timeout_at is None or undo.timeout_at > transition.now
    _record_started(transition, undo, event)
    details = {**named(transition, undo), **failed_with(failure)}
    undo.last_event = transition.record("CompensationFailed", undo.last_event, details)
    return Setback(failure, unknown=unknown, heartbeat=heartbeat)


def _meet(transition: Transition, undo: Thread, setback: Setback) -> None:
    """Try again after a pause if a Retrier says so; else it is an operator's."""
    failure = setback.failure
    note = undo.undo = replace(note_of(undo), error=failure.error, cause=failure.cause)
    retriers = terms_for(transition, undo).retry
    place = retrying.place_of(undo.retries, retriers, setback)
    if place is None:
        undo.block()
        transition.pending.mark(note.number, CompensationStatus.BLOCKED)
    else:
        retrying.retry(transition, undo, retriers, setback, place)


def _record_started(transition: Transition, undo: Thread, event: Event) -> None:
    task = _task(undo)
    if not task.deliveries:
        return
    started = event.started_at if isinstance(event, TaskSucceeded | TaskFailed) else transition.now
    at = attempt.moment(transition, started)
    details = {**named(transition, undo), **attempt.worker(task.claimed_by)}
    undo.last_event = transition.record("CompensationStarted", undo.last_event, details, at)


def _task(undo: Thread) -> Task:
    if undo.task is None:
        raise ValueError(f"the frame {undo.id} has no task")
    return undo.task
