"""Shipping: book a slot at the packing station, and hand the parcel to the carrier."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext, handler
from workers.ledger import ledger
from workers.order import Order, begin, text


class AddressUnknown(Exception):
    """The carrier does not find the address; asking again changes nothing."""


@handler("shipping.book_slot")
def book_slot(order: Order, task: TaskContext) -> Json:
    """The moment at which a packing slot opens: `packing_seconds` of the order from now."""
    begin(order, task)
    seconds = order.get("packing_seconds", 1)
    wait = timedelta(seconds=seconds if isinstance(seconds, int | float) else 1)
    opens_at = (datetime.now(UTC) + wait).strftime("%Y-%m-%dT%H:%M:%SZ")
    return ledger().effect(task, {"opens_at": opens_at})


@handler("shipping.ship")
def ship(order: Order, task: TaskContext) -> Json:
    """Hand the parcel over, once per key; raises AddressUnknown."""
    begin(order, task)
    city = text(order, "shipping", "city")
    if city == "Atlantis":
        raise AddressUnknown(f"the carrier does not go to {city}")
    order_id = text(order, "order_id")
    return ledger().effect(task, {"tracking": f"TRACK-{order_id}", "city": city})
