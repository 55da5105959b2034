"""Whether a frame that has met a setback tries again, and when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from orchestrator.asl.retries import Retrier, delay_seconds
from orchestrator.execution.frame import Retries
from orchestrator.execution.setback import Setback
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def place_of(thread: Thread, retriers: Sequence[Retrier], setback: Setback) -> int | None:
    """Return the place of the Retrier that takes a setback and has attempts left, if one does."""
    for place, retrier in enumerate(retriers):
        if setback.retried_by(retrier):
            return place if _tried(thread, place) < retrier.max_attempts else None
    return None


def retry(
    transition: Transition,
    thread: Thread,
    retriers: Sequence[Retrier],
    setback: Setback,
    place: int,
) -> None:
    """Let a frame rest for the pause of a Retrier."""
    attempt = _tried(thread, place) + 1
    pause = delay_seconds(retriers[place], attempt, transition.draw("Retry"))
    counts = (*thread.retries.counts, *[0] * (place + 1 - len(thread.retries.counts)))
    silent = thread.retries.reported if setback.silent else thread.retries.silent
    thread.retries = Retries(
        counts=(*counts[:place], attempt, *counts[place + 1 :]),
        total=thread.retries.total + 1,
        reported=thread.retries.reported + setback.reported,
        silent=silent,
    )
    thread.rest_on_clock(transition.now + timedelta(seconds=pause))


def _tried(thread: Thread, place: int) -> int:
    counts = thread.retries.counts
    return counts[place] if place < len(counts) else 0
