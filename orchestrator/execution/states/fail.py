"""Fail: end the machine, or only its branch, with an error."""

from __future__ import annotations

from orchestrator.asl.document import show
from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.asl.expressions import Expression
from orchestrator.asl.jsonata import Query
from orchestrator.asl.states import Fail
from orchestrator.execution import queries, surroundings
from orchestrator.execution.failure import meet
from orchestrator.execution.setback import Setback, bounded
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def enter(transition: Transition, thread: Thread, state: Fail) -> None:
    """End the frame with the error that the state names."""
    error = _given(transition, thread, state.error, "Error")
    cause = _given(transition, thread, state.cause, "Cause")
    if state.error_path is not None:
        error = _text(transition, thread, state.error_path, "ErrorPath")
    if state.cause_path is not None:
        cause = _text(transition, thread, state.cause_path, "CausePath")
    meet(transition, thread, Setback(bounded(error, cause, transition.limits)))


def _given(
    transition: Transition, thread: Thread, text: str | Query | None, field: str
) -> str | None:
    return queries.text(transition, thread, text, field) if isinstance(text, Query) else text


def _text(transition: Transition, thread: Thread, expression: Expression, field: str) -> str:
    value = expression.value(
        field,
        thread.input.value,
        surroundings.context(transition, thread),
        transition.draw(field),
        surroundings.variables(transition, thread),
    )
    if not isinstance(value, str):
        raise StateFailure(
            RUNTIME, f"The field '{field}' must come to a string but came to {show(value)}"
        )
    return value
