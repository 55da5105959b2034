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

    def __init__(self, waiting: Waiting, pool: Executor, gone: asyncio.Event) -> None:
        self.waiting = waiting
        self._pool = pool
        self._gone = gone

    @property
    def here(self) -> bool:
        """Whether the caller still waits for an answer."""
        return not self._gone.is_set()

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do something that takes a thread: a transaction, no more."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: work(*args, **kwargs))

    async def woken(self, place: Place, until: float) -> bool:
        """Wait to be woken; False when the time has come, or the caller has gone."""
        return await place.wait(until) and self.here
