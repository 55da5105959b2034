"""Hotels: book a room, cancel it."""

from __future__ import annotations

from typing import Final

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext, handler
from workers import booking as bookings
from workers.order import Order, begin

RATE: Final = 9_000
LONGEST_STAY: Final = 28


class NoRoom(Exception):
    """No hotel has a room for so long."""


@handler("hotels.book")
def book(order: Order, task: TaskContext) -> Json:
    """Book a room for all nights; raises NoRoom."""
    begin(order, task)
    nights = bookings.count(order, "nights")
    if nights > LONGEST_STAY:
        raise NoRoom(f"no hotel has a room for {nights} nights")
    return bookings.book(order, task, "ho", RATE * nights)


@handler("hotels.cancel")
def cancel(order: Order, booking: str | None, task: TaskContext) -> Json:
    """Cancel a room."""
    return bookings.cancel(order, task, booking)
