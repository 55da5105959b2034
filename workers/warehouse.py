"""The warehouse: hears of orders that will leave the house."""

from __future__ import annotations

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext, handler
from workers.ledger import ledger
from workers.order import Order, begin


@handler("warehouse.announce")
def announce(order: Order, task: TaskContext) -> Json:
    """Announce an order that is paid, once per key."""
    begin(order, task)
    return ledger().effect(task, {"announced": task.execution})
