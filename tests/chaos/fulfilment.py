"""Orders for `definitions/order-fulfilment.asl.json`, and what must become of each.

Computed from the input alone, from what the machine is meant to do: nothing here runs a definition.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from orchestrator.asl.document import Json
from orchestrator.service import Orchestrator
from tests.acceptance.checks import check_history
from workers.ledger import Effect, Ledger

ROOT = Path(__file__).resolve().parents[2]
MACHINE = "order-fulfilment"
DEFINITION = ROOT / "definitions" / f"{MACHINE}.asl.json"
CANCELLED = "The order was cancelled; the stock is released and what was charged has been refunded."
RESERVE = "inventory.reserve"
RELEASE = "inventory.release"


class Way(StrEnum):
    """How an order goes."""

    FULFILLED = "fulfilled"
    DECLINED = "declined"
    INVALID = "invalid"
    HICCUP = "hiccup"
    OUT_OF_STOCK = "out of stock"
    UNDELIVERABLE = "undeliverable"


@dataclass(frozen=True, slots=True)
class Expected:
    """What must be there at the end."""

    status: str
    output: Json = None
    error: str | None = None
    cause: str | None = None
    effects: Mapping[str, int] = field(default_factory=dict)
    """By handler, how many keys it acted under; reservations and releases apart."""
    reservations: range = range(1)
    """How many items may have been put aside: a Map that fails cancels what still runs."""
    unplaced: int = 0
    """Releases beyond that at most: of reservations that nobody knows of."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order under its execution's name."""

    name: str
    input: dict[str, Json]
    expected: Expected


def orders(count: int, seed: int, *, busy_seconds: float = 0.0) -> list[Order]:
    """So many orders, every way in turn; `busy_seconds`: how long some handlers take."""
    draw = random.Random(seed)
    ways = tuple(Way)
    made = [_order(f"f{n}", ways[n % len(ways)], draw, busy_seconds) for n in range(count)]
    draw.shuffle(made)
    return made


def _order(name: str, way: Way, draw: random.Random, busy_seconds: float) -> Order:
    items = [] if way is Way.INVALID else _items(draw)
    if way is Way.OUT_OF_STOCK:
        items[draw.randrange(len(items))]["sku"] = "GONE-PLATE"
    trouble: dict[str, Json] = {
        handler: {"seconds": round(draw.uniform(0.5, 1.5) * busy_seconds, 3)}
        for handler in (RESERVE, "payments.charge", "shipping.ship", "notifications.send")
    }
    if way is Way.HICCUP:
        trouble["payments.charge"] = {"fail": 1}
        trouble["shipping.ship"] = {"fail": 1}
    given: dict[str, Json] = {
        "order_id": name,
        "customer": {"name": "Ada Lovelace", "email": f"{name}@example.com"},
        "items": list(items),
        "payment": {"card": "4000-0000-0000-0002" if way is Way.DECLINED else "4242"},
        "shipping": {"city": "Atlantis" if way is Way.UNDELIVERABLE else "London"},
        "packing_seconds": draw.choice([0, 0.5, 1]),
        "simulate": trouble,
    }
    return Order(name, given, _expected(name, items, way))


def _items(draw: random.Random) -> list[dict[str, Json]]:
    return [
        {"sku": f"SKU{n}", "quantity": draw.randint(1, 5), "price": draw.randint(1, 5_000)}
        for n in range(draw.randint(2, 5))
    ]


def _expected(name: str, items: Sequence[dict[str, Json]], way: Way) -> Expected:
    paid = sum(int(str(item["quantity"])) * int(str(item["price"])) for item in items)
    count = len(items)
    every = range(count, count + 1)
    told = Counter({"notifications.send": 1})
    match way:
        case Way.INVALID:
            return Expected("FAILED", None, "InvalidOrder", "the order has no items")
        case Way.OUT_OF_STOCK:
            return Expected("FAILED", None, "OutOfStock", CANCELLED, told, range(count), count)
        case Way.DECLINED:
            return Expected("FAILED", None, "CardDeclined", CANCELLED, told, every)
        case Way.UNDELIVERABLE:
            # The branch that tells of the shipment may have been cancelled, or not.
            effects = told + Counter(
                {"payments.charge": 1, "payments.refund": 1, "shipping.book_slot": 1}
            )
            return Expected("FAILED", None, "AddressUnknown", CANCELLED, effects, every)
        case Way.FULFILLED | Way.HICCUP:
            handlers = ("payments.charge", "shipping.book_slot", "shipping.ship")
            effects = Counter(dict.fromkeys((*handlers, "notifications.send"), 1))
            output: Json = {
                "order_id": name,
                "status": "fulfilled",
                "items": [item["sku"] for item in items],
                "paid": paid,
                "tracking": f"TRACK-{name}",
            }
            return Expected("SUCCEEDED", output, None, None, effects, every)


def check(service: Orchestrator, ledger: Ledger, placed: Sequence[Order]) -> None:
    """Every order ended as its input says, without gaps, verified, each effect once per key."""
    effects = ledger.effects()
    assert len({effect.key for effect in effects}) == len(effects)
    for order in placed:
        address = f"{MACHINE}:{order.name}"
        found = service.describe_execution(address)
        expected, run = order.expected, found.execution
        assert run.status == expected.status, (order, run)
        assert (run.error, run.cause) == (expected.error, expected.cause), order
        assert (None if found.output is None else found.output.value) == expected.output, order
        assert found.frames == ()
        check_history(service.whole_history(address), run.status)
        assert service.operations.verify_execution(address) == (), order
        mine = [effect for effect in effects if effect.execution == address]
        check_effects(order, mine, delivered=run.error is None)


def check_effects(order: Order, effects: Sequence[Effect], *, delivered: bool) -> None:
    """The effects are those of its way; what is not delivered is put back, every item of it."""
    expected = order.expected
    done = Counter(effect.handler for effect in effects)
    reserved, released = done.pop(RESERVE, 0), done.pop(RELEASE, 0)
    assert reserved in expected.reservations, (order, done)
    if delivered:
        assert released == 0, order
    else:
        back = [effect.what for effect in effects if effect.handler == RELEASE]
        given = [one["released"] for one in back if isinstance(one, dict) and one["released"]]
        aside = [effect.what for effect in effects if effect.handler == RESERVE]
        assert sorted(map(str, given)) == sorted(map(str, aside)), (order, effects)
        assert reserved <= released <= reserved + expected.unplaced, (order, effects)
    more = done - Counter(expected.effects)
    assert not Counter(expected.effects) - done, (order, done)
    allowed = {"notifications.send": 1} if expected.error == "AddressUnknown" else {}
    assert not more - Counter(allowed), (order, done)
