"""Bookings of a trip, and how they are cancelled.

A trip is an order: `order_id`, `customer {name, email}`, `trip {to, nights, seats, driver_age}`,
`payment {card}`; optional: `answer_within_seconds`, `simulate` as in every order. Nobody flies to
Atlantis, no hotel has a room for more than 28 nights, nobody lends a car to a driver under 21.
"""

from __future__ import annotations

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext
from workers.ledger import ledger
from workers.order import InvalidOrder, Order, begin, text


def count(order: Order, name: str) -> int:
    """A positive whole number of a trip; raises InvalidOrder."""
    trip = order.get("trip")
    found = trip.get(name) if isinstance(trip, dict) else None
    if not isinstance(found, int) or isinstance(found, bool) or found <= 0:
        raise InvalidOrder(f"trip.{name} must be a positive whole number")
    return found


def book(order: Order, task: TaskContext, prefix: str, price: int) -> Json:
    """Book something, once per key; the price is in cents."""
    reference = f"{prefix}_{text(order, 'order_id')}"
    return ledger().effect(task, {"booking": reference, "price": price})


def cancel(order: Order, task: TaskContext, booking: str | None) -> Json:
    """Cancel a booking; without one, whatever was booked under the key of what is undone."""
    begin(order, task)
    found = ledger().undo(task)
    if booking is None and isinstance(found, dict):
        booking = str(found["booking"])
    return ledger().effect(task, {"cancelled": booking})
