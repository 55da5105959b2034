"""All that is on record of an execution, and what of it contradicts something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final

from orchestrator.asl.machine import Machine
from orchestrator.execution.frame import (
    Execution,
    ExecutionStatus,
    Frame,
    FrameKind,
    FrameStatus,
    Phase,
)
from orchestrator.execution.history import HistoryEvent
from orchestrator.execution.payload import Payload
from orchestrator.verify.reading import ENDS, Reading, Wrong, standing
from orchestrator.verify.thread import Thread

MOST_CONTRADICTIONS: Final = 10
"""How many are told of one execution: those that follow often follow from the first."""

_TREE: Final = (FrameKind.ROOT, FrameKind.CHILD)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Something on record that cannot be."""

    event: int | None
    """The id of the history event, where there is one."""
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """All that is on record of an execution."""

    execution: Execution
    input: Payload
    output: Payload | None
    history: Sequence[HistoryEvent]
    frames: Sequence[Frame]
    """Those of the tree, and all effects."""


def verify(machine: Machine, record: Record) -> tuple[Contradiction, ...]:
    """Return the first contradictions of a record; none: everything agrees."""
    return tuple(islice(_contradictions(machine, record), MOST_CONTRADICTIONS))


def _contradictions(machine: Machine, record: Record) -> Iterator[Contradiction]:
    yield from _ids_and_times(record.history)
    reading = Reading(machine)
    for event in record.history:
        try:
            reading.take(event)
        except Wrong as wrong:
            yield Contradiction(event.id, f"{event.type}: {wrong}")
    yield from _ends(reading, record)
    yield from _rests(reading, record)
    yield from _effects(record)


def _effects(record: Record) -> Iterator[Contradiction]:
    """Compare what was wanted of workers besides with what is on record of it."""
    wanted = {event.id for event in record.history if event.type == "EffectScheduled"}
    there = {
        int(frame.id.rpartition("!")[2])
        for frame in record.frames
        if frame.kind is FrameKind.EFFECT
    }
    for number in sorted(wanted - there):
        yield Contradiction(number, "the effect is wanted, and there is no frame of it")
    for number in sorted(there - wanted):
        yield Contradiction(None, f"there is an effect of event {number}, which wants none")


def _ids_and_times(history: Sequence[HistoryEvent]) -> Iterator[Contradiction]:
    if not history:
        yield Contradiction(None, "there is no history")
        return
    if history[0].type != "ExecutionStarted":
        yield Contradiction(history[0].id, "the history does not begin with ExecutionStarted")
    for number, event in enumerate(history, start=1):
        if event.id != number:
            yield Contradiction(event.id, f"follows {number - 1}: ids have a gap")
            break
    for before, event in pairwise(history):
        if event.at < before.at:
            yield Contradiction(event.id, f"is earlier than {before.id}")


def _ends(reading: Reading, record: Record) -> Iterator[Contradiction]:
    run, end, history = record.execution, reading.end, record.history
    if history and run.next_event_id != history[-1].id + 1:
        yield Contradiction(
            None, f"the row expects event {run.next_event_id} after {history[-1].id}"
        )
    if history and not _same_text(history[0].details.get("input"), record.input):
        yield Contradiction(1, "the input is not the document on record")
    status = ENDS[end.type] if end else ExecutionStatus.RUNNING.value
    if run.status.value != status:
        yield Contradiction(
            end.id if end else None, f"the history says {status}, the row {run.status.value}"
        )
    if (run.ended_at is None) is not (run.status is ExecutionStatus.RUNNING):
        yield Contradiction(None, "the row has an end without a status, or the other way round")
    if end is None:
        return
    if not _same_text(end.details.get("output"), record.output):
        yield Contradiction(end.id, "the output is not the document on record")
    for field, value in (("error", run.error), ("cause", run.cause)):
        if end.type != "ExecutionTimedOut" and end.details.get(field) != value:
            yield Contradiction(end.id, f"the {field} is not that of the row")


def _same_text(detail: object, document: Payload | None) -> bool:
    text = detail.text if isinstance(detail, Payload) else None
    return text == (None if document is None else document.text)


def _rests(reading: Reading, record: Record) -> Iterator[Contradiction]:
    """Compare where threads stand by the history with the frames that rest."""
    frames = {frame.entry: frame for frame in record.frames if _rests_in_state(frame)}
    if record.execution.status is not ExecutionStatus.RUNNING:
        if frames:
            yield Contradiction(None, "the execution has ended, and frames of it rest")
        return
    if record.execution.phase is Phase.UNDOING:
        return  # its frames have been let go, but for those that undo
    stand = {one.entry: one for one in standing(reading.threads)}
    for entry, thread in stand.items():
        if entry in frames or _ended_in(entry, record.frames) or _was_cancelled(thread, frames):
            continue
        yield Contradiction(entry, f"{_name(thread)!r} was not left, and no frame rests there")
    for entry, frame in frames.items():
        if entry not in stand or _name(stand[entry]) != frame.state:
            yield Contradiction(
                entry, f"a frame rests in {frame.state!r}, and the history says otherwise"
            )


def _name(thread: Thread) -> str | None:
    return None if thread.state is None else thread.state.name


def _was_cancelled(thread: Thread, frames: Mapping[int, Frame]) -> bool:
    """Whether a fork above has failed and is to be tried again: no event says so."""
    above = [frames[one.entry] for one in thread.upwards() if one.entry in frames]
    return any(frame.fork is None for frame in above)


def _rests_in_state(frame: Frame) -> bool:
    return frame.kind in _TREE and frame.status is FrameStatus.RESTING and frame.state is not None


def _ended_in(entry: int, frames: Sequence[Frame]) -> bool:
    """Whether a frame has failed in that state and waits for its siblings."""
    return any(frame.entry == entry and frame.status is FrameStatus.ENDED for frame in frames)
