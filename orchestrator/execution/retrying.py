"""Whether a frame that has met a setback tries again, and when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from orchestrator.asl.retries import Retrier, delay_seconds
from orchestrator.execution.frame import Retries
from orchestrator.execution.setback import Setback
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def place_of(retries: Retries, retriers: Sequence[Retrier], setback: Setback) -> int | None:
    """Return the place of the Retrier that takes a setback and has attempts left, if one does."""
    for place, retrier in enumerate(retriers):
        if setback.retried_by(retrier):
            return place if _tried(retries, place) < retrier.max_attempts else None
    return None


def retry(
    transition: Transition,
    thread: Thread,
    retriers: Sequence[Retrier],
    setback: Setback,
    place: int,
) -> None:
    """Let a frame rest for the pause of a Retrier."""
    before = thread.retries
    counts = counted(before, place)
    pause = delay_seconds(retriers[place], counts[place], transition.draw("Retry"))
    thread.retries = Retries(
        counts=counts,
        total=before.total + 1,
        reported=before.reported + setback.reported,
        silent=before.reported if setback.silent else before.silent,
    )
    thread.rest_on_clock(transition.now + timedelta(seconds=pause))


def counted(retries: Retries, place: int) -> tuple[int, ...]:
    """Return the counts with one more for the Retrier at a place."""
    counts = (*retries.counts, *[0] * (place + 1 - len(retries.counts)))
    return (*counts[:place], counts[place] + 1, *counts[place + 1 :])


def _tried(retries: Retries, place: int) -> int:
    return retries.counts[place] if place < len(retries.counts) else 0
