"""Orders of every kind, and what must become of each, computed from its input alone.

A second reading of `definitions/order-payment.asl.json`, written from what the order machine is
meant to do: nothing here runs a definition.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from orchestrator.asl.document import Json

ROOT = Path(__file__).resolve().parents[2]
MACHINE = "order-payment"
DEFINITION = ROOT / "definitions" / f"{MACHINE}.asl.json"
LARGE = 100_000
CANCELLED = "The order was cancelled; what was charged has been refunded."


class Way(StrEnum):
    """How an order goes."""

    PAID = "paid"
    REVIEWED = "reviewed"
    REFUSED = "refused"
    DECLINED = "declined"
    INVALID = "invalid"
    HICCUP = "hiccup"
    UNDELIVERABLE = "undeliverable"
    SILENT = "silent"
    """The gateway does not answer in time, twice."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What must be there at the end."""

    status: str
    output: Json = None
    error: str | None = None
    cause: str | None = None
    effects: Mapping[str, int] = field(default_factory=dict)
    """By handler: under how many keys it acted on the world."""
    states: tuple[str, ...] = ()
    """The states that are entered, in order."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order under its execution's name."""

    name: str
    way: Way
    input: dict[str, Json]
    expected: Expected


def orders(
    count: int, seed: int, *, busy_seconds: float = 0.0, ways: Sequence[Way] = tuple(Way)
) -> list[Order]:
    """So many orders, every way in turn; `busy_seconds`: how long handlers take."""
    draw = random.Random(seed)
    made = [order(f"o{n}", ways[n % len(ways)], draw, busy_seconds) for n in range(count)]
    draw.shuffle(made)
    return made


def order(name: str, way: Way, draw: random.Random, busy_seconds: float = 0.0) -> Order:
    """One order that goes this way."""
    large = way in {Way.REVIEWED, Way.REFUSED}
    given: dict[str, Json] = {
        "order_id": name,
        "customer": {
            "name": "Ada Lovelace",
            "email": f"{name}@example.com",
            "risk": "high" if way is Way.REFUSED else "low",
        },
        "items": _items(draw, large=large, empty=way is Way.INVALID),
        "payment": {"card": "4000-0000-0000-0002" if way is Way.DECLINED else "4242"},
        "shipping": {"city": "Atlantis" if way is Way.UNDELIVERABLE else "London"},
        "packing_seconds": draw.choice([0, 0.5, 1]),
        "simulate": _trouble(way, draw, busy_seconds),
    }
    if way is Way.SILENT:
        given["answer_within_seconds"] = 1
    return Order(name, way, given, expected(given, way))


def _items(draw: random.Random, *, large: bool, empty: bool) -> Json:
    if empty:
        return []
    scale = LARGE if large else 1
    return [
        {"sku": f"SKU{n}", "quantity": draw.randint(1, 5), "price": scale * draw.randint(1, 5_000)}
        for n in range(draw.randint(1, 3))
    ]


def _trouble(way: Way, draw: random.Random, busy_seconds: float) -> Json:
    handlers = ("payments.charge", "reviews.screen", "shipping.ship", "notifications.send")
    trouble: dict[str, Json] = {}
    if busy_seconds:
        for handler in handlers:
            trouble[handler] = {"seconds": round(draw.uniform(0.5, 1.5) * busy_seconds, 3)}
    if way is Way.HICCUP:
        trouble["payments.charge"] = {"fail": 1}
        trouble["shipping.ship"] = {"fail": 1}
    if way is Way.SILENT:
        trouble["payments.charge"] = {"hang": 60}
    return trouble


def expected(given: Mapping[str, Json], way: Way) -> Expected:
    """What becomes of an order."""
    name = str(given["order_id"])
    amount = _amount(given["items"])
    entered = ["ValidateOrder"]
    if way is Way.INVALID:
        cause = "the order has no items"
        return Expected("FAILED", None, "InvalidOrder", cause, {}, (*entered, "OrderRejected"))
    entered.append("ChargeCard")
    if way is Way.DECLINED:
        cause = "the bank declined the card that ends in 0002"
        entered += ["NotifyDeclined", "PaymentDeclined"]
        effects = {"notifications.send": 1}
        return Expected("FAILED", None, "CardDeclined", cause, effects, tuple(entered))
    if way is Way.SILENT:
        return _cancelled("States.Timeout", Counter(), entered)
    effects = Counter({"payments.charge": 1})
    entered.append("IsLarge")
    if amount >= LARGE:
        effects["reviews.screen"] = 1
        entered += ["ScreenForFraud", "IsCleared"]
        if way is Way.REFUSED:
            return _cancelled("ReviewRefused", effects, [*entered, "ReviewRefused"])
    effects["shipping.book_slot"] = 1
    entered += ["BookPackingSlot", "WaitForPackingSlot", "ShipParcel"]
    if way is Way.UNDELIVERABLE:
        return _cancelled("AddressUnknown", effects, entered)
    effects += Counter({"shipping.ship": 1, "notifications.send": 1})
    output: Json = {
        "order_id": name,
        "status": "shipped",
        "paid": amount,
        "tracking": f"TRACK-{name}",
    }
    entered += ["NotifyShipped", "OrderShipped"]
    return Expected("SUCCEEDED", output, None, None, effects, tuple(entered))


def _cancelled(error: str, effects: Counter[str], entered: list[str]) -> Expected:
    effects += Counter({"payments.refund": 1, "notifications.send": 1})
    entered = [*entered, "RefundPayment", "NotifyCancelled", "OrderCancelled"]
    return Expected("FAILED", None, error, CANCELLED, effects, tuple(entered))


def _amount(items: Json) -> int:
    total = 0
    for item in items if isinstance(items, list) else []:
        assert isinstance(item, dict)
        quantity, price = item["quantity"], item["price"]
        assert isinstance(quantity, int)
        assert isinstance(price, int)
        total += quantity * price
    return total
