"""Forks: how the children of a Parallel or Map begin, end, and are joined or cancelled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from orchestrator.asl.errors import (
    EXCEED_TOLERATED_FAILURE_THRESHOLD,
    RUNTIME,
    Failure,
    StateFailure,
)
from orchestrator.asl.states import Await, Map, Parallel, State, Task, Wait
from orchestrator.execution import effect, register
from orchestrator.execution.failure import as_output, meet
from orchestrator.execution.frame import (
    Fork,
    Frame,
    FrameStatus,
    RestsOn,
    is_undo,
    parent_id,
    undone_by,
)
from orchestrator.execution.history import Detail
from orchestrator.execution.payload import Payload
from orchestrator.execution.setback import Setback
from orchestrator.execution.thread import Tally, Thread
from orchestrator.execution.transition import Admission, Transition

Again: TypeAlias = Callable[[range], "tuple[Sequence[Payload], Sequence[Payload] | None]"]

ADMITTED_AT_ONCE = 500
"""Children that begin in one decision at most, unless others make room for them."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a Map says about its fork; a Parallel has these defaults."""

    max_concurrency: int = 0
    """0: no limit."""
    tolerated_count: int | None = None
    tolerated_percentage: float | None = None


def open_fork(
    transition: Transition,
    thread: Thread,
    state: Parallel | Map,
    inputs: Sequence[Payload],
    items: Sequence[Payload] | None,
    terms: Terms,
) -> None:
    """Open a fork with one child per input; `items` are those of a Map's iterations."""
    _check_limits(transition, thread, len(inputs))
    details: dict[str, Detail] = {"length": len(inputs)} if isinstance(state, Map) else {}
    entry = transition.record(f"{type(state).__name__}StateStarted", thread.last_event, details)
    thread.last_event = entry
    total = len(inputs)
    fork = Fork(
        frame=thread.id,
        entry=entry,
        total=total,
        admitted=0,
        max_concurrency=terms.max_concurrency,
        tolerated_count=_tolerated_count(terms, total),
        tolerated_percentage=100.0
        if terms.tolerated_percentage is None
        else float(terms.tolerated_percentage),
    )
    tally = transition.tree.open_fork(fork, _children(fork, inputs, items, 0))
    thread.rest_on_children(entry)
    if total == 0:
        _join(transition, thread, tally)
    else:
        transition.agenda.append(Admission(thread, tally, ADMITTED_AT_ONCE))


def _children(
    fork: Fork, inputs: Iterable[Payload], items: Sequence[Payload] | None, first: int
) -> Iterator[Thread]:
    for number, given in enumerate(inputs):
        item = None if items is None else items[number]
        yield Thread(f"{fork.prefix}{first + number}", given, item=item)


def _tolerated_count(terms: Terms, total: int) -> int:
    if terms.tolerated_count is not None:
        return terms.tolerated_count
    return 0 if terms.tolerated_percentage is None else total


def _check_limits(transition: Transition, thread: Thread, children: int) -> None:
    limits = transition.limits
    if children > limits.children:
        raise StateFailure(RUNTIME, f"A fork of {children} is over the limit of {limits.children}.")
    if thread.id.count("/") >= limits.nesting:
        raise StateFailure(RUNTIME, f"Forks are nested more than {limits.nesting} deep.")
    if transition.tree.size + children > limits.frames:
        raise StateFailure(RUNTIME, f"The execution has more than {limits.frames} frames.")


# ------------------------------------------------------------------------------------ admission


def go_on(transition: Transition, thread: Thread, again: Again) -> None:
    """Let the next children of a large fork begin: the moment that its frame has set has come.

    `again` makes the inputs and items of some children as they were made when the fork opened.
    """
    thread.wake(None)
    tally = transition.tree.tally(thread.id)
    fork = tally.fork
    if fork.max_concurrency:
        room = min(fork.total - tally.admitted, fork.max_concurrency - tally.open)
        transition.tree.require_children(tally, min(room, ADMITTED_AT_ONCE))
    else:
        first = tally.admitted
        inputs, items = again(range(first, min(fork.total, first + ADMITTED_AT_ONCE)))
        tally.coming = _children(fork, inputs, items, first)
    transition.agenda.append(Admission(thread, tally, ADMITTED_AT_ONCE))


def admit(transition: Transition, admission: Admission) -> None:
    """Let one child begin and come back for the next, or have the frame woken for the rest."""
    tally, parent = admission.tally, admission.parent
    if tally.closed or parent.gone:
        return
    if admission.left and tally.admits and not transition.spent:
        admission.left -= 1
        transition.agenda.append(admission)
        _begin(transition, tally, tally.fork.entry)
    else:
        parent.wake(transition.now if tally.admits else None)


def _begin(transition: Transition, tally: Tally, previous: int) -> None:
    state = transition.fork_state(tally)
    child = transition.tree.next_child(tally)
    tally.admitted += 1
    tally.changed = True
    if isinstance(state, Map):
        child.last_event = _record_iteration(transition, state, child, "Started", previous)
        branch = state.processor
    else:
        child.last_event = previous
        branch = state.branches[child.index]
    child.go(branch.start_at, child.input)
    transition.agenda.append(child)


def _record_iteration(
    transition: Transition, state: Map, child: Thread | Frame, what: str, previous: int
) -> int:
    return transition.record(
        f"MapIteration{what}", previous, {"name": state.name, "index": child.index}
    )


# ------------------------------------------------------------------------------------ endings


def settle(transition: Transition, child: Thread) -> None:
    """Count a child that has ended; join the fork, or cancel it, or let another child begin."""
    tally = transition.tree.tally(parent_id(child.id))
    state = transition.fork_state(tally)
    setback = child.setback
    tally.changed = True
    if not tally.fresh:
        tally.threads.append(child)
    if setback is None:
        tally.succeeded += 1
    else:
        tally.failed += 1
    if isinstance(state, Map):
        what = "Succeeded" if setback is None else "Failed"
        _record_iteration(transition, state, child, what, child.last_event)
    if setback is not None:
        if setback.terminal or tally.too_many_failed:
            _cancel(transition, tally, child, setback)
            return
        child.input = Payload.of(as_output(setback))
    if tally.complete:
        parent = transition.tree.thread(tally.fork.frame)
        parent.last_event = child.last_event
        _join(transition, parent, tally)
    elif tally.fork.max_concurrency:
        _replace(transition, tally, child)


def _replace(transition: Transition, tally: Tally, ended: Thread) -> None:
    if not tally.admits:
        return
    if transition.spent:
        transition.tree.thread(tally.fork.frame).wake(transition.now)
    else:
        _begin(transition, tally, ended.last_event)


def _join(transition: Transition, parent: Thread, tally: Tally) -> None:
    """Hand the outputs of all children to the frame that rests on them, and let them go."""
    state = transition.fork_state(tally)
    parent.result = Payload.array(transition.tree.outputs(tally))
    transition.tree.close_fork(tally, tally.fork.total)
    transition.record(f"{type(state).__name__}StateSucceeded", parent.last_event, {})
    parent.changed = True
    parent.fork = None
    transition.agenda.append(parent)


def _cancel(transition: Transition, tally: Tally, failed: Thread, setback: Setback) -> None:
    """End a fork because a child has failed: the others are aborted, its frame meets that."""
    previous = failed.last_event
    _record_abort(transition, failed, previous, (Task, Wait))
    _end_early(transition, tally, previous, failed.id, _of_the_fork(tally, setback))


def break_off(transition: Transition, parent: Thread, setback: Setback) -> None:
    """End a fork because its next children cannot be made."""
    _end_early(transition, transition.tree.tally(parent.id), parent.last_event, None, setback)


def _end_early(
    transition: Transition, tally: Tally, previous: int, failed: str | None, setback: Setback
) -> None:
    """Abort the children that are open and let the fork's frame meet a setback."""
    parent = cut_off(transition, tally, previous, failed)
    meet(transition, parent, setback)
    transition.agenda.append(parent)


def cut_off(
    transition: Transition, tally: Tally, previous: int, failed: str | None = None
) -> Thread:
    """Abort the children of a fork that are open, and return its frame, which rests no more."""
    frames = tally.admitted if tally.fork.max_concurrency == 0 else tally.fork.total
    if tally.open:
        below = transition.tree.below(tally)
        frames = sum(_counts(place) for place in below.values())
        for frame_id in sorted(below, key=_natural):
            place = below[frame_id]
            if place.status is FrameStatus.RESTING and frame_id != failed:
                if not is_undo(frame_id):
                    _abort(transition, place, previous)
                register.let_go(transition, place)
    transition.tree.close_fork(tally, frames)
    parent = transition.tree.thread(tally.fork.frame)
    parent.last_event = previous
    parent.changed = True
    parent.fork = None
    return parent


def _of_the_fork(tally: Tally, setback: Setback) -> Setback:
    """Return what a child's failure is for the fork: what may have happened stays unknown."""
    setback = replace(setback, branch=True, reported=False)
    if not tally.tolerant or setback.terminal or setback.failure.error == RUNTIME:
        return setback
    cause = "The specified tolerated failure threshold was exceeded"
    failure = Failure(EXCEED_TOLERATED_FAILURE_THRESHOLD, cause)
    return replace(setback, failure=failure, heartbeat=False)


def _abort(transition: Transition, place: Thread | Frame, previous: int) -> None:
    """Record that a frame is aborted: its iteration and the state in which it stands."""
    parent = transition.tree.standing(parent_id(place.id))
    around = transition.machine.state(parent.state or "")
    if isinstance(around, Map):
        _record_iteration(transition, around, place, "Aborted", previous)
    if place.rests_on is RestsOn.CALL:
        effect.leave_state(transition, transition.tree.thread(place.id))
    _record_abort(transition, place, previous, (Task, Wait, Await, Parallel, Map))


def _record_abort(
    transition: Transition, place: Thread | Frame, previous: int, types: tuple[type[State], ...]
) -> None:
    """Record that a state is aborted; a fork that failed has said so itself."""
    if isinstance(place, Thread) and place.next_state is not None:
        return  # it has left its state
    state = None if place.state is None else transition.machine.state(place.state)
    if isinstance(state, types):
        transition.record(f"{type(state).__name__}StateAborted", previous, {})


def _counts(place: Thread | Frame) -> bool:
    """Tell whether a frame is one of the tree."""
    return place.status is not FrameStatus.CANCELLED and not is_undo(place.id)


def _natural(frame_id: str) -> tuple[tuple[int, int], ...]:
    """Return what sorts frames as they were opened, a parent before its children."""
    steps = undone_by(frame_id).split("/")[1:]
    return tuple((int(entry), int(index)) for entry, index in (one.split(".") for one in steps))
