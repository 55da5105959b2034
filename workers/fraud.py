"""Fraud screening: what a machine thinks of an order before a person looks at it."""

from __future__ import annotations

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext, handler
from workers.ledger import ledger
from workers.order import Order, begin


@handler("fraud.screen")
def screen(order: Order, task: TaskContext) -> Json:
    """A score from 0 to 100, once per key."""
    begin(order, task)
    customer = order.get("customer")
    risk = customer.get("risk", "low") if isinstance(customer, dict) else "low"
    return ledger().effect(task, {"score": 90 if risk == "high" else 10})
