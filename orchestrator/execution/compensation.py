"""Compensations: what can still be undone of an execution, and how one is found.

Values only. A compensation stands at the place of what it undoes: `scope` is the frame that has
done it, `event` the entry of its state. Within a frame the greatest event is undone first; what
the children of a fork have done lies between the events around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from orchestrator.asl.retries import Retrier
from orchestrator.asl.states.effect import Effect
from orchestrator.execution.payload import Payload


class CompensationStatus(StrEnum):
    """What has become of a compensation. The first four are open: they are still to be undone."""

    DOUBTFUL = "doubtful"
    """The frame was cancelled while a handler ran for it: what that reports will decide."""
    PENDING = "pending"
    RUNNING = "running"
    BLOCKED = "blocked"
    """It has failed for good: an operator retries or skips it."""
    DONE = "done"
    SKIPPED = "skipped"
    VOID = "void"
    """It turned out that there is nothing to undo."""


OPEN = frozenset(
    {
        CompensationStatus.DOUBTFUL,
        CompensationStatus.PENDING,
        CompensationStatus.RUNNING,
        CompensationStatus.BLOCKED,
    }
)


class Undoing(StrEnum):
    """How far an execution has come with undoing."""

    NONE = "none"
    RUNNING = "running"
    COMPLETED = "completed"
    BLOCKED = "blocked"
    """It runs, and a compensation has failed for good."""
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class Terms:
    """How a compensation is run, as its definition says."""

    resource_type: str
    resource_action: str
    retry: tuple[Retrier, ...]
    timeout_seconds: int | None
    heartbeat_seconds: int | None


Key: TypeAlias = "tuple[str, int, int]"
"""Scope, event and place of a compensation."""


@dataclass(frozen=True, slots=True)
class Compensation:
    """One finished piece of work that can be undone."""

    scope: str
    """The id of the frame that has done it."""
    event: int
    """The id of the StateEntered event of its state."""
    place: int
    """0; of what was taken over from a child execution: its rank there, in order of doing."""
    state: str
    resource: str
    """What a worker announces that it serves."""
    arguments: Payload
    """What its handler is called with."""
    key: str
    """The idempotency key under which its handler acts, always the same."""
    undoes: str | None
    """The key of the task that it undoes; None of a fork."""
    pointer: str
    """Where its definition stands."""
    widths: tuple[int, ...] = ()
    """The MaxConcurrency of the forks around, outermost first; 0: no limit."""
    status: CompensationStatus = CompensationStatus.PENDING
    by: str | None = None
    """The frame that waits until it is no longer doubtful."""
    terms: Terms | None = None
    """Of what was taken over from a child execution, whose definition is another."""

    @property
    def number(self) -> Key:
        """What it is found by."""
        return self.scope, self.event, self.place

    @property
    def order(self) -> tuple[int, int]:
        """The greater, the newer."""
        return self.event, self.place

    @property
    def is_open(self) -> bool:
        """Tell whether it is still to be undone."""
        return self.status in OPEN


@dataclass(frozen=True, slots=True)
class Mark:
    """A compensation that has come to another status."""

    number: Key
    status: CompensationStatus


@dataclass(frozen=True, slots=True)
class Stretch:
    """The compensations of scopes between two, both included, from an event on."""

    low: str
    high: str
    floor: int = 0

    def holds(self, number: Key) -> bool:
        """Tell whether a compensation lies in it."""
        return self.low <= number[0] <= self.high and number[1] >= self.floor


def subtree(scope: str, floor: int = 0) -> Stretch:
    """Return the stretch of a frame and everything under it."""
    return Stretch(scope, f"{scope}/:", floor)


def under(scope: str, floor: int = 0) -> Stretch:
    """Return the stretch of everything under a frame, itself left out."""
    return Stretch(f"{scope}/", f"{scope}/:", floor)


def fork_below(scope: str, inner: str) -> tuple[int, int]:
    """Return the fork of a frame in which another scope lies: its entry, and the child's index."""
    entry, index = inner[len(scope) + 1 :].partition("/")[0].split(".")
    return int(entry), int(index)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a decision asks for: the newest open compensation of a stretch, or all of them.

    `before` leaves out what is not older; `number` asks for a single one, whatever its status.
    """

    stretch: Stretch
    before: tuple[int, int] | None = None
    every: bool = False
    number: Key | None = None


def only(number: Key) -> Wanted:
    """Return what asks for one compensation."""
    return Wanted(Stretch(number[0], number[0], number[1]), number=number)


def terms_of(effect: Effect) -> Terms:
    """Return how a compensation is run whose definition is at hand."""
    return Terms(
        effect.resource.resource_type,
        effect.resource.resource_action,
        effect.retry,
        effect.timeout_seconds,
        effect.heartbeat_seconds,
    )
