"""Why an execution waits, in one sentence per frame: for what, since when, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.asl.machine import Machine
from orchestrator.asl.states import Await, Parallel, Wait
from orchestrator.execution.frame import Fork, Frame, FrameStatus, RestsOn
from orchestrator.service.calls import Waits

MOST_COUNTED: Final = 1_000
"""Tasks before one in its queue are counted up to here."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task that nobody has claimed stands."""

    before: int
    """How many tasks of its queue come before it, counted up to MOST_COUNTED."""
    workers: int
    """How many living workers serve it."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a frame waits; `until` is the moment that the sentence ends with, if it names one."""

    frame: str
    state: str
    text: str
    since: datetime | None
    until: datetime | None = None
    stuck: bool = False
    """Whether it goes on only when somebody does something."""


def reason(
    machine: Machine,
    frame: Frame,
    waits: Waits | None,
    forks: Mapping[str, Fork],
    places: Mapping[str, Place],
) -> Reason | None:
    """Return why a frame waits; None if it does not."""
    if frame.status is not FrameStatus.RESTING:
        return None
    match frame.rests_on:
        case None:
            return None
        case RestsOn.CALL:
            return _of_call(machine, frame, waits)
        case RestsOn.TASK:
            return _of_task(frame, places.get(frame.id))
        case RestsOn.CLOCK:
            return _of_clock(machine, frame)
        case RestsOn.CHILDREN:
            return _of_children(machine, frame, forks.get(frame.id))
        case RestsOn.UNDOING:
            return _reason(frame, "waits until what was done is undone")
        case RestsOn.CALLBACK:
            return _of_others(frame, "waits until somebody sends the token of its task")
        case RestsOn.EXECUTION:
            return _of_others(frame, "waits until the execution that it has started ends")


def _of_others(frame: Frame, text: str) -> Reason:
    until = "" if frame.timeout_at is None else ", at the latest until"
    return _reason(frame, text + until, frame.timeout_at)


def _reason(
    frame: Frame, text: str, until: datetime | None = None, *, stuck: bool = False
) -> Reason:
    return Reason(frame.id, frame.state or "", text, frame.entered_at, until, stuck)


def _of_call(machine: Machine, frame: Frame, waits: Waits | None) -> Reason:
    calls = () if waits is None else waits.calls
    text = f"waits to be called; it takes {_listed(calls)} now" if calls else "takes no call now"
    timer = None if waits is None else waits.timer
    if timer is None:
        return _reason(frame, text + ", and no timer ends that", stuck=not calls)
    state = machine.state(frame.state or "")
    what = "leads on" if timer.next is None else f"leads to {timer.next}"
    if isinstance(state, Await) and timer.next is None:
        effects = [one.resource.name for one in state.after[timer.place].effects]
        what = f"asks for {_listed(effects)}" if effects else what
    return _reason(frame, f"{text}; its next timer {what} at", timer.at)


def _of_task(frame: Frame, place: Place | None) -> Reason:
    task = frame.task
    if task is None:
        return _reason(frame, "waits for its task")
    attempt = "" if task.attempt == 1 else f", attempt {task.attempt}"
    if task.claimed_by is not None:
        return _reason(frame, f"runs {task.resource} on the worker {task.claimed_by}{attempt}")
    if (place is not None and place.workers == 0) or task.queue is None:
        where = "" if task.queue is None else f" (queue {task.queue})"
        return _reason(
            frame, f"waits, and no worker serves {task.resource}{where}{attempt}", stuck=True
        )
    before = _before(0 if place is None else place.before)
    return _reason(
        frame, f"waits for a worker of the queue {task.queue}, {before} its task{attempt}"
    )


def _before(count: int) -> str:
    if count >= MOST_COUNTED:
        return f"{MOST_COUNTED} tasks or more come before"
    if count == 0:
        return "nothing comes before"
    return f"{count} {'task comes' if count == 1 else 'tasks come'} before"


def _of_clock(machine: Machine, frame: Frame) -> Reason:
    state = machine.state(frame.state or "")
    if isinstance(state, Wait):
        return _reason(frame, "waits until", frame.wake_at)
    if frame.retries.total:
        return _reason(
            frame, f"has failed, and is tried again (retry {frame.retries.total}) at", frame.wake_at
        )
    return _reason(frame, "lets others have a turn and goes on at", frame.wake_at)


def _of_children(machine: Machine, frame: Frame, fork: Fork | None) -> Reason:
    kind = "branches" if isinstance(machine.state(frame.state or ""), Parallel) else "iterations"
    if fork is None:
        return _reason(frame, f"waits for its {kind}")
    over = fork.succeeded + fork.failed
    running = fork.admitted - over
    waiting = fork.total - fork.admitted
    text = f"waits for its {kind}: {fork.succeeded} of {fork.total} done, {running} running"
    if waiting:
        text += f", {waiting} not yet begun"
    if fork.failed:
        text += f", {fork.failed} failed"
    return _reason(frame, text)


def _listed(names: tuple[str, ...] | list[str]) -> str:
    if len(names) < 2:  # noqa: PLR2004  # one needs no "and"
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
