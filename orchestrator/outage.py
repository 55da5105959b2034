"""Says once that the database is away, and once that it is back."""

from __future__ import annotations

import threading
import time

import structlog

log = structlog.get_logger(__name__)


class Outage:
    """What one process knows of its database: a message when it goes away and when it is back.

    Its threads ask at the same time: an answer tells that the database is back only if its
    question was asked after the last failure.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._away = False
        self._failed_at = 0.0

    def failed(self, reason: Exception) -> None:
        """Note that a question got no answer."""
        with self._lock:
            said, self._away = self._away, True
            self._failed_at = time.monotonic()
        if not said:
            log.warning("the database is away; trying again until it is back", reason=str(reason))

    def passed(self, asked_at: float) -> None:
        """Note that a question was answered; `asked_at` by the monotonic clock, in seconds."""
        with self._lock:
            back = self._away and asked_at > self._failed_at
            if back:
                self._away = False
        if back:
            log.warning("the database is back")
