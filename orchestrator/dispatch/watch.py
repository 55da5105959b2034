"""A worker's own look-out: announces what it serves, rings for itself when tasks wait unheard."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

import structlog

from orchestrator.dispatch.outage import Outage
from orchestrator.dispatch.serving import Serving
from orchestrator.engine import Bell
from orchestrator.store import Store, StoreUnavailable

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 1.0
"""How often a worker looks for ready tasks by itself: one statement."""
ANNOUNCE_SECONDS: Final = 5.0
"""How often it repeats what it serves."""
GRACE_SECONDS: Final = 1.0
"""Tasks that became ready later than this have a bell of their own under way."""


class Watch:
    """One thread per worker. Without a free slot it needs no bell: its slots go on."""

    def __init__(
        self,
        store: Store,
        worker: str,
        bell: Bell,
        serving: Callable[[], Serving],
        free_slots: Callable[[], int],
        outage: Outage,
    ) -> None:
        self._store = store
        self._worker = worker
        self._bell = bell
        self._serving = serving
        self._free_slots = free_slots
        self._outage = outage
        self._announced_at = -ANNOUNCE_SECONDS
        self._grace_seconds = 0.0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="orchestrator watch", daemon=True)

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """End after the look that is under way."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def look(self) -> None:
        """Announce if it is time, then ring for tasks that wait while slots are free."""
        serving = self._serving()
        if time.monotonic() - self._announced_at >= ANNOUNCE_SECONDS:
            self._store.announce(self._worker, serving.announcements())
            self._announced_at = time.monotonic()
            self._outage.ended()
        free = self._free_slots()
        if free > 0:
            waiting = self._store.ready(self._grace_seconds)
            self._outage.ended()
            ready = {
                one.queue: min(one.rows, free) for one in waiting if one.queue in serving.queues
            }
            if ready:
                self._bell.ring(ready)
        self._grace_seconds = GRACE_SECONDS

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.look()
            except StoreUnavailable as away:
                self._outage.began(away)
            except Exception:  # a message loop: logged, and the next look goes on
                log.exception("a worker could not look for its tasks")
            self._stopping.wait(LOOK_SECONDS)
