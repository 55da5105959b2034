"""Threads that want the same kind of thing done at the same time have it done at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class _Ticket(Generic[Item, Answer]):
    """An item, and the thread that waits for its answer or to be appointed."""

    __slots__ = ("_bell", "answers", "error", "item")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.answers: list[Answer] = []
        self.error: BaseException | None = None
        self._bell = threading.Lock()
        self._bell.acquire()

    @property
    def settled(self) -> bool:
        return bool(self.answers) or self.error is not None

    def wait(self) -> None:
        self._bell.acquire()

    def wake(self) -> None:
        self._bell.release()


class Group(Generic[Item, Answer]):
    """Whoever comes first does the work of all who wait; those who come meanwhile form the next.

    A thread alone pays nothing for it. `work` takes a list of items and answers in their order;
    what it raises, each of them gets. The one who has worked appoints the next, so that nobody
    who is answered stands in a queue, and groups grow with the number of threads.
    """

    def __init__(
        self,
        work: Callable[[list[Item]], list[Answer]],
        most: int,
        gather_seconds: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`most` items are worked on at once; who leads waits so long for others to come."""
        self._work = work
        self._gather_seconds = gather_seconds
        self._most = most
        self._waiting: list[_Ticket[Item, Answer]] = []
        self._busy = False
        self._lock = threading.Lock()

    def do(self, item: Item) -> Answer:
        """Have the item worked on, with others, and return its answer."""
        ticket: _Ticket[Item, Answer] = _Ticket(item)
        with self._lock:
            self._waiting.append(ticket)
            leads, self._busy = not self._busy, True
        if not leads:
            ticket.wait()
        if not ticket.settled:
            self._lead(ticket)
        if ticket.error is not None:
            raise ticket.error
        return ticket.answers[0]

    def _lead(self, leader: _Ticket[Item, Answer]) -> None:
        gather_seconds = self._gather_seconds()
        if gather_seconds:
            time.sleep(gather_seconds)
        with self._lock:
            taken, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        try:
            answers = self._work([ticket.item for ticket in taken])
            for ticket, answer in zip(taken, answers, strict=True):
                ticket.answers.append(answer)
        except BaseException as error:  # noqa: BLE001  # it is raised again, for each of them
            for ticket in taken:
                ticket.error = error
        with self._lock:
            self._busy = bool(self._waiting)
            if self._waiting:
                self._waiting[0].wake()
        for ticket in taken:
            if ticket is not leader:
                ticket.wake()
