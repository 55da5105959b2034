"""A request while it is served: whether its caller is still there, and where it may wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import ParamSpec, TypeVar

from orchestrator.api.waiting import Place, Waiting

P = ParamSpec("P")
R = TypeVar("R")


class Presence:
    """What a method that waits has at hand."""

    def __init__(self, waiting: Waiting, pool: Executor) -> None:
        self.waiting = waiting
        self._pool = pool
        self._gone = False
        self._place: Place | None = None

    def is_here(self) -> bool:
        """Whether the caller still waits for an answer, and the door is open."""
        return not self._gone and not self.waiting.closed

    def leave(self) -> None:
        """Note that the caller has gone: nothing is waited for any more."""
        self._gone = True
        if self._place is not None:
            self._place.wake()

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do something that takes a thread: a transaction, no more."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: work(*args, **kwargs))

    async def woken(self, place: Place, until: float) -> bool:
        """Wait to be woken; False when the time has come, or nobody waits for it any more."""
        self._place = place
        return self.is_here() and await place.wait(until) and self.is_here()
