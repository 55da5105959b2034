"""Frames that are cancelled while a handler runs for them: what it reports still counts."""

from __future__ import annotations

from orchestrator.asl.states import Task
from orchestrator.execution import register
from orchestrator.execution.compensating import record_succeeded, setback_of
from orchestrator.execution.compensation import Compensation, CompensationStatus
from orchestrator.execution.events import ChildEnded, Event, TaskFailed, TaskSucceeded
from orchestrator.execution.frame import Pause, RestsOn, is_undo, lineage
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition
from orchestrator.execution.undoing import advance, note_of


def hear(transition: Transition, thread: Thread, event: Event) -> None:
    """Take in what the handler of a cancelled frame reports, or that it will never report."""
    note = note_of(thread)
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
    return isinstance(state, Task) and state.resource.waits_for_execution


def _wake(transition: Transition, undo_id: str) -> None:
    """Let the frame go on that has waited for a cancelled one; it may be gone itself by now."""
    transition.tree.require_frames(lineage(undo_id))
    if transition.tree.knows(undo_id):
        undo = transition.tree.thread(undo_id)
        if undo.rests_on is RestsOn.UNDOING:
            advance(transition, undo)


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
        record_succeeded(transition, thread, event)
        transition.pending.mark(doubtful.number, CompensationStatus.DONE)
        return
    setback = setback_of(transition, thread, event)
    blocked = setback.unknown
    status = CompensationStatus.BLOCKED if blocked else CompensationStatus.PENDING
    transition.pending.mark(doubtful.number, status)
