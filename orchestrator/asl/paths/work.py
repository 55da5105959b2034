"""What one evaluation may spend, and what it can see."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from orchestrator.asl.document import Json
from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.asl.limits import MOST_PATH_STEPS
from orchestrator.asl.paths.comparisons import Value

ContextSource: TypeAlias = Callable[[], Json]


class PathNotFound(StateFailure):
    """A definite path led nowhere; `reason` says where it ended."""

    def __init__(self, text: str, reason: str) -> None:
        self.text = text
        super().__init__(RUNTIME, f"Invalid path '{text}' : {reason}")
        self.reason = reason


class Nowhere(Exception):
    """A definite piece of a path has nothing to lead to; carries the reason."""


class Work:
    """The documents of one evaluation, the steps it has left, and what it has found already."""

    __slots__ = ("context", "document", "found", "left", "text")

    def __init__(self, text: str, document: Json, context: ContextSource) -> None:
        self.text = text
        self.document = document
        self.context = context
        self.left = MOST_PATH_STEPS
        self.found: dict[int, Value] = {}

    def spend(self, steps: int) -> None:
        """Count steps; raises StateFailure when there are none left."""
        self.left -= steps
        if self.left < 0:
            cause = f"The path '{self.text}' needs more than {MOST_PATH_STEPS} steps."
            raise StateFailure(RUNTIME, cause)
