"""The seam between the engine and whatever wakes workers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Bell(Protocol):
    """Tells workers that queues have work; what it says may be lost, doubled or late."""

    def ring(self, queues: Mapping[str, int]) -> None:
        """Announce so many more ready tasks per queue; never raises for a broker that is away."""
        ...


class Silence:
    """A bell that nobody hears: every task is found by the sweeps."""

    def ring(self, queues: Mapping[str, int]) -> None:
        """Do nothing."""
