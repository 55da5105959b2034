"""Says once that the database is away, and once that it is back."""

from __future__ import annotations

import threading

import structlog

log = structlog.get_logger(__name__)


class Outage:
    """What one process knows of its database: a message when it goes away and when it is back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._away = False

    def began(self, reason: Exception) -> None:
        """Note that a call has failed."""
        with self._lock:
            said, self._away = self._away, True
        if not said:
            log.warning("the database is away; trying again until it is back", reason=str(reason))

    def ended(self) -> None:
        """Note that a call has succeeded."""
        if not self._away:
            return
        with self._lock:
            said, self._away = not self._away, False
        if not said:
            log.warning("the database is back")
