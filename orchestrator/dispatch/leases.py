"""Renews the leases of the claims that run here, and tells handlers whose claim is gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import structlog

from orchestrator.dispatch.outage import Outage
from orchestrator.store import Claim, Store, StoreUnavailable

log = structlog.get_logger(__name__)

RENEWALS_PER_LEASE: Final = 3
OUTAGE_SECONDS: Final = 1.0
"""How soon a renewal is tried again while the database is away."""


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    claim: Claim
    lost: threading.Event = field(default_factory=threading.Event)
    since: float = field(default_factory=time.monotonic)


class Leases:
    """The claims on this process's stacks; one thread renews them with one statement at a time."""

    def __init__(self, store: Store, worker: str, lease_seconds: float, outage: Outage) -> None:
        self._store = store
        self._worker = worker
        self._pause_seconds = lease_seconds / RENEWALS_PER_LEASE
        self._outage = outage
        self._held: dict[tuple[int, str, str], _Held] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def held(self, claim: Claim) -> Iterator[threading.Event]:
        """Renew a claim while the block runs; the event is set once it is known to be lost."""
        held = _Held(claim)
        key = (claim.execution, claim.frame, claim.token)
        with self._lock:
            self._held[key] = held
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._renew_all, name="orchestrator leases", daemon=True
                )
                self._thread.start()
        try:
            yield held.lost
        finally:
            with self._lock:
                del self._held[key]

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _renew_all(self) -> None:
        pause = self._pause_seconds
        while not self._stopping.wait(pause):
            try:
                self._renew()
            except StoreUnavailable as away:
                self._outage.began(away)
                pause = min(self._pause_seconds, OUTAGE_SECONDS)
            except Exception:  # a message loop: without it all leases of the process would lapse
                log.exception("leases could not be renewed")
                pause = min(self._pause_seconds, OUTAGE_SECONDS)
            else:
                pause = self._pause_seconds

    def _renew(self) -> None:
        old_enough = time.monotonic() - self._pause_seconds / 2
        with self._lock:
            running = [held for held in self._held.values() if held.since <= old_enough]
        if not running:
            return
        lost = self._store.renew(self._worker, [held.claim for held in running])
        self._outage.ended()
        for held in running:
            if held.claim in lost:
                log.warning(
                    "a claim is gone while its handler runs; the result will be refused",
                    execution=held.claim.execution,
                    resource=held.claim.resource,
                    key=held.claim.key,
                )
                held.lost.set()
