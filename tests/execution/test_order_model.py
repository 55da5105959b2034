"""Messages in any order, late and doubled, against the order's table as a model."""

from __future__ import annotations

import random

import pytest

from tests.conftest import ROOT
from tests.execution.harness import World
from tests.execution.outcomes import Call, Outcome, Returned

ORDER = (ROOT / "definitions" / "order.asl.json").read_text()
REVIEW = "the fraud review is not finished"

MODEL: dict[tuple[str, str], tuple[str, str | None]] = {
    ("Pending", "pay"): ("OnHold", None),
    ("Pending", "cleared"): ("OnHold", None),
    ("Pending", "ship"): ("Pending", "pay first"),
    ("Pending", "cancel"): ("Cancelled", None),
    ("OnHold", "pay"): ("OnHold", REVIEW),
    ("OnHold", "cleared"): ("Paid", None),
    ("OnHold", "ship"): ("OnHold", REVIEW),
    ("OnHold", "cancel"): ("Cancelled", None),
    ("Paid", "pay"): ("Paid", "already paid"),
    ("Paid", "cleared"): ("Paid", "already paid"),
    ("Paid", "ship"): ("Shipped", None),
    ("Paid", "cancel"): ("Cancelled", None),
    ("Shipped", "pay"): ("Shipped", "already paid"),
    ("Shipped", "cleared"): ("Shipped", "already paid"),
    ("Shipped", "ship"): ("Shipped", "already shipped"),
    ("Shipped", "cancel"): ("Shipped", "too late, start a return"),
    **{
        ("Cancelled", message): ("Cancelled", "order is cancelled")
        for message in ("pay", "cleared", "ship", "cancel")
    },
}
SIX = ("pay", "cleared", "ship", "cancel", "pay", "ship")


def handler(call: Call) -> Outcome:
    return Returned({"score": 1} if call.resource == "celery:fraud.screen" else None)


@pytest.mark.parametrize("seed", range(60))
def test_any_order_of_messages_ends_as_the_table_says(seed: int) -> None:
    chance = random.Random(seed)
    messages = [(f"m{n}", message) for n, message in enumerate(SIX)]
    doubled = [*messages, *chance.sample(messages, 3)]
    chance.shuffle(doubled)
    world = World(ORDER, handler=handler).start({"order_id": "1"})
    state, reasons = "Pending", dict[str, str | None]()
    for number, message in doubled:
        if number in reasons:
            continue  # the record answers, nobody decides: see the tests of the store
        name = "pay" if message == "cleared" else message
        said = world.call(name, {"cleared": message == "cleared"}, number)
        state, reasons[number] = MODEL[state, message]
        assert said.get("reason") == reasons[number], (state, message)
        world.wait(0.001)
    root = world.frames.get("")
    assert (root.state if root else world.execution.final_state) == state
    world.wait(60)
    done = [call.resource.removeprefix("celery:") for call in world.calls]
    assert done.count("payments.refund") == _refunds(world)
    assert done.count("reviews.open") == done.count("reviews.close") + (state == "OnHold")


def _refunds(world: World) -> int:
    """Paid orders that were cancelled are refunded, once."""
    entered = [e.details["name"] for e in world.history if e.type == "AwaitStateEntered"]
    return int("Paid" in entered and world.execution.final_state == "Cancelled")
