"""The embedded mode's side: a bell and a worker inside one process, without any broker."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Final

import structlog

from orchestrator.dispatch.leases import Leases
from orchestrator.dispatch.outage import Outage
from orchestrator.dispatch.serving import registered_on
from orchestrator.dispatch.slot import Desk, Slice, Slot, claims_of
from orchestrator.dispatch.watch import Watch
from orchestrator.engine import Engine
from orchestrator.liveness import Pulse, process_name
from orchestrator.settings import Settings
from orchestrator.store import Report, Store, WorkerKind

log = structlog.get_logger(__name__)

QUEUE: Final = "local"
"""The one queue of the embedded mode."""
THREADS: Final = 4
"""How many handlers run at once."""
STOP_SECONDS: Final = 30.0
"""How long `stop` waits for the handlers that run."""


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
        store: Store,
        engine: Engine,
        bell: LocalBell,
        settings: Settings,
        threads: int = THREADS,
    ) -> None:
        outage = Outage()
        worker = process_name()
        self._bell = bell
        self._leases = Leases(store, worker, settings.lease_seconds, outage)
        self._desk = Desk(
            worker=worker,
            store=store,
            engine=engine,
            bell=bell,
            leases=self._leases,
            outage=outage,
            claims=claims_of(worker, store),
            slice=Slice(settings.slice_seconds, settings.slice_tasks),
            draining=self._stopping,
        )
        self._stopped = threading.Event()
        self._busy = 0
        self._busy_lock = threading.Lock()
        self._serving = registered_on(QUEUE)
        self._watch = Watch(store, worker, bell, lambda: self._serving, self._free, outage)
        self._pulse = Pulse(store, worker, self._report, outage.began)
        self._threads = [
            threading.Thread(target=self._work, name=f"orchestrator slot {n}", daemon=True)
            for n in range(threads)
        ]

    def start(self) -> None:
        """Announce what is served, and begin."""
        self._serving = registered_on(QUEUE)
        self._pulse.start()
        self._desk.store.announce(self._desk.worker, self._serving.announcements())
        self._desk.engine.routes.forget()
        for thread in self._threads:
            thread.start()
        self._watch.start()

    def stop(self) -> None:
        """Claim nothing more, and wait a while for the handlers that run."""
        self._stopped.set()
        self._watch.stop()
        self._bell.close()
        until = time.monotonic() + STOP_SECONDS
        for thread in [thread for thread in self._threads if thread.ident is not None]:
            thread.join(max(0.0, until - time.monotonic()))
        if any(thread.is_alive() for thread in self._threads):
            log.warning("handlers still run; their tasks will be delivered again")
        self._leases.stop()
        self._pulse.stop()

    def _report(self) -> Report:
        return Report(WorkerKind.WORKER, len(self._threads), serves=self._serving.routes)

    def _stopping(self) -> bool:
        return self._stopped.is_set()

    def _free(self) -> int:
        return len(self._threads) - self._busy

    def _work(self) -> None:
        slot = Slot(self._desk, self._serving)
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
