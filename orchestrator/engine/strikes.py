"""What becomes of events that cannot be decided: kept, tried again, left to an operator.

Nothing that was handed in is lost by a fault of ours: a result is decided once it can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import structlog

from orchestrator.execution.decision import Decision, View
from orchestrator.execution.events import DeadlinePassed, Event, MomentDue, StopRequested, frame_of
from orchestrator.store import MOST_STRIKES, Pauses, Store, StoreUnavailable, Undecided

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Struck:
    """An event that could not be decided, and why; what becomes of it is still to be written."""

    event: Event
    exception: Exception

    @property
    def reason(self) -> str:
        """Why, in words."""
        return f"{type(self.exception).__name__}: {self.exception}"


@dataclass(frozen=True, slots=True)
class Kept:
    """The event is kept for its next try."""


KEPT: Final = Kept()


class Strikes:
    """Keeps what cannot be decided, and brings it up again before anything else."""

    def __init__(self, store: Store, pauses: Pauses) -> None:
        self._store = store
        self._pauses = pauses

    def first(self, event: Event, view: View) -> Event | Kept:
        """What is to be decided when an event comes: itself, or what is kept for its frame.

        Asks the store only of executions that have strikes.
        """
        if not view.execution.strikes or isinstance(event, DeadlinePassed | StopRequested):
            return event
        frame = view.frames.get(frame_of(event))
        for one in self._store.undecided(event.execution) if frame is not None else ():
            if (one.frame, one.entry) == (frame_of(event), frame.entry if frame else 0):
                return self._instead(event, one)
        return event

    def _instead(self, event: Event, kept: Undecided) -> Event | Kept:
        if isinstance(kept.event, MomentDue):
            return event
        if not isinstance(event, MomentDue):
            return KEPT  # something has ended the task before
        return kept.event if event.wake_at == kept.try_at else event

    def keep(self, struck: Struck) -> int | None:
        """Keep an event; how often it could not be decided by now. None: it is not asked for.

        Raises StoreUnavailable; then it is not kept.
        """
        strikes = self._store.strike(struck.event, struck.reason, self._pauses)
        about = {
            "execution": struck.event.execution,
            "frame": frame_of(struck.event),
            "event_type": type(struck.event).__name__,
        }
        if strikes is None:
            log.error("an event could not be decided", **about, exc_info=struck.exception)
        elif strikes < MOST_STRIKES:
            log.error(
                "an event could not be decided; it is kept and tried again",
                **about,
                strikes=strikes,
                exc_info=struck.exception,
            )
        else:
            log.error(
                "an event could not be decided; it is kept until somebody retries it",
                **about,
                strikes=strikes,
                exc_info=struck.exception,
            )
        return strikes

    def over(self, decisions: Iterable[Decision]) -> None:
        """Forget what was kept for frames that have gone on by these decisions."""
        for execution in {one.execution.id for one in decisions if one.execution.strikes}:
            try:
                self._store.settle(execution)
            except StoreUnavailable as away:  # it is over all the same, and forgotten some time
                log.warning("what was kept could not be forgotten", reason=str(away))
