"""Undoing: frames that undo what a frame has done, newest first, in forks that mirror its own.

Such a frame runs one compensation after the other. Where it comes to what a fork has done it opens
one itself, with a child for each child of that fork that has something to undo. When nothing is
left, the frame that rests on it goes on.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from orchestrator.asl.errors import TIMEOUT, Failure
from orchestrator.asl.states import Task as TaskState
from orchestrator.execution import attempt, register, retrying
from orchestrator.execution.compensation import (
    Compensation,
    CompensationStatus,
    Stretch,
    Terms,
    fork_below,
    subtree,
    terms_of,
)
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
from orchestrator.execution.frame import (
    Fork,
    FrameStatus,
    Pause,
    RestsOn,
    Retries,
    Task,
    UndoNote,
    is_undo,
    lineage,
    parent_id,
    undone_by,
)
from orchestrator.execution.history import Detail
from orchestrator.execution.payload import Payload
from orchestrator.execution.setback import Setback, bounded
from orchestrator.execution.thread import Tally, Thread
from orchestrator.execution.transition import Transition, Undone

DELIVERIES_SPENT = "Task.DeliveriesSpent"
WORKER_LOST = "Task.WorkerLost"
MOST_AT_ONCE = 500
"""Children of a fork without a MaxConcurrency that are undone side by side."""
_NOTHING = Payload.of(None)


def wanted(transition: Transition, scope: str, floor: int) -> bool:
    """Tell whether a frame has done something from an event on that can be undone."""
    if not transition.machine.undoes:
        return False
    return transition.pending.newest(subtree(scope, floor)) is not None


def start(transition: Transition, thread: Thread, floor: int, setback: Setback | None) -> None:
    """Undo what a frame has done from an event on: it rests until that is over."""
    undo = Thread(f"{thread.id}~{transition.next_event_id}", _NOTHING)
    undo.undo = UndoNote(thread.id, floor)
    undo.state, undo.status = thread.state, FrameStatus.RESTING
    undo.last_event = thread.last_event
    transition.tree.create(undo)
    if thread.status is not FrameStatus.CANCELLED:
        thread.rest_on_undoing(Pause(setback))
    transition.outcome.undoes()
    _advance(transition, undo)


def _advance(transition: Transition, undo: Thread, before: tuple[int, int] | None = None) -> None:
    """Come to the newest that is left to undo; `before`: everything newer is undone."""
    note = _note(undo)
    found = transition.pending.newest(subtree(note.scope, note.floor), before)
    if found is None:
        _finish(transition, undo)
    elif found.scope != note.scope:
        _open(transition, undo, found)
    else:
        _come_to(transition, undo, found)


def _come_to(transition: Transition, undo: Thread, found: Compensation) -> None:
    undo.state, undo.retries = found.state, Retries()
    undo.undo = UndoNote(
        scope=found.scope,
        floor=_note(undo).floor,
        event=found.event,
        place=found.place,
        pointer=found.pointer,
        undoes=found.undoes,
        terms=found.terms,
    )
    match found.status:
        case CompensationStatus.DOUBTFUL:
            transition.pending.put(replace(found, by=undo.id))
            undo.rest_on_undoing(None)
        case CompensationStatus.BLOCKED:
            undo.block()
        case _:
            _schedule(transition, undo, found)


def _schedule(transition: Transition, undo: Thread, found: Compensation) -> None:
    """Have the next attempt of a compensation made."""
    terms = _terms(transition, undo)
    details: dict[str, Detail] = {
        "name": found.state,
        "resourceType": terms.resource_type,
        "resource": terms.resource_action,
        "undoes": found.event,
        "parameters": found.arguments,
    }
    undo.entry = undo.last_event = transition.record(
        "CompensationScheduled", undo.last_event, details
    )
    undo.entered_at = transition.now
    seconds = terms.timeout_seconds
    limit = None if seconds is None else transition.now + timedelta(seconds=seconds)
    task = Task(
        resource=found.resource,
        token=transition.token(),
        attempt=undo.retries.total + 1,
        key=found.key,
        arguments=found.arguments,
        ready_at=transition.now,
        heartbeat_seconds=terms.heartbeat_seconds,
    )
    undo.rest_on_task(task, limit)
    transition.pending.mark(found.number, CompensationStatus.RUNNING)


def _terms(transition: Transition, undo: Thread) -> Terms:
    note = _note(undo)
    if note.terms is not None:
        return note.terms
    return terms_of(transition.machine.effect(note.pointer))


# ------------------------------------------------------------------------------------- forks


def _open(transition: Transition, undo: Thread, found: Compensation) -> None:
    """Undo what the children of a fork have done, side by side, the last of them first."""
    scope = _note(undo).scope
    entry, _ = fork_below(scope, found.scope)
    prefix = f"{scope}/{entry}."
    every = transition.pending.every(Stretch(prefix, f"{prefix}:"))
    indices = {fork_below(scope, one.scope)[1] for one in every}
    fork = Fork(
        frame=undo.id,
        entry=entry,
        total=len(indices),
        admitted=0,
        max_concurrency=found.widths[scope.count("/")] or MOST_AT_ONCE,
    )
    children = []
    for number, index in enumerate(sorted(indices, reverse=True)):
        child = Thread(f"{fork.prefix}{number}", _NOTHING)
        child.undo = UndoNote(f"{prefix}{index}")
        children.append(child)
    tally = transition.tree.open_undoing(fork, children)
    undo.rest_on_children(entry)
    for _ in range(min(fork.total, fork.max_concurrency)):
        _begin(transition, tally, undo.last_event)


def _begin(transition: Transition, tally: Tally, previous: int) -> None:
    child = transition.tree.next_child(tally)
    tally.admitted += 1
    tally.changed = True
    child.status = FrameStatus.RESTING
    child.last_event = previous
    _advance(transition, child)


def _finish(transition: Transition, undo: Thread) -> None:
    """End a frame that has nothing left to undo."""
    undo.succeed(_NOTHING)
    owner = undone_by(undo.id)
    if "/" in undo.id[len(owner) :]:
        _settle(transition, undo)
        return
    undo.vanish()
    transition.agenda.append(Undone(owner))


def _settle(transition: Transition, child: Thread) -> None:
    tally = transition.tree.tally(parent_id(child.id))
    tally.changed = True
    tally.succeeded += 1
    if not tally.fresh:
        tally.threads.append(child)
    if not tally.complete:
        if tally.admits:
            _begin(transition, tally, child.last_event)
        return
    parent = transition.tree.thread(tally.fork.frame)
    transition.tree.close_fork(tally, 0)
    parent.last_event = child.last_event
    parent.changed, parent.fork = True, None
    _advance(transition, parent)


# ----------------------------------------------------------------------------------- reports


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
            _go_on(transition, undo)
        case CompensationSkipped():
            _skip(transition, undo)
        case MomentDue() if undo.rests_on is RestsOn.CLOCK:
            _go_on(transition, undo)
        case _:
            _meet(transition, undo, _setback(transition, undo, event))


def _go_on(transition: Transition, undo: Thread) -> None:
    found = transition.pending.one(_note(undo).number)
    if found is None:
        raise ValueError(f"nothing is known of what {undo.id} undoes")
    undo.status = FrameStatus.RESTING
    _schedule(transition, undo, found)


def _succeed(transition: Transition, undo: Thread, event: TaskSucceeded) -> None:
    _record_started(transition, undo, event)
    details: dict[str, Detail] = {**_named(transition, undo), "output": event.result}
    undo.last_event = transition.record("CompensationSucceeded", undo.last_event, details)
    _is_over(transition, undo, CompensationStatus.DONE)


def _skip(transition: Transition, undo: Thread) -> None:
    details = _named(transition, undo)
    undo.last_event = transition.record("CompensationSkipped", undo.last_event, details)
    undo.status = FrameStatus.RESTING
    _is_over(transition, undo, CompensationStatus.SKIPPED)


def _is_over(transition: Transition, undo: Thread, status: CompensationStatus) -> None:
    note = _note(undo)
    transition.pending.mark(note.number, status)
    _advance(transition, undo, (note.event, note.place))


def _setback(transition: Transition, undo: Thread, event: Event) -> Setback:
    """Record how an attempt has failed."""
    task = _task(undo)
    unknown, heartbeat = False, False
    match event:
        case TaskFailed():
            failure = bounded(event.error, event.cause, transition.limits)
        case TaskLost() if task.at_most_once:
            cause = "The worker was lost; the compensation may or may not have run."
            failure, unknown = Failure(WORKER_LOST, cause), True
        case TaskLost():
            cause = f"The compensation was lost {task.deliveries} times."
            failure = Failure(DELIVERIES_SPENT, cause)
        case _:
            failure, unknown = Failure(TIMEOUT), task.at_most_once
            heartbeat = undo.timeout_at is None or undo.timeout_at > transition.now
    _record_started(transition, undo, event)
    details = _named(transition, undo)
    if failure.error is not None:
        details["error"] = failure.error
    if failure.cause is not None:
        details["cause"] = failure.cause
    undo.last_event = transition.record("CompensationFailed", undo.last_event, details)
    return Setback(failure, unknown=unknown, heartbeat=heartbeat)


def _meet(transition: Transition, undo: Thread, setback: Setback) -> None:
    """Try again after a pause if a Retrier says so; else it is an operator's."""
    failure = setback.failure
    note = undo.undo = replace(_note(undo), error=failure.error, cause=failure.cause)
    retriers = _terms(transition, undo).retry
    place = retrying.place_of(undo, retriers, setback)
    if place is None:
        undo.block()
        transition.pending.mark(note.number, CompensationStatus.BLOCKED)
    else:
        retrying.retry(transition, undo, retriers, setback, place)


def _named(transition: Transition, undo: Thread) -> dict[str, Detail]:
    terms = _terms(transition, undo)
    return {
        "name": undo.state or "",
        "resourceType": terms.resource_type,
        "resource": terms.resource_action,
        "undoes": _note(undo).event,
    }


def _record_started(transition: Transition, undo: Thread, event: Event) -> None:
    task = _task(undo)
    if not task.deliveries:
        return
    started = event.started_at if isinstance(event, TaskSucceeded | TaskFailed) else transition.now
    at = attempt.moment(transition, started)
    details = _named(transition, undo)
    undo.last_event = transition.record("CompensationStarted", undo.last_event, details, at)


# --------------------------------------------------------------------------------- cancelled


def hear(transition: Transition, thread: Thread, event: Event) -> None:
    """Take in what the handler of a cancelled frame reports, or that it will never report."""
    note = _note(thread)
    if isinstance(event, TaskSucceeded) and _started_a_child(transition, thread):
        thread.rest_on_answer(RestsOn.EXECUTION, None)  # it is to be stopped, and to undo itself
        return
    doubtful = transition.pending.one(note.number)
    if doubtful is not None and doubtful.is_open:
        if is_undo(thread.id):
            _hear_of_undoing(transition, thread, doubtful, event)
        else:
            _hear_of_work(transition, thread, doubtful, event)
    if thread.id:
        thread.vanish()
    else:
        thread.undo = None
        thread.rest_on_undoing(Pause())
    if doubtful is not None and doubtful.by is not None:
        _wake(transition, doubtful.by)


def _started_a_child(transition: Transition, thread: Thread) -> bool:
    if is_undo(thread.id):
        return False
    state = transition.state_of(thread)
    return isinstance(state, TaskState) and state.resource.waits_for_execution


def _wake(transition: Transition, undo_id: str) -> None:
    """Let the frame go on that has waited for a cancelled one; it may be gone itself by now."""
    transition.tree.require_frames(lineage(undo_id))
    if transition.tree.knows(undo_id):
        undo = transition.tree.thread(undo_id)
        if undo.rests_on is RestsOn.UNDOING:
            _advance(transition, undo)


def _hear_of_work(
    transition: Transition, thread: Thread, doubtful: Compensation, event: Event
) -> None:
    match event:
        case TaskSucceeded():
            register.heard(transition, thread, doubtful, event.result)
        case TaskFailed():
            transition.pending.mark(doubtful.number, CompensationStatus.VOID)
        case ChildEnded():
            register.heard_of_child(transition, thread, doubtful, event)
        case _:
            register.heard(transition, thread, doubtful, None)


def _hear_of_undoing(
    transition: Transition, thread: Thread, doubtful: Compensation, event: Event
) -> None:
    if isinstance(event, TaskSucceeded):
        _record_started(transition, thread, event)
        details: dict[str, Detail] = {**_named(transition, thread), "output": event.result}
        transition.record("CompensationSucceeded", thread.last_event, details)
        transition.pending.mark(doubtful.number, CompensationStatus.DONE)
        return
    setback = _setback(transition, thread, event)
    blocked = setback.unknown
    status = CompensationStatus.BLOCKED if blocked else CompensationStatus.PENDING
    transition.pending.mark(doubtful.number, status)


def _note(undo: Thread) -> UndoNote:
    if undo.undo is None:
        raise ValueError(f"the frame {undo.id} undoes nothing")
    return undo.undo


def _task(undo: Thread) -> Task:
    if undo.task is None:
        raise ValueError(f"the frame {undo.id} has no task")
    return undo.task
