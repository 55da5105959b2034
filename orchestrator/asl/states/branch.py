"""Branch: a States object and its start: the machine's, a Parallel's branch, a Map's body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from orchestrator.asl.states.fields import Fields

if TYPE_CHECKING:
    from orchestrator.asl.states import State


@dataclass(frozen=True, slots=True)
class Branch:
    """A scope of states: transitions stay inside it."""

    start_at: str
    states: Mapping[str, State]


ReadBranch: TypeAlias = Callable[[Fields], Branch]
"""Reads a scope of states, whatever the types in it."""
