"""Branch: one States object with its start: the machine's own, a Parallel's branch, a Map's body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import State


@dataclass(frozen=True, slots=True)
class Branch:
    """A scope of states: transitions stay inside it."""

    start_at: str
    states: Mapping[str, State]
