"""Fraud reviews: whether somebody should look at an order before it leaves the house."""

from __future__ import annotations

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext, handler
from workers.ledger import ledger
from workers.order import Order, begin, text, trouble


@handler("reviews.screen")
def screen(order: Order, amount: int, task: TaskContext) -> Json:
    """The verdict on an order: cleared, unless its customer is a high risk."""
    begin(order, task)
    customer = order.get("customer")
    risk = customer.get("risk", "low") if isinstance(customer, dict) else "high"
    cleared = risk != "high" and not trouble(order, "reviews.screen").get("decline")
    review = f"rev_{text(order, 'order_id')}"
    return ledger().effect(task, {"review": review, "amount": amount, "cleared": cleared})


@handler("reviews.open")
def open_review(order: Order, task: TaskContext) -> Json:
    """Open the fraud review of an order, once per key."""
    begin(order, task)
    return ledger().effect(task, {"review": task.execution, "is": "open"})


@handler("reviews.close")
def close_review(order: Order, task: TaskContext) -> Json:
    """Close the fraud review of an order, whatever came of it."""
    begin(order, task)
    return ledger().effect(task, {"review": task.execution, "is": "closed"})


@handler("reviews.remind")
def remind(order: Order, task: TaskContext) -> Json:
    """Remind those who should have looked at an order by now."""
    begin(order, task)
    return ledger().effect(task, {"review": task.execution, "reminded": True})


@handler("reviews.escalate")
def escalate(order: Order, task: TaskContext) -> Json:
    """Tell those above them that nobody has looked."""
    begin(order, task)
    return ledger().effect(task, {"review": task.execution, "escalated": True})
