"""Floor 5: what is wrong with the records of executions, and with the processes that serve them.

Knows what must agree with what. Reads values, asks nobody and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from orchestrator.execution.frame import (
    ExecutionStatus,
    Fork,
    FrameStatus,
    RestsOn,
    is_undo,
    parent_id,
    undone_by,
)
from orchestrator.store import Checkup, FrameSummary, WaitingResource, WorkerKind, WorkerRow

FAR: Final = timedelta(days=365 * 100)
"""A moment that is further away wakes nobody."""
NO_LEASE: Final = "activity:"
"""What resources begin with whose workers poll, and hold no lease."""

_ALIVE: Final = (FrameStatus.RESTING, FrameStatus.FAILED)
"""A child goes on, or an operator lets it."""

_ENDS: Final = {
    "ExecutionSucceeded": "SUCCEEDED",
    "ExecutionFailed": "FAILED",
    "ExecutionTimedOut": "TIMED_OUT",
    "ExecutionAborted": "ABORTED",
}


class Kind(StrEnum):
    """What kind of fault it is."""

    ASLEEP = "nothing will wake it"
    GAP = "a gap in its history"
    DISAGREEMENT = "its records disagree"
    POISON = "poison"
    COMPENSATION = "compensation blocked"
    EFFECT = "effect failed"
    CALL = "call kept"
    UNSERVED = "no worker"
    TWO_QUEUES = "two queues"
    SCHEDULER = "no scheduler"
    UNHEALTHY = "unhealthy"


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault; `execution` is its address, where it is one's."""

    kind: Kind
    text: str
    execution: str | None = None
    state: str | None = None
    """At which the execution is, where the fault has one."""
    part: str | None = None
    """The id of the compensation, the effect or the call that it is about."""


# -- executions ----------------------------------------------------------------------------------


def examine(record: Checkup, now: datetime) -> Iterator[Finding]:
    """Return what is wrong with the records of one execution."""
    run = record.execution
    address = f"{run.machine}:{run.name}"

    def found(kind: Kind, text: str) -> Finding:
        return Finding(kind, text, address)

    if not record.revision_is_there:
        yield found(Kind.DISAGREEMENT, f"its revision {run.revision} is not there")
    for text in _history(record):
        yield found(Kind.GAP if "gap" in text else Kind.DISAGREEMENT, text)
    for text in (*_documents(record), *_calls(record)):
        yield found(Kind.DISAGREEMENT, text)
    for text in _effects(record, now):
        yield found(Kind.ASLEEP, text)
    if run.status is not ExecutionStatus.RUNNING:
        if record.frames:
            yield found(Kind.DISAGREEMENT, "it has ended, and frames of it are there")
        return
    for text in _tree(record):
        yield found(Kind.DISAGREEMENT, text)
    for text in _sleepers(record, now):
        yield found(Kind.ASLEEP, text)


def _history(record: Checkup) -> Iterator[str]:
    run, history = record.execution, record.history
    if history is None:
        yield "it has no history"
        return
    if history.gap_at is not None:
        yield f"a gap in its history before event {history.gap_at}"
    if run.next_event_id != history.last_id + 1:
        yield f"its history ends with {history.last_id}, its row expects {run.next_event_id}"
    status = _ENDS.get(history.last_type, ExecutionStatus.RUNNING.value)
    if status != run.status.value:
        yield f"its history says {status}, its row {run.status.value}"
    if (run.ended_at is None) is not (run.status is ExecutionStatus.RUNNING):
        yield f"its row says {run.status.value}, and that it ended at {run.ended_at}"


def _documents(record: Checkup) -> Iterator[str]:
    if "input" not in record.documents:
        yield "its input is not there"
    succeeded = record.execution.status is ExecutionStatus.SUCCEEDED
    if succeeded is not ("output" in record.documents):
        yield "it succeeded without an output" if succeeded else "it has an output and no success"


def _calls(record: Checkup) -> Iterator[str]:
    run, there = record.execution, record.kept_calls
    if run.ended_at is not None and there:
        yield f"it has ended, and {there} of its calls have no verdict"
    elif run.kept != there:
        yield f"its row counts {run.kept} calls without a verdict, there are {there}"


def _tree(record: Checkup) -> Iterator[str]:
    frames = {frame.id: frame for frame in record.frames}
    tree = [frame for frame in record.frames if _is_of_the_tree(frame)]
    if record.frames and len(tree) != record.execution.frames:
        yield f"its row counts {record.execution.frames} frames, there are {len(tree)}"
    for frame in record.frames:
        if frame.status == FrameStatus.CANCELLED or not frame.id:
            continue
        if _above(frame.id) not in frames:
            yield f"frame {frame.id} has no parent"
    forks = {(fork.frame, fork.entry): fork for fork in record.forks}
    children = _children(record.frames)
    for place, fork in forks.items():
        parent = frames.get(fork.frame)
        if parent is None or parent.fork != fork.entry:
            yield f"the fork {fork.prefix} belongs to no frame"
        else:
            yield from _tally(fork, children.get(place, []))


def _is_of_the_tree(frame: FrameSummary) -> bool:
    """Tell whether a frame does something: it was not cancelled, and undoes nothing."""
    return not frame.id or (frame.status != FrameStatus.CANCELLED and not is_undo(frame.id))


def _is_of_a_fork(frame: FrameSummary) -> bool:
    return frame.status != FrameStatus.CANCELLED and _above(frame.id) == parent_id(frame.id)


def _above(frame_id: str) -> str:
    """Return the id of the frame that rests on another."""
    owner = undone_by(frame_id)
    if is_undo(frame_id) and "/" not in frame_id[len(owner) :]:
        return owner
    return parent_id(frame_id)


def _children(frames: Sequence[FrameSummary]) -> dict[tuple[str, int], list[FrameSummary]]:
    found: dict[tuple[str, int], list[FrameSummary]] = {}
    for frame in frames:
        if frame.id and _is_of_a_fork(frame):
            fork = int(frame.id.rsplit("/", 1)[1].split(".")[0])
            found.setdefault((parent_id(frame.id), fork), []).append(frame)
    return found


def _tally(fork: Fork, children: Sequence[FrameSummary]) -> Iterator[str]:
    begun = sum(child.status != FrameStatus.PENDING for child in children)
    ended = sum(child.status == FrameStatus.ENDED for child in children)
    for word, counted, there in (
        ("children", fork.total, len(children)),
        ("begun", fork.admitted, begun),
        ("ended", fork.succeeded + fork.failed, ended),
    ):
        if counted != there:
            yield f"the fork {fork.prefix} counts {counted} {word}, there are {there}"


# -- what nothing wakes --------------------------------------------------------------------------


def _sleepers(record: Checkup, now: datetime) -> Iterator[str]:
    if not any(not frame.id for frame in record.frames):
        yield "it has no root frame"
    forks = {(fork.frame, fork.entry) for fork in record.forks}
    alive = {
        place: any(child.status in _ALIVE for child in children)
        for place, children in _children(record.frames).items()
    }
    undone = {undone_by(frame.id) for frame in record.frames if is_undo(frame.id)}
    for frame in record.frames:
        if frame.status == FrameStatus.RESTING and (frame.id, frame.entry) not in record.kept:
            why = _asleep(frame, now, forks, alive, undone)
            if why is not None:
                yield f"frame {frame.id or '(root)'} in {frame.state!r}: {why}"
        elif not frame.id and frame.status not in (FrameStatus.RESTING, FrameStatus.CANCELLED):
            yield f"its root frame is {frame.status}"


def _effects(record: Checkup, now: datetime) -> Iterator[str]:
    """Why nothing will wake effects that have not ended; the turns of a frame follow each other."""
    first: dict[str, int] = {}
    for effect in record.effects:
        owner = effect.id.partition("!")[0]
        first[owner] = min(effect.entry, first.get(owner, effect.entry))
    for effect in record.effects:
        if effect.status == FrameStatus.RESTING:
            why = _asleep(effect, now, set(), {}, set())
        else:
            its_turn = effect.entry == first[effect.id.partition("!")[0]]
            why = "its turn has come, and it does not run" if its_turn else None
        if why is not None and (effect.id, effect.entry) not in record.kept:
            yield f"the effect {effect.id} of {effect.state!r}: {why}"


def _asleep(
    frame: FrameSummary,
    now: datetime,
    forks: set[tuple[str, int]],
    alive: dict[tuple[str, int], bool],
    undone: set[str],
) -> str | None:
    """Why nothing will wake a frame that rests; None: something will."""
    wakes = frame.wake_at is not None and frame.wake_at < now + FAR
    match frame.rests_on:
        case None:
            return "it rests on nothing"
        case RestsOn.CLOCK.value if not wakes:
            return "it waits for no moment"
        case RestsOn.CALL.value if frame.has_timers and not wakes:
            return "its timers have no moment"
        case RestsOn.TASK.value if not wakes:
            return _unclaimable(frame, now)
        case RestsOn.UNDOING.value if not is_undo(frame.id) and frame.id not in undone:
            return "nothing undoes what it waits for"
        case RestsOn.CHILDREN.value if frame.fork is None:
            return "it waits for the children of no fork"
        case RestsOn.CHILDREN.value if (frame.id, frame.fork or 0) not in forks:
            return "the fork that it waits for is not there"
        case RestsOn.CHILDREN.value if not wakes and not alive.get((frame.id, frame.fork or 0)):
            return "none of the children that it waits for runs"
    return None


def _unclaimable(frame: FrameSummary, now: datetime) -> str | None:
    if frame.claimed_by is None:
        far = frame.ready_at is None or frame.ready_at > now + FAR
        return "its task is never ready" if far else None
    polled = (frame.resource or "").startswith(NO_LEASE)
    return (
        "its task is claimed without a lease" if frame.lease_until is None and not polled else None
    )


# -- processes -----------------------------------------------------------------------------------


def unserved(
    workers: Sequence[WorkerRow], waiting: Sequence[WaitingResource]
) -> Iterator[tuple[str, str, datetime]]:
    """Return queues whose workers are all dead, and resources that no living worker serves.

    Each as a subject, a sentence, and the moment since when a task waits.
    """
    living = [one for one in workers if one.lives and one.kind is WorkerKind.WORKER]
    queues = {queue for one in living for queue in one.serves.values()}
    served = {resource for one in living for resource in one.serves}
    dead: dict[str, list[WaitingResource]] = {}
    for one in waiting:
        if one.queue.startswith(NO_LEASE):
            continue
        if one.queue not in queues:
            dead.setdefault(one.queue, []).append(one)
        elif one.resource not in served:
            yield (
                one.resource,
                f"no worker that lives serves {one.resource}; {_tasks(one.rows)} in {one.queue}",
                one.oldest_ready_at,
            )
    for queue, ones in dead.items():
        rows = _tasks(sum(one.rows for one in ones))
        yield (
            queue,
            f"no worker that lives consumes the queue {queue}; {rows} there",
            min(one.oldest_ready_at for one in ones),
        )


def _tasks(count: int) -> str:
    return "a task waits" if count == 1 else f"{count} tasks wait"


def announced_twice(workers: Sequence[WorkerRow]) -> Iterator[tuple[str, str]]:
    """Return resources that living workers announce for different queues, with a sentence."""
    queues: dict[str, set[str]] = {}
    for one in workers:
        if one.lives:
            for resource, queue in one.serves.items():
                queues.setdefault(resource, set()).add(queue)
    for resource, names in sorted(queues.items()):
        if len(names) > 1:
            yield resource, f"{resource} is announced for the queues {', '.join(sorted(names))}"


def processes(workers: Sequence[WorkerRow], *, needed: bool) -> Iterator[Finding]:
    """Return what is wrong with processes; `needed`: executions run, which schedulers wake."""
    schedulers = [one for one in workers if one.kind is WorkerKind.SCHEDULER]
    if needed and not any(one.lives for one in schedulers):
        last = max((one.beat_at for one in schedulers), default=None)
        heard = f", the last was heard of at {last:%Y-%m-%d %H:%M:%S} UTC" if last else ""
        yield Finding(Kind.SCHEDULER, f"no scheduler lives{heard}")
    for one in workers:
        if one.lives and one.unhealthy:
            yield Finding(Kind.UNHEALTHY, f"{one.id} says: {one.unhealthy}")
        if one.lives and one.given_up:
            yield Finding(Kind.UNHEALTHY, f"{one.given_up} of {one.slots} slots of {one.id} hang")
