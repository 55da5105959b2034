"""Numbers of a state: written there, at a path, or what an expression gives."""

from __future__ import annotations

from orchestrator.asl.document import show
from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.asl.jsonata import Query
from orchestrator.asl.states.quantity import Placeholder, Quantity
from orchestrator.execution import queries
from orchestrator.execution.queries import QueryFailed
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def number(
    transition: Transition,
    thread: Thread,
    quantity: Quantity | None,
    field: str,
    bounds: tuple[float, float],
) -> int | float | None:
    """Return the number that a field gives; raises StateFailure where it gives none."""
    match quantity:
        case Placeholder(text):
            raise StateFailure(RUNTIME, f"The field '{field}' must be a number but was: {text}")
        case Query():
            return queries.number(transition, thread, quantity, field, *bounds)
        case int() | float() | None:
            return quantity


def whole(
    transition: Transition,
    thread: Thread,
    quantity: Quantity | None,
    field: str,
    bounds: tuple[int, int],
) -> int | None:
    """Return the whole number that a field gives; raises StateFailure where it gives none."""
    found = number(transition, thread, quantity, field, bounds)
    if isinstance(found, float):
        cause = f"The {field} field must be an integer but was: {show(found)}"
        raise QueryFailed(cause, field, used=True)
    return found
