"""What an evaluation may spend, and what it can see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from orchestrator.asl.document import Json
from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.asl.limits import MOST_EVALUATION_STEPS, MOST_PATH_STEPS
from orchestrator.asl.paths.comparisons import Value

ContextSource: TypeAlias = Callable[[], Json]
"""Makes the context object; called only where a path begins with `$$`."""

Variables: TypeAlias = Mapping[str, Json]
"""What is assigned, by name: what a path reads that begins with `$name`."""

NO_VARIABLES: Final[Variables] = MappingProxyType({})


class PathNotFound(StateFailure):
    """A path that should give one value led nowhere; `reason` says where it ended."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(RUNTIME, f"Invalid path '{text}' : {reason}")
        self.text = text
        self.reason = reason


class Nowhere(Exception):
    """A piece of a path has nothing to lead to; carries the reason."""


class Budget:
    """The steps that the paths and calls of one template or rule may take together."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST_EVALUATION_STEPS

    def spend(self, steps: int) -> None:
        """Count steps; raises StateFailure when there are none left."""
        self.left -= steps
        if self.left < 0:
            cause = f"The evaluation needs more than {MOST_EVALUATION_STEPS} steps."
            raise StateFailure(RUNTIME, cause)


class Work:
    """The documents of one path's evaluation, the steps it has left, what it has looked up."""

    __slots__ = ("context", "document", "found", "left", "text", "variables")

    def __init__(
        self, text: str, document: Json, context: ContextSource, variables: Variables
    ) -> None:
        self.text = text
        self.document = document
        self.context = context
        self.variables = variables
        self.left = MOST_PATH_STEPS
        self.found: dict[int, Value] = {}

    @property
    def spent(self) -> int:
        """Return the steps taken so far."""
        return MOST_PATH_STEPS - self.left

    def spend(self, steps: int) -> None:
        """Count steps; raises StateFailure when there are none left."""
        self.left -= steps
        if self.left < 0:
            cause = f"The path '{self.text}' needs more than {MOST_PATH_STEPS} steps."
            raise StateFailure(RUNTIME, cause)
