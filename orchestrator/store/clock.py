"""An upper bound of the database's clock, kept from readings that come with other statements."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

TRUSTED_SECONDS: Final = 30.0
"""How long a reading counts; clocks drift apart by far less than a millisecond meanwhile."""

_GRAIN: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the database's clock said at some time between two moments of our monotonic clock."""

    at: datetime
    sent: float
    received: float

    def latest(self, moment: float) -> datetime:
        """Return the latest that the database's clock can show at a monotonic moment."""
        return self.at + timedelta(seconds=moment - self.sent) + _GRAIN

    def earliest(self, moment: float) -> datetime:
        """Return the earliest that it can show."""
        return self.at + timedelta(seconds=moment - self.received) - _GRAIN


class Clock:
    """Tells the time of the database, never behind it and ahead by at most one round trip."""

    def __init__(
        self, read: Callable[[], datetime], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._read = read
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._best: Reading | None = None

    def now(self) -> datetime:
        """Return an upper bound of the database's clock; asks it if no reading is fresh."""
        best = self._best
        if best is None or self._monotonic() - best.received > TRUSTED_SECONDS:
            sent = self._monotonic()
            best = self.note(self._read(), sent)
        return best.latest(self._monotonic())

    def note(self, at: datetime, sent: float) -> Reading:
        """Take in a reading that was asked for at the monotonic moment `sent` and came just now.

        Returns the reading that counts from now on.
        """
        reading = Reading(at, sent, self._monotonic())
        with self._lock:
            if self._best is None or _better(reading, self._best):
                self._best = reading
            return self._best


def _better(new: Reading, old: Reading) -> bool:
    now = new.received
    return (
        new.latest(now) < old.latest(now)
        or new.earliest(now) > old.latest(now)
        or now - old.received > TRUSTED_SECONDS / 3
    )
