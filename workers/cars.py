"""Cars: book one, cancel it."""

from __future__ import annotations

from typing import Final

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext, handler
from workers import booking as bookings
from workers.order import Order, begin

RATE: Final = 3_500
YOUNGEST_DRIVER: Final = 21


class NoCar(Exception):
    """Nobody lends a car to this driver."""


@handler("cars.book")
def book(order: Order, task: TaskContext) -> Json:
    """Book a car for all days; raises NoCar."""
    begin(order, task)
    age = bookings.count(order, "driver_age")
    if age < YOUNGEST_DRIVER:
        raise NoCar(f"nobody lends a car to a driver of {age} years")
    return bookings.book(order, task, "ca", RATE * bookings.count(order, "nights"))


@handler("cars.cancel")
def cancel(order: Order, booking: str | None, task: TaskContext) -> Json:
    """Cancel a car."""
    return bookings.cancel(order, task, booking)
