"""What the handlers know of an order, and how an order can rehearse trouble.

An order is a JSON object: `order_id`, `customer {name, email, risk}`, `items [{sku, quantity,
price}]`, `payment {card}`, `shipping {city}`. Prices are whole cents.

Optional: `packing_seconds` until a packing slot opens, `answer_within_seconds` for the gateway.

Orders go wrong by nature: a card that ends in 0002 is declined, a customer of high risk is not
cleared, an item whose `sku` begins with GONE is out of stock, nobody ships to Atlantis.
The optional field `simulate` adds trouble, by the name of a handler:

- `{"fail": N}`: its first N attempts fail; `"error"` names the failure (ServiceUnavailable);
- `{"hang": SECONDS}`: it does not answer for so long, nor send heartbeats;
- `{"seconds": SECONDS}`: it takes so long, with heartbeats;
- `{"mute": SECONDS}`: payments.charge has done its work and does not answer for so long;
- `{"decline": true}`: the answer of payments.charge and reviews.screen is no.
"""

from __future__ import annotations

import time
from typing import Final

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskCancelled, TaskContext, TaskError
from workers.ledger import ledger

GLANCE_SECONDS: Final = 0.05
"""How often a handler that waits looks whether it is cancelled."""

Order = dict[str, Json]


class InvalidOrder(Exception):
    """An order that nobody could deliver."""


def text(order: Order, *path: str) -> str:
    """The string at a path of an order; raises InvalidOrder."""
    found: Json = order
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, str) or not found:
        raise InvalidOrder(f"the order has no {'.'.join(path)}")
    return found


def items(order: Order) -> list[Order]:
    """The items of an order, at least one; raises InvalidOrder."""
    found = order.get("items")
    if not isinstance(found, list) or not found:
        raise InvalidOrder("the order has no items")
    checked = [item for item in found if isinstance(item, dict)]
    if len(checked) != len(found):
        raise InvalidOrder("an item is no object")
    return checked


def amount(item: Order, name: str) -> int:
    """A positive whole number of an item; raises InvalidOrder."""
    found = item.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or found <= 0:
        raise InvalidOrder(f"{item.get('sku', 'an item')}: {name} must be a positive whole number")
    return found


def trouble(order: Order, name: str) -> Order:
    """What `simulate` asks of a handler."""
    wanted = order.get("simulate")
    found = wanted.get(name) if isinstance(wanted, dict) else None
    return found if isinstance(found, dict) else {}


def begin(order: Order, task: TaskContext) -> None:
    """Note the run, and go through the trouble that the order rehearses."""
    ledger().note_run(task)
    wanted = trouble(order, task.function_name)
    _wait(wanted.get("seconds"), task, beating=True)
    _wait(wanted.get("hang"), task, beating=False)
    failures = wanted.get("fail")
    if isinstance(failures, int) and task.attempt <= failures:
        error = wanted.get("error")
        raise TaskError(
            error if isinstance(error, str) else "ServiceUnavailable",
            f"{task.function_name} is out of order (attempt {task.attempt})",
        )


def end(order: Order, task: TaskContext) -> None:
    """Go through the trouble of a handler that has done its work."""
    _wait(trouble(order, task.function_name).get("mute"), task, beating=False)


def _wait(seconds: Json, task: TaskContext, *, beating: bool) -> None:
    if not isinstance(seconds, int | float):
        return
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, GLANCE_SECONDS))
        if beating:
            task.heartbeat({"seconds_left": round(max(0.0, left), 1)})
        elif task.cancelled:
            raise TaskCancelled("nobody waits for this any more")
