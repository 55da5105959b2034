"""What must happen in the world once a decision is committed, in the imperative."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class RingBell:
    """Tell the queue that serves this resource that it has one more task ready."""

    resource: str


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Tell a scheduler at hand that something is due then; the database knows it anyway."""

    at: datetime


@dataclass(frozen=True, slots=True)
class TellEnd:
    """Tell whoever waits for the end of this execution: a caller, or the one that started it."""


@dataclass(frozen=True, slots=True)
class TellCalls:
    """Tell whoever waits for the verdict of a call that was kept."""


Command: TypeAlias = "RingBell | WakeAt | TellEnd | TellCalls"
