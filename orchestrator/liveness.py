"""Floor 4: how a process shows that it lives, and how long it calls nobody else lost.

Knows the store's lifelines and a clock; neither what a worker does nor who looks for the dead.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from typing import Final

import structlog

from orchestrator.store import Lifeline, Report, Store, StoreUnavailable, TooManyWriters

log = structlog.get_logger(__name__)

BEAT_SECONDS: Final = 1.0
"""How often a process says that it lives."""
BEATS_TRUSTED_SECONDS: Final = 5.0
"""How long after trouble with the database everybody has to be heard of again."""


def process_name() -> str:
    """A name for this process that no other process has or had."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


class Pulse:
    """One thread of a process, which beats as long as the process lives."""

    def __init__(
        self,
        store: Store,
        process: str,
        report: Callable[[], Report],
        failed: Callable[[StoreUnavailable], None] = lambda _reason: None,
    ) -> None:
        self.process = process
        self._store = store
        self._report = report
        self._failed = failed
        self._lifeline: Lifeline | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="orchestrator pulse", daemon=True)

    def start(self) -> None:
        """Beat for the first time, then go on in a thread; raises TooManyWriters."""
        self._beat(TooManyWriters)
        self._thread.start()

    def stop(self) -> None:
        """Say that the process ends in order."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        try:
            if self._lifeline is not None:
                self._lifeline.end()
        except StoreUnavailable as reason:
            self._failed(reason)
        except TooManyWriters:
            return  # its start was refused for that, aloud: there is no row to take away

    def _run(self) -> None:
        while not self._stopping.wait(BEAT_SECONDS):
            self._beat()

    def _beat(self, *refusals: type[Exception]) -> None:
        try:
            if self._lifeline is None:
                self._lifeline = self._store.lifeline(self.process)
            self._lifeline.beat(self._report())
        except StoreUnavailable as reason:
            self._failed(reason)
        except refusals:
            raise
        except Exception:  # a message loop: the next beat goes on
            log.exception("a process could not say that it lives", process=self.process)


class Patience:
    """How long nobody is called lost: after a start, and after trouble with the database.

    Whoever has been away may have been so together with those whom it would call lost.
    """

    def __init__(self) -> None:
        self._since = time.monotonic()

    def renew(self) -> None:
        """Note that there was trouble."""
        self._since = time.monotonic()

    def lasts(self, seconds: float) -> bool:
        """Whether the trouble is no longer ago than that."""
        return time.monotonic() - self._since < seconds
