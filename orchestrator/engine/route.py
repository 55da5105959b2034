"""Which queue serves a resource, as the workers have announced it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

from orchestrator.store import Store

ROUTES_SECONDS: Final = 5.0
"""How long a process trusts what it has read of who serves what."""


class Routes:
    """The announced queues, read again every few seconds when they are asked for."""

    def __init__(self, store: Store, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._monotonic = monotonic
        self._queues: Mapping[str, str] = {}
        self._read_at = -ROUTES_SECONDS

    def queue(self, resource: str) -> str | None:
        """The queue of a resource; None while no worker serves it."""
        if self._monotonic() - self._read_at >= ROUTES_SECONDS:
            self._queues = self._store.routes()
            self._read_at = self._monotonic()
        return self._queues.get(resource)

    def forget(self) -> None:
        """Read again at the next look-up."""
        self._read_at = -ROUTES_SECONDS
