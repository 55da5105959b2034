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


class OrderReleased(Exception):
    """The order has given its items back: nothing is put aside for it any more."""


@handler("inventory.reserve")
def reserve(order: Order, item: Order, task: TaskContext) -> Json:
    """Put one item aside, once per key; raises OutOfStock."""
    begin(order, task)
    sku, quantity = text(item, "sku"), amount(item, "quantity")
    if sku.startswith(GONE):
        raise OutOfStock(f"{sku} is out of stock")
    if ledger().done(task, "inventory.release"):
        raise OrderReleased(f"the order released its items before {sku} was reserved")
    return ledger().effect(task, {"sku": sku, "quantity": quantity})


@handler("inventory.release")
def release(order: Order, task: TaskContext) -> Json:
    """Put back everything that was put aside for this order, which may be nothing."""
    begin(order, task)
    reserved = ledger().done(task, "inventory.reserve")
    return ledger().effect(task, {"released": reserved})
