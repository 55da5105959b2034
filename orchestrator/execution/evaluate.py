"""Who evaluates expressions of JSONata: whoever calls `decide` says so.

Some expressions may not be evaluated in a process that others depend on, and nothing here may know
processes.
"""

from __future__ import annotations

from typing import Protocol

from orchestrator.asl.jsonata import Answer, Bounds, Question, answer
from orchestrator.asl.limits import DEFAULT


class Evaluate(Protocol):
    """Evaluates one expression, within bounds of its own; an Answer says what came of it."""

    def __call__(self, question: Question) -> Answer:
        """Return the answer to a question."""
        ...


_BOUNDS = Bounds.of(DEFAULT)


def evaluate_here(question: Question) -> Answer:
    """Evaluate in this process, whatever the expression is: for tests and trusted definitions."""
    return answer(question, _BOUNDS)
