"""Inventory: put items of an order aside, and put them back."""

from __future__ import annotations

from typing import Final

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext, handler
from workers.ledger import ledger
from workers.order import Order, amount, begin, text

GONE: Final = "GONE"


class OutOfStock(Exception):
    """There is none left."""


@handler("inventory.reserve")
def reserve(order: Order, item: Order, task: TaskContext) -> Json:
    """Put one item aside, once per key; raises OutOfStock."""
    begin(order, task)
    sku, quantity = text(item, "sku"), amount(item, "quantity")
    if sku.startswith(GONE):
        raise OutOfStock(f"{sku} is out of stock")
    return ledger().effect(task, {"sku": sku, "quantity": quantity})


@handler("inventory.release")
def release(order: Order, item: Order, task: TaskContext) -> Json:
    """Put one item back, if it was put aside: it undoes one run of inventory.reserve."""
    begin(order, task)
    reserved = ledger().undo(task)
    return ledger().effect(task, {"sku": text(item, "sku"), "released": reserved})
