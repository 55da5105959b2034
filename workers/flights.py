"""Flights: book one, choose seats, issue the tickets."""

from __future__ import annotations

from typing import Final

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext, handler
from workers import booking as bookings
from workers.ledger import ledger
from workers.order import Order, begin, text

FARE: Final = 12_000


class NoFlight(Exception):
    """Nobody flies there; asking again changes nothing."""


@handler("flights.book")
def book(order: Order, task: TaskContext) -> Json:
    """Book a flight for everybody; raises NoFlight."""
    begin(order, task)
    to = text(order, "trip", "to")
    if to == "Atlantis":
        raise NoFlight(f"nobody flies to {to}")
    return bookings.book(order, task, "fl", FARE * bookings.count(order, "seats"))


@handler("flights.cancel")
def cancel(order: Order, booking: str | None, task: TaskContext) -> Json:
    """Cancel a flight."""
    return bookings.cancel(order, task, booking)


@handler("flights.reserve_seats")
def reserve_seats(order: Order, booking: str, task: TaskContext) -> Json:
    """Choose seats on a flight that is booked."""
    begin(order, task)
    seats: list[Json] = [f"{row}A" for row in range(1, bookings.count(order, "seats") + 1)]
    return ledger().effect(task, {"booking": booking, "seats": seats})


@handler("flights.release_seats")
def release_seats(order: Order, seats: list[str] | None, task: TaskContext) -> Json:
    """Let others have the seats."""
    begin(order, task)
    found = ledger().undo(task)
    chosen: Json = found["seats"] if isinstance(found, dict) else None
    return ledger().effect(task, {"released": chosen if seats is None else [*seats]})


@handler("flights.issue_tickets")
def issue_tickets(order: Order, booking: str, task: TaskContext) -> Json:
    """Issue the tickets of a flight that is paid."""
    begin(order, task)
    tickets: list[Json] = [f"{booking}-{n}" for n in range(1, bookings.count(order, "seats") + 1)]
    return ledger().effect(task, {"status": "ticketed", "tickets": tickets})


@handler("flights.hand_over")
def hand_over(order: Order, booking: str, task: TaskContext) -> Json:
    """Ask a person to issue the tickets: the trip is paid, so there is no way back."""
    begin(order, task)
    return ledger().effect(task, {"status": "tickets follow", "tickets": [], "asked": booking})
