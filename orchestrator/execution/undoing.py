"""Undoing: frames that undo what a frame has done, newest first, in forks that mirror its own.

Such a frame runs one compensation after the other. Where it comes to what a fork has done it opens
one itself, with a child for each child of that fork that has something to undo. When nothing is
left, the frame that rests on it goes on.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from orchestrator.execution.compensation import (
    Compensation,
    CompensationStatus,
    Stretch,
    Terms,
    fork_below,
    subtree,
    terms_of,
)
from orchestrator.execution.frame import (
    Fork,
    FrameStatus,
    Pause,
    Retries,
    Task,
    UndoNote,
    parent_id,
    undone_by,
)
from orchestrator.execution.history import Detail
from orchestrator.execution.payload import Payload
from orchestrator.execution.setback import Setback
from orchestrator.execution.thread import Tally, Thread
from orchestrator.execution.transition import Transition, Undone

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
    advance(transition, undo)


def advance(transition: Transition, undo: Thread, before: tuple[int, int] | None = None) -> None:
    """Come to the newest that is left to undo; `before`: everything newer is undone."""
    note = note_of(undo)
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
        floor=note_of(undo).floor,
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
    terms = terms_for(transition, undo)
    details = {**named(transition, undo), "parameters": found.arguments}
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


def go_on(transition: Transition, undo: Thread) -> None:
    """Try the compensation once more at which a frame stands."""
    found = transition.pending.one(note_of(undo).number)
    if found is None:
        raise ValueError(f"nothing is known of what {undo.id} undoes")
    undo.status = FrameStatus.RESTING
    _schedule(transition, undo, found)


def terms_for(transition: Transition, undo: Thread) -> Terms:
    """Return how the compensation is run at which a frame stands."""
    note = note_of(undo)
    if note.terms is not None:
        return note.terms
    return terms_of(transition.machine.effect(note.pointer))


def named(transition: Transition, undo: Thread) -> dict[str, Detail]:
    """Return how the history names the compensation at which a frame stands."""
    terms = terms_for(transition, undo)
    return {
        "name": undo.state or "",
        "resourceType": terms.resource_type,
        "resource": terms.resource_action,
        "undoes": note_of(undo).event,
    }


def note_of(undo: Thread) -> UndoNote:
    """Return what a frame undoes."""
    if undo.undo is None:
        raise ValueError(f"the frame {undo.id} undoes nothing")
    return undo.undo


# ------------------------------------------------------------------------------------- forks


def _open(transition: Transition, undo: Thread, found: Compensation) -> None:
    """Undo what the children of a fork have done, side by side, the last of them first."""
    scope = note_of(undo).scope
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
    advance(transition, child)


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
    advance(transition, parent)
