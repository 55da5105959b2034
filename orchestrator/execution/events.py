"""What may reach an execution, in the past tense.

Each names what it answers, so that a late one is recognised.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from orchestrator.execution.call import Call
from orchestrator.execution.compensation import Compensation
from orchestrator.execution.payload import Payload


@dataclass(frozen=True, slots=True)
class TaskSucceeded:
    """A handler has returned."""

    execution: int
    frame: str
    token: str
    delivery: int
    claimed_by: str
    result: Payload
    started_at: datetime
    """When the handler began; it becomes the time of TaskStarted."""


@dataclass(frozen=True, slots=True)
class TaskFailed:
    """A handler has reported a failure (or returned what is no JSON: `Task.InvalidResult`)."""

    execution: int
    frame: str
    token: str
    delivery: int
    claimed_by: str
    error: str | None
    cause: str | None
    started_at: datetime


@dataclass(frozen=True, slots=True)
class TaskLost:
    """A claim lapsed and may not be delivered again: at-most-once, or all deliveries spent."""

    execution: int
    frame: str
    token: str
    delivery: int


@dataclass(frozen=True, slots=True)
class MomentDue:
    """A frame's earliest moment has come.

    Wait, back-off, time limit, heartbeat, or `go on` (loops, large forks).
    """

    execution: int
    frame: str
    entry: int
    wake_at: datetime


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The time limit of the whole execution has passed."""

    execution: int
    deadline_at: datetime


@dataclass(frozen=True, slots=True)
class StopRequested:
    """Somebody wants the execution ended as ABORTED; `abort`: now, without undoing anything."""

    execution: int
    error: str | None
    cause: str | None
    abort: bool = False


@dataclass(frozen=True, slots=True)
class CallbackSucceeded:
    """Somebody has ended a task by its token: an activity's worker, or who was called back."""

    execution: int
    frame: str
    token: str
    result: Payload


@dataclass(frozen=True, slots=True)
class CallbackFailed:
    """Somebody has failed a task by its token."""

    execution: int
    frame: str
    token: str
    error: str | None
    cause: str | None


@dataclass(frozen=True, slots=True)
class ChildEnded:
    """An execution that a task has started and waits for has ended.

    `began` is what its start was answered with, `described` the whole of it; where Input and
    Output stand there as JSON text, `read` has them as documents.
    """

    execution: int
    frame: str
    token: str
    succeeded: bool
    began: Payload
    described: Payload
    read: Payload
    compensations: tuple[Compensation, ...] = ()
    """What it leaves to be undone, in the order of doing; each with its terms."""


Report: TypeAlias = (
    "TaskSucceeded | TaskFailed | TaskLost | CallbackSucceeded | CallbackFailed | ChildEnded"
)
"""What may become of a task."""


@dataclass(frozen=True, slots=True)
class CallArrived:
    """Somebody calls the execution; `call` is the call as it arrives, without a verdict."""

    execution: int
    call: Call


@dataclass(frozen=True, slots=True)
class EffectRetried:
    """Somebody wants an effect run again that has failed for good."""

    execution: int
    frame: str


@dataclass(frozen=True, slots=True)
class CompensationRetried:
    """Somebody wants a compensation run again that has failed for good.

    `event` and `place` tell which: the frame that undoes comes to one after the other.
    """

    execution: int
    frame: str
    event: int
    place: int


@dataclass(frozen=True, slots=True)
class CompensationSkipped:
    """Somebody wants a compensation passed over that has failed for good; named as above."""

    execution: int
    frame: str
    event: int
    place: int


Event: TypeAlias = (
    "Report | MomentDue | DeadlinePassed | StopRequested | CallArrived | EffectRetried"
    " | CompensationRetried | CompensationSkipped"
)


def frame_of(event: Event) -> str:
    """Return the id of the frame that the event concerns; the root's where it concerns them all."""
    match event:
        case TaskSucceeded() | TaskFailed() | TaskLost() | MomentDue():
            return event.frame
        case CallbackSucceeded() | CallbackFailed() | ChildEnded() | EffectRetried():
            return event.frame
        case CompensationRetried() | CompensationSkipped():
            return event.frame
        case CallArrived():
            return event.call.at or ""
        case DeadlinePassed() | StopRequested():
            return ""
