"""Threads that want the same kind of thing done at the same time have it done at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(slots=True, eq=False)
class _Ticket(Generic[Item, Answer]):
    item: Item
    answers: list[Answer]
    error: BaseException | None = None

    @property
    def settled(self) -> bool:
        return bool(self.answers) or self.error is not None


class Group(Generic[Item, Answer]):
    """Whoever comes first does the work of all who wait; those who come meanwhile form the next.

    A thread alone pays nothing for it. `work` takes a list of items and answers in their order;
    what it raises, each of them gets.
    """

    def __init__(self, work: Callable[[list[Item]], list[Answer]], most: int) -> None:
        """`most` items are worked on at once."""
        self._work = work
        self._most = most
        self._waiting: list[_Ticket[Item, Answer]] = []
        self._queue = threading.Lock()
        self._turn = threading.Lock()

    def do(self, item: Item) -> Answer:
        """Have the item worked on, with others, and return its answer."""
        ticket: _Ticket[Item, Answer] = _Ticket(item, [])
        with self._queue:
            self._waiting.append(ticket)
        while not ticket.settled:
            with self._turn:
                if not ticket.settled:
                    self._settle_some()
        if ticket.error is not None:
            raise ticket.error
        return ticket.answers[0]

    def _settle_some(self) -> None:
        with self._queue:
            taken, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        try:
            answers = self._work([ticket.item for ticket in taken])
        except BaseException as error:
            for ticket in taken:
                ticket.error = error
            if not isinstance(error, Exception):
                raise
            return
        for ticket, answer in zip(taken, answers, strict=True):
            ticket.answers.append(answer)
