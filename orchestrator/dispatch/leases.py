"""Renews the leases of the claims that run here, and tells handlers whose claim is gone."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import structlog

from orchestrator.outage import Outage
from orchestrator.store import Claim, Store, StoreUnavailable

log = structlog.get_logger(__name__)

RENEWALS_PER_LEASE: Final = 3
OUTAGE_SECONDS: Final = 1.0
"""How soon a renewal is tried again while the database is away."""


@dataclass(slots=True, eq=False)
class _Held:
    claim: Claim
    over_at: float
    """When its attempt is over, by the monotonic clock: at its time limit, or when it is lost."""
    lost: threading.Event = field(default_factory=threading.Event)
    since: float = field(default_factory=time.monotonic)
    hangs: bool = False


def _over_at(claim: Claim) -> float:
    limit = claim.timeout_at
    if limit is None:
        return math.inf
    return time.monotonic() + (limit - claim.claimed_at).total_seconds()


class Leases:
    """The claims on this process's stacks; one thread renews them with one statement at a time."""

    def __init__(
        self,
        store: Store,
        worker: str,
        lease_seconds: float,
        outage: Outage,
        *,
        hung_seconds: float,
        hung: Callable[[Claim, int], None],
    ) -> None:
        """`hung` hears of a handler that goes on so long after its attempt was over.

        And of how many do so now.
        """
        self._hung_seconds = hung_seconds
        self._hung = hung
        self._store = store
        self._worker = worker
        self._pause_seconds = lease_seconds / RENEWALS_PER_LEASE
        self._outage = outage
        self._held: set[_Held] = set()
        """Not by task: one that was lost may be claimed here anew while it still runs here."""
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def held(self, claim: Claim) -> Iterator[threading.Event]:
        """Renew a claim while the block runs; the event is set once it is known to be lost."""
        held = _Held(claim, _over_at(claim))
        with self._lock:
            self._held.add(held)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._renew_all, name="orchestrator leases", daemon=True
                )
                self._thread.start()
        try:
            yield held.lost
        finally:
            with self._lock:
                self._held.remove(held)

    @property
    def running(self) -> int:
        """How many handlers run."""
        return len(self._held)

    @property
    def given_up(self) -> int:
        """How many of them hang."""
        with self._lock:
            return sum(held.hangs for held in self._held)

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
                self._outage.failed(away)
                pause = min(self._pause_seconds, OUTAGE_SECONDS)
            except Exception:  # a message loop: without it all leases of the process would lapse
                log.exception("leases could not be renewed")
                pause = min(self._pause_seconds, OUTAGE_SECONDS)
            else:
                pause = self._pause_seconds
            self._give_up()

    def _give_up(self) -> None:
        now = time.monotonic()
        with self._lock:
            late = [
                held
                for held in self._held
                if not held.hangs and now > held.over_at + self._hung_seconds
            ]
        for held in late:
            held.hangs = True
            held.lost.set()
            log.error(
                "a handler hangs: its attempt was over long ago",
                execution=held.claim.execution,
                resource=held.claim.resource,
                key=held.claim.key,
            )
            self._hung(held.claim, self.given_up)

    def _renew(self) -> None:
        old_enough = time.monotonic() - self._pause_seconds / 2
        with self._lock:
            running = [held for held in self._held if held.since <= old_enough]
        if not running:
            return
        asked_at = time.monotonic()
        lost = self._store.renew(self._worker, [held.claim for held in running])
        self._outage.passed(asked_at)
        for held in running:
            if held.claim in lost and not held.lost.is_set():
                log.warning(
                    "a claim is gone while its handler runs; the result will be refused",
                    execution=held.claim.execution,
                    resource=held.claim.resource,
                    key=held.claim.key,
                )
                held.over_at = min(held.over_at, time.monotonic())
                held.lost.set()
