"""Requests that want the same kind of thing at the same time have it done at once, by one thread.

The event loop hands a thread all that has come since the last hand-over: what each request would
pay for a thread, a lock and a transaction of its own, they pay together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor
from typing import Final, Generic, TypeAlias, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

PATIENCE_SECONDS: Final = 0.01
"""How long few wait for more to come while many are being worked on."""

GATHER_SECONDS: Final = 0.002
"""How long few wait for as many as have just come together."""

_Ticket: TypeAlias = "tuple[Item, asyncio.Future[Answer]]"


class Gathering(Generic[Item, Answer]):
    """Lives in one event loop; `work` answers in the order of its items, an error for its item.

    What `work` raises, all of them get. Requests are handed over once they are as many as those
    that are being worked on, and as those that came together last, or have waited for a moment: so
    all lanes are in use, each for many, who comes alone waits for nobody, and what is slow holds
    up nobody for long.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Answer | Exception]],
        pool: Executor,
        *,
        lanes: int,
        most: int,
        concerns: Callable[[Item], Hashable] = id,
    ) -> None:
        """So many `lanes` of the pool are used at the same time, for at most `most` items each.

        What `concerns` the same is in one lane at a time: the others stay free of what is stuck.
        """
        self._work = work
        self._pool = pool
        self._free = lanes
        self._most = most
        self._concerns = concerns
        self._concerned: set[Hashable] = set()
        self._waiting: list[_Ticket[Item, Answer]] = []
        self._at_work = 0
        self._unsettled: set[asyncio.Future[Answer]] = set()
        self._expected = 0
        self._due: asyncio.Handle | None = None
        self._is_soon = False

    async def do(self, item: Item) -> Answer:
        """Have an item worked on, with others, and return its answer or raise its error."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()
        self._waiting.append((item, answer))
        self._arrange(loop)
        return await answer

    def _arrange(self, loop: asyncio.AbstractEventLoop) -> None:
        """See to it that those who wait are handed over, if there is a lane for them."""
        if not self._free or not self._waiting or self._is_soon:
            return
        self._is_soon = len(self._waiting) >= max(self._at_work, self._expected)
        if self._is_soon:
            if self._due is not None:
                self._due.cancel()
            # Not at once: the requests that are there already are read first.
            self._due = loop.call_soon(self._hand_over, loop)
        elif self._due is None:
            patience = PATIENCE_SECONDS if self._at_work else GATHER_SECONDS
            self._due = loop.call_later(patience, self._hand_over, loop)

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        self._due, self._is_soon = None, False
        if not self._free:
            return  # who comes free arranges for those who wait
        taken = self._next()
        if not taken:
            return
        self._free -= 1
        self._at_work += len(taken)
        self._expected = max(len(taken), self._expected // 2)

        def work() -> None:
            answers: Sequence[Answer | Exception]
            try:
                answers = self._work([item for item, _ in taken])
            except Exception as error:  # noqa: BLE001  # it is raised again, for each of them
                answers = [error] * len(taken)
            loop.call_soon_threadsafe(self._settle, loop, taken, answers)

        self._pool.submit(work)
        self._arrange(loop)

    def _next(self) -> list[_Ticket[Item, Answer]]:
        """Take those out of the queue who are next, but for what is being worked on."""
        taken: list[_Ticket[Item, Answer]] = []
        left: list[_Ticket[Item, Answer]] = []
        for ticket in self._waiting:
            blocked = len(taken) >= self._most or self._concerns(ticket[0]) in self._concerned
            (left if blocked else taken).append(ticket)
        self._waiting = left
        self._concerned |= {self._concerns(item) for item, _ in taken}
        self._unsettled |= {future for _, future in taken}
        return taken

    def give_up(self, error: Exception) -> None:
        """Tell all who still wait that they will hear no answer here; what is at work goes on."""
        waiting, self._waiting = self._waiting, []
        for future in [*self._unsettled, *(future for _, future in waiting)]:
            if not future.done():
                future.set_exception(error)

    def _settle(
        self,
        loop: asyncio.AbstractEventLoop,
        taken: Sequence[_Ticket[Item, Answer]],
        answers: Sequence[Answer | Exception],
    ) -> None:
        self._free += 1
        self._at_work -= len(taken)
        self._concerned -= {self._concerns(item) for item, _ in taken}
        self._unsettled -= {future for _, future in taken}
        for (_, future), answer in zip(taken, answers, strict=True):
            if future.done():  # whoever asked has gone
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)
        self._arrange(loop)
