"""What happens next: the one place where an execution's state and an event become a decision.

Rules of ignorance: no input or output, no clock, no randomness, no log. The same arguments give
the same decision.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from orchestrator.asl.limits import DEFAULT, Limits
from orchestrator.asl.machine import Machine
from orchestrator.execution import calling, cancellation, compensating, effect, ending
from orchestrator.execution.call import UNDOING
from orchestrator.execution.conclusion import conclude
from orchestrator.execution.decision import (
    NOTHING_AROUND,
    Around,
    Decision,
    Missing,
    Stale,
    View,
)
from orchestrator.execution.evaluate import Evaluate, evaluate_here
from orchestrator.execution.events import (
    CallArrived,
    CallbackFailed,
    CallbackSucceeded,
    ChildEnded,
    CompensationRetried,
    CompensationSkipped,
    DeadlinePassed,
    EffectRetried,
    Event,
    MomentDue,
    StopRequested,
    TaskFailed,
    TaskLost,
    TaskSucceeded,
    frame_of,
)
from orchestrator.execution.follow import admit_more, fire, follow, go_on, report
from orchestrator.execution.frame import (
    Execution,
    Frame,
    FrameStatus,
    Phase,
    RestsOn,
    Scope,
    is_effect,
    is_undo,
)
from orchestrator.execution.needs import NeedsMore
from orchestrator.execution.payload import Payload
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import HistoryFull, Transition


def begin(  # noqa: PLR0913  # all that a beginning depends on
    machine: Machine,
    execution: Execution,
    scope: Scope,
    given: Payload,
    now: datetime,
    bits: bytes,
    limits: Limits = DEFAULT,
    evaluate: Evaluate = evaluate_here,
    *,
    around: Around = NOTHING_AROUND,
) -> Decision:
    """Decide how a new execution begins: its first states, until everything rests.

    Raises NeedsMore if it depends on something around it of which nothing is told.
    """
    execution = replace(execution, deadline_at=_deadline(machine, execution))
    view = View(execution, scope, frames={}, forks={}, input=given, around=around)
    transition = Transition(machine, view, now, bits, limits, evaluate)
    root = Thread("", given)
    transition.tree.create(root)
    try:
        transition.record(
            "ExecutionStarted",
            0,
            {"input": given, "roleArn": scope.role_arn},
            execution.started_at,
        )
        root.go(machine.start_at, given)
        transition.agenda.append(root)
        follow(transition)
    except HistoryFull:
        transition.overflow(root.state)
    return replace(conclude(transition), input=given)


EXPRESS_SECONDS = 300
"""How long an execution of an EXPRESS machine may take."""


def _deadline(machine: Machine, execution: Execution) -> datetime | None:
    seconds = machine.timeout_seconds
    if execution.is_express:
        seconds = min(seconds or EXPRESS_SECONDS, EXPRESS_SECONDS)
    return None if seconds is None else execution.started_at + timedelta(seconds=seconds)


def decide(
    machine: Machine,
    view: View,
    event: Event,
    now: datetime,
    bits: bytes,
    limits: Limits = DEFAULT,
    evaluate: Evaluate = evaluate_here,
) -> Decision | Missing | Stale:
    """Decide what an event changes: nothing if it answers what is no longer asked."""
    stale = _stale(view, event, max(now, view.execution.last_event_at))
    if stale is not None:
        return Stale(stale)
    transition = Transition(machine, view, now, bits, limits, evaluate)
    try:
        decision = _follow(transition, event)
        if decision is not None:
            return decision
        calling.close(transition)
    except NeedsMore as needs:
        return needs.missing
    return conclude(transition)


def _follow(transition: Transition, event: Event) -> Decision | None:
    """Do what an event asks for and go on from there; a call may be decided without that."""
    try:
        if isinstance(event, CallArrived):
            decision = calling.arrive(transition, event.call)
            if decision is not None:
                return decision
        elif is_effect(frame_of(event)):
            effect.take(transition, event)
        elif _is_of_a_cancelled(transition.view, event):
            cancellation.hear(transition, transition.tree.thread(frame_of(event)), event)
        elif is_undo(frame_of(event)):
            compensating.take(transition, event)
        else:
            _react(transition, event)
        follow(transition)
    except HistoryFull:
        _overflow(transition, event)
    return None


def _overflow(transition: Transition, event: Event) -> None:
    """End an execution whose history is full; what a handler has reported still counts."""
    failure = transition.fullness
    if not transition.machine.undoes:
        transition.overflow(_root_state(transition.view))
        return
    transition.agenda.clear()
    ending.overflow(transition, failure)
    if frame_of(event) and transition.tree.knows(frame_of(event)):
        thread = transition.tree.thread(frame_of(event))
        if thread.status is FrameStatus.CANCELLED:
            cancellation.hear(transition, thread, event)
    follow(transition)


def _is_of_a_cancelled(view: View, event: Event) -> bool:
    """Tell whether an event is of a frame that is cancelled and whose handler is waited for."""
    if isinstance(event, DeadlinePassed | StopRequested | CallArrived):
        return False
    frame = view.frames.get(frame_of(event))
    return frame is not None and frame.status is FrameStatus.CANCELLED


def _react(transition: Transition, event: Event) -> None:
    match event:
        case CallArrived() | EffectRetried() | CompensationRetried() | CompensationSkipped():
            pass  # none is the tree's
        case TaskSucceeded() | TaskFailed() | TaskLost():
            report(transition, transition.tree.thread(event.frame), event)
        case CallbackSucceeded() | CallbackFailed() | ChildEnded():
            report(transition, transition.tree.thread(event.frame), event)
        case MomentDue():
            _wake(transition, event)
        case DeadlinePassed():
            ending.time_out(transition)
        case StopRequested():
            ending.stop(transition, event)


def _wake(transition: Transition, event: MomentDue) -> None:
    thread = transition.tree.thread(event.frame)
    match thread.rests_on:
        case RestsOn.TASK | RestsOn.CALLBACK | RestsOn.EXECUTION:
            report(transition, thread, event)
        case RestsOn.CHILDREN:
            admit_more(transition, thread)
        case RestsOn.CALL:
            fire(transition, thread)
        case RestsOn.UNDOING:
            pass  # it has no moments
        case RestsOn.CLOCK | None:
            go_on(transition, thread)


def _root_state(view: View) -> str | None:
    root = view.frames.get("")
    return None if root is None else root.state


# ------------------------------------------------------------------------------------- staleness


def _stale(view: View, event: Event, now: datetime) -> str | None:
    """Return why an event is stale, None if it answers what is asked."""
    if view.execution.ended_at is not None and not _outlives(event):
        return "the execution has ended"
    match event:
        case CallArrived():
            return None
        case EffectRetried():
            return None if _has_failed(view, event.frame) else "the effect has not failed for good"
        case CompensationRetried() | CompensationSkipped():
            blocked = _is_blocked(view.frames.get(event.frame), event)
            return None if blocked else "the compensation has not failed for good"
        case StopRequested():
            return None if event.abort else _undoing(view)
        case DeadlinePassed():
            return _undoing(view) or _stale_deadline(view, event, now)
        case MomentDue():
            return _stale_moment(view.frames.get(event.frame), event, now)
        case TaskSucceeded() | TaskFailed() | TaskLost():
            return _stale_report(view.frames.get(event.frame), event)
        case CallbackSucceeded() | CallbackFailed() | ChildEnded():
            return _stale_answer(view.frames.get(event.frame), event.token)


def _undoing(view: View) -> str | None:
    return UNDOING if view.execution.phase is Phase.UNDOING else None


def _stale_deadline(view: View, event: DeadlinePassed, now: datetime) -> str | None:
    if event.deadline_at != view.execution.deadline_at:
        return "the deadline is another"
    return None if event.deadline_at <= now else "the deadline has not come"


def _is_blocked(frame: Frame | None, event: CompensationRetried | CompensationSkipped) -> bool:
    """Tell whether a frame stands at the compensation named, and not at a later one by now."""
    if frame is None or frame.undo is None or frame.status is not FrameStatus.FAILED:
        return False
    return (frame.undo.event, frame.undo.place) == (event.event, event.place)


def _has_failed(view: View, frame_id: str) -> bool:
    frame = view.frames.get(frame_id)
    return frame is not None and frame.status is FrameStatus.FAILED


def _outlives(event: Event) -> bool:
    """Tell whether an event may concern an execution that has ended: calls and effects do."""
    return isinstance(event, CallArrived) or is_effect(frame_of(event))


def _stale_moment(frame: Frame | None, event: MomentDue, now: datetime) -> str | None:
    if frame is None:
        return "the frame is gone"
    if frame.entry != event.entry or frame.wake_at != event.wake_at:
        return "the frame rests on something else"
    return None if event.wake_at <= now else "the moment has not come"


def _stale_report(frame: Frame | None, event: TaskSucceeded | TaskFailed | TaskLost) -> str | None:
    if frame is None:
        return "the frame is gone"
    task = frame.task
    if task is None or task.token != event.token:
        return "the attempt is over"
    if frame.rests_on is not RestsOn.TASK:
        return "its handler has reported already"
    if task.deliveries != event.delivery:
        return "the delivery is over"
    if not isinstance(event, TaskLost) and task.claimed_by != event.claimed_by:
        return "the claim is another's"
    return None


def _stale_answer(frame: Frame | None, token: str) -> str | None:
    if frame is None:
        return "the frame is gone"
    if frame.task is None or frame.task.token != token:
        return "the attempt is over"
    return None
