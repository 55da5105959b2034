"""Who runs beside whom in one process: a task that was lost twice runs alone.

It may be what kills the process, and then takes nobody along.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from orchestrator.store import LONELY_FROM, Claim

ASK_SECONDS: Final = 5.0
"""How often a busy process asks whether a task waits that must run alone."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """Which tasks may be claimed now, by how often they were lost."""

    lost_from: int = 0
    lost_to: int | None = None


OTHERS: Final = Welcome(lost_to=LONELY_FROM - 1)
"""Tasks that run beside others."""
ANY: Final = Welcome()
LONELY: Final = Welcome(lost_from=LONELY_FROM)


class Company:
    """The claims that run in this process; who claims asks here first, one thread at a time."""

    def __init__(self, ring: Callable[[Mapping[str, int]], None]) -> None:
        """`ring` wakes those who were refused, once they may claim again."""
        self._ring = ring
        self._lock = threading.Lock()
        self._running = 0
        self._alone = False
        self._closing = False
        self._asked_at = time.monotonic()
        self._refused: Counter[str] = Counter()

    @property
    def closing(self) -> bool:
        """Whether all that runs is to end, so that a task can run alone."""
        return self._closing

    @property
    def running(self) -> int:
        """How many tasks run now."""
        return self._running

    def welcome(self, slots: int, waits: Callable[[], bool]) -> Welcome | None:
        """What so many free slots may claim; None: nothing now.

        `waits` tells whether a task waits that must run alone.
        """
        with self._lock:
            free = self._running == 0
            if self._alone:
                return None
        if self._closing:
            return LONELY if free else None
        if free and slots == 1:
            return ANY
        if time.monotonic() - self._asked_at >= ASK_SECONDS:
            self._asked_at = time.monotonic()
            self._closing = waits()
        return None if self._closing and not free else OTHERS

    def refuse(self, queue: str) -> None:
        """Remember that somebody would have claimed from a queue."""
        with self._lock:
            self._refused[queue] += 1

    def took(self, claim: Claim) -> None:
        """Note a claim that runs here from now on."""
        with self._lock:
            self._running += 1
            self._alone = self._alone or is_lonely(claim)

    def left(self, claim: Claim) -> None:
        """Note that it runs no longer."""
        with self._lock:
            self._running -= 1
            if is_lonely(claim):
                self._alone = False
            if self._running and not is_lonely(claim):
                return
            refused, self._refused = self._refused, Counter()
        if refused:
            self._ring(refused)

    def open(self) -> None:
        """Let others in again: no task waits any more that must run alone."""
        self._closing = False


def is_lonely(claim: Claim) -> bool:
    """Whether a claim is of a task that was lost as often as makes it run alone."""
    return claim.delivery > LONELY_FROM
