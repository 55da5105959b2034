"""What an engine takes from the machine that it runs on: randomness, time, evaluation."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.asl import definition
from orchestrator.asl.definition import Parsed
from orchestrator.asl.limits import Limits
from orchestrator.execution.evaluate import Evaluate, evaluate_here

EPOCH_MS: Final = 1_704_067_200_000
"""2024-01-01: execution ids count milliseconds from here, above 22 random bits."""


_HIGHEST_ID: Final = 2**63 - 1
"""What a column of the database holds."""


def first_id(at: datetime) -> int:
    """Return the lowest id of an execution that is started at a moment or later."""
    return min(max(0, int(at.timestamp() * 1_000) - EPOCH_MS) << 22, _HIGHEST_ID)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The machine's own; a simulation hands in others."""

    random_bytes: Callable[[int], bytes] = secrets.token_bytes
    milliseconds: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    """Since 1970; what executions are listed by, and nothing else."""
    monotonic: Callable[[], float] = time.monotonic
    evaluate: Evaluate = evaluate_here
    """Where expressions are evaluated; this process is no place for those of strangers."""
    parse: Callable[[str, Limits], Parsed] = definition.parse
    """Engines of one simulation share what they have parsed."""

    def new_id(self) -> int:
        """Draw an id for an execution: ids rise with time."""
        bits = int.from_bytes(self.random_bytes(3), "big") >> 2
        return (self.milliseconds() - EPOCH_MS) << 22 | bits
