"""Notifications: tell the customer."""

from __future__ import annotations

from typing import Final

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext, handler
from workers.ledger import ledger
from workers.order import Order, begin, text

SUBJECTS: Final = {
    "shipped": "Your order {order_id} is on its way",
    "declined": "Your card was declined, order {order_id} was not placed",
    "cancelled": "Your order {order_id} was cancelled and nothing is owed",
}


class UnknownTemplate(Exception):
    """There is no such message."""


@handler("notifications.send")
def send(order: Order, template: str, task: TaskContext) -> Json:
    """Send a message, once per key."""
    begin(order, task)
    if template not in SUBJECTS:
        raise UnknownTemplate(f"there is no message {template!r}")
    subject = SUBJECTS[template].format(order_id=text(order, "order_id"))
    return ledger().effect(task, {"to": text(order, "customer", "email"), "subject": subject})
