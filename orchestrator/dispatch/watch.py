"""A worker's own look-out: announces what it serves, rings for itself when tasks wait unheard."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

import structlog

from orchestrator.dispatch.serving import Serving
from orchestrator.engine import Bell
from orchestrator.outage import Outage
from orchestrator.store import ReadyQueue, Store, StoreUnavailable

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 1.0
"""How often a worker looks for ready tasks by itself: one statement."""
ANNOUNCE_SECONDS: Final = 5.0
"""How often it repeats what it serves."""
GRACE_SECONDS: Final = 1.0
"""Tasks that became ready later than this have a bell of their own under way."""
LONG_SECONDS: Final = 30.0
"""How long a task may wait for a worker that is idle."""
IDLE_SECONDS: Final = 5.0
"""How long a worker must have been idle before it asks what is wrong with it."""


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
        slots: Callable[[], int] = lambda: 1,
    ) -> None:
        self._store = store
        self._worker = worker
        self._bell = bell
        self._serving = serving
        self._free_slots = free_slots
        self._outage = outage
        self._slots = slots
        self._idle_since: float | None = None
        self.unhealthy: str | None = None
        """What is wrong: tasks wait that this worker serves, and it does nothing."""
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
        asked_at = time.monotonic()
        serving = self._serving()
        if time.monotonic() - self._announced_at >= ANNOUNCE_SECONDS:
            self._store.announce(self._worker, serving.announcements())
            self._announced_at = time.monotonic()
            self._outage.passed(asked_at)
        free = self._free_slots()
        if free > 0:
            waiting = self._store.ready(self._grace_seconds)
            self._outage.passed(asked_at)
            ready = {
                one.queue: min(one.rows, free) for one in waiting if one.queue in serving.queues
            }
            if ready:
                self._bell.ring(ready)
            self._judge(free, serving, waiting)
        else:
            self._judge(free, serving, ())
        self._grace_seconds = GRACE_SECONDS

    def _judge(self, free: int, serving: Serving, waiting: Sequence[ReadyQueue]) -> None:
        """Say once that the worker is unhealthy, and once that it is well again."""
        ill = self._is_ill(free, serving, waiting)
        if ill and self.unhealthy is None:
            self.unhealthy = f"idle, though tasks have waited for more than {LONG_SECONDS:.0f} s"
            log.error("this worker is unhealthy", reason=self.unhealthy, worker=self._worker)
        elif not ill and self.unhealthy is not None:
            self.unhealthy = None
            log.warning("this worker is well again", worker=self._worker)

    def _is_ill(self, free: int, serving: Serving, waiting: Sequence[ReadyQueue]) -> bool:
        now = time.monotonic()
        if free < self._slots():
            self._idle_since = None
            return False
        self._idle_since = since = self._idle_since or now
        if now - since < IDLE_SECONDS:
            return False
        long_ago = self._store.now() - timedelta(seconds=LONG_SECONDS)
        queues = [
            one.queue
            for one in waiting
            if one.queue in serving.queues and one.oldest_ready_at < long_ago
        ]
        return bool(queues) and self._store.waits_long(queues, serving.resources, LONG_SECONDS)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.look()
            except StoreUnavailable as away:
                self._outage.failed(away)
            except Exception:  # a message loop: logged, and the next look goes on
                log.exception("a worker could not look for its tasks")
            self._stopping.wait(LOOK_SECONDS)
