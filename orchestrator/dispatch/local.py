"""The embedded mode's side: a bell and a worker inside one process, without any broker."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

import structlog

from orchestrator.dispatch.process import Parts, Process, Role
from orchestrator.dispatch.serving import registered_on
from orchestrator.dispatch.slot import Slot
from orchestrator.dispatch.watch import Watch
from orchestrator.settings import Settings
from orchestrator.store import Claim, WorkerKind

log = structlog.get_logger(__name__)

QUEUE: Final = "local"
"""The one queue of the embedded mode."""
THREADS: Final = 4
"""How many handlers run at once."""
STOP_SECONDS: Final = 30.0
"""How long `stop` waits for the handlers that run."""
STOP_POLL_SECONDS: Final = 0.01


class LocalBell:
    """Wakes the threads of this process; more rings than there are threads say nothing new."""

    def __init__(self, threads: int = THREADS) -> None:
        self._threads = threads
        self._rung = threading.Condition()
        self._pending = 0
        self._closed = False

    def ring(self, queues: Mapping[str, int]) -> None:
        """Wake as many threads as there are tasks."""
        tasks = sum(queues.values())
        if not tasks:
            return
        with self._rung:
            self._pending = min(self._pending + tasks, self._threads)
            self._rung.notify(tasks)

    def hear(self) -> bool:
        """Wait for a ring; False once the bell is closed."""
        with self._rung:
            self._rung.wait_for(lambda: self._pending > 0 or self._closed)
            self._pending = max(0, self._pending - 1)
            return not self._closed

    def close(self) -> None:
        """Let everybody go who waits."""
        with self._rung:
            self._closed = True
            self._rung.notify_all()


class LocalWorker:
    """Threads that run the plain handlers registered in this process."""

    def __init__(
        self,
        parts: Parts,
        bell: LocalBell,
        settings: Settings,
        threads: int = THREADS,
        spent: Callable[[], None] = lambda: None,
    ) -> None:
        """`spent` is called when half of the threads hang: nothing more is claimed."""
        self._bell = bell
        self._spent = spent
        self._stopped = threading.Event()
        self._busy = 0
        self._busy_lock = threading.Lock()
        self._serving = registered_on(QUEUE)
        self._process = Process(
            parts, bell, settings, role=self._role, draining=self._stopped.is_set, hung=self._hung
        )
        self._watch = Watch(
            parts.store,
            self._process.desk.worker,
            bell,
            lambda: self._serving,
            self._free,
            self._process.outage,
            lambda: threads,
        )
        self._threads = [
            threading.Thread(target=self._work, name=f"orchestrator slot {n}", daemon=True)
            for n in range(threads)
        ]

    def start(self) -> None:
        """Announce what is served, and begin."""
        self._serving = registered_on(QUEUE)
        desk = self._process.desk
        self._process.pulse.start()
        desk.store.announce(desk.worker, self._serving.announcements())
        desk.engine.routes.forget()
        for thread in self._threads:
            thread.start()
        self._watch.start()

    def stop(self) -> None:
        """Claim nothing more, and wait a while for the handlers that run."""
        self._stopped.set()
        self._watch.stop()
        self._bell.close()
        until = time.monotonic() + STOP_SECONDS
        started = [thread for thread in self._threads if thread.ident is not None]
        while any(thread.is_alive() for thread in started) and time.monotonic() < until:
            if 0 < self._busy <= self._process.leases.given_up:
                break  # nobody else is left
            time.sleep(STOP_POLL_SECONDS)
        if any(thread.is_alive() for thread in started):
            log.warning("handlers still run; their tasks will be delivered again")
        self._process.end()

    def _role(self) -> Role:
        return Role(WorkerKind.WORKER, len(self._threads), self._serving, self._watch.unhealthy)

    def _hung(self, _claim: Claim, given_up: int) -> None:
        if 2 * given_up >= len(self._threads):
            log.error("half of the slots hang: the worker claims nothing more")
            self._stopped.set()
            self._spent()

    def _free(self) -> int:
        return len(self._threads) - self._busy

    def _work(self) -> None:
        slot = Slot(self._process.desk, self._serving)
        while self._bell.hear():
            self._count(1)
            try:
                slot.work(QUEUE)
            except Exception:  # a message loop: the claim lapses, the thread goes on
                log.exception("a slot failed")
            finally:
                self._count(-1)

    def _count(self, change: int) -> None:
        with self._busy_lock:
            self._busy += change
