"""Payments: check and price an order, charge the card, give the money back."""

from __future__ import annotations

from typing import Final

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext, handler
from workers.ledger import ledger
from workers.order import InvalidOrder, Order, amount, begin, end, items, text, trouble

DECLINED_CARD: Final = "0002"
PATIENCE_SECONDS: Final = 60
"""How long the payment gateway may take to answer."""


class CardDeclined(Exception):
    """The bank says no; asking again changes nothing."""


@handler("payments.validate")
def validate(order: Order, task: TaskContext) -> Json:
    """The total of an order in cents, and how long to wait for the bank; raises InvalidOrder."""
    begin(order, task)
    text(order, "order_id")
    text(order, "customer", "email")
    text(order, "payment", "card")
    total = sum(amount(item, "quantity") * amount(item, "price") for item in items(order))
    within = order.get("answer_within_seconds", PATIENCE_SECONDS)
    if not isinstance(within, int) or isinstance(within, bool) or within <= 0:
        raise InvalidOrder("answer_within_seconds must be a positive whole number")
    return {"amount": total, "currency": "EUR", "answer_within_seconds": within}


@handler("payments.charge")
def charge(order: Order, amount: int, task: TaskContext) -> Json:
    """Take the money, once per key; raises CardDeclined."""
    begin(order, task)
    card = text(order, "payment", "card")
    if card.endswith(DECLINED_CARD) or trouble(order, "payments.charge").get("decline"):
        raise CardDeclined(f"the bank declined the card that ends in {card[-4:]}")
    order_id = text(order, "order_id")
    charged = ledger().effect(task, {"charge": f"ch_{order_id}", "amount": amount})
    end(order, task)
    return charged


@handler("payments.refund")
def refund(order: Order, task: TaskContext) -> Json:
    """Give back what this order was charged, or has paid, which may be nothing.

    As a compensation it undoes one charge, and sees to it that it does not come late.
    """
    begin(order, task)
    if task.undoes is None:
        charges = ledger().done(task, "payments.charge")
    else:
        charges = [ledger().undo(task)]
    amounts = (one.get("amount") for one in [*charges, order.get("paid")] if isinstance(one, dict))
    total = sum(one for one in amounts if isinstance(one, int))
    order_id = order.get("order_id", task.execution)
    return ledger().effect(task, {"refund": f"re_{order_id}", "amount": total})


__all__ = ["CardDeclined", "InvalidOrder", "charge", "refund", "validate"]
