"""Slots of a pool of threads that begin without a message of their own: one bell for several tasks.

A message costs a worker more than a task that does nothing; a pool of processes can do without
this, since each of its children hears for itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor

import structlog

log = structlog.get_logger(__name__)


class MoreSlots:
    """The threads of a pool; without a pool of threads there are none."""

    def __init__(
        self, executor: Executor | None = None, free: Callable[[], int] = lambda: 0
    ) -> None:
        self._executor = executor
        self._free = free
        self._lock = threading.Lock()
        self.busy = 0
        """How many slots have begun so and still work."""

    def begin(self, work: Callable[[], object], slots: int) -> int:
        """Begin to work in up to so many free threads; how many there were."""
        executor = self._executor
        if executor is None or slots <= 0:
            return 0
        with self._lock:
            begun = max(0, min(slots, self._free()))
            self.busy += begun
        for number in range(begun):
            try:
                executor.submit(self._run, work)
            except RuntimeError:  # the pool is shut down: whoever rang is heard by others
                with self._lock:
                    self.busy -= begun - number
                return number
        return begun

    def _run(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception:  # a message loop: the claim lapses, the thread goes on
            log.exception("a slot failed")
        finally:
            with self._lock:
                self.busy -= 1
