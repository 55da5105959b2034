"""Retriers and Catchers, and how long a Retrier waits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from orchestrator.asl.draw import Draw
from orchestrator.asl.limits import LONGEST_DELAY_SECONDS
from orchestrator.asl.paths import ReferencePath, compile_reference_path
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.templates import Template


@dataclass(frozen=True, slots=True)
class Retrier:
    """One entry of a state's Retry."""

    error_equals: tuple[str, ...]
    interval_seconds: int = 1
    max_attempts: int = 3
    backoff_rate: float = 2.0
    max_delay_seconds: int | None = None
    full_jitter: bool = False
    comment: str | None = None


WHOLE = compile_reference_path("$")
"""Where a Catcher puts the error output unless it says otherwise: in place of the input."""


@dataclass(frozen=True, slots=True)
class Catcher:
    """One entry of a state's Catch; `result_path` None drops the error output.

    `output` is what JSONata makes of it instead, None: nothing else. `compensate` tells whether
    what the failed state has done is undone first.
    """

    error_equals: tuple[str, ...]
    next: str
    result_path: ReferencePath | None = WHOLE
    output: QueryTemplate | None = None
    assign: Template | QueryTemplate | None = None
    comment: str | None = None
    compensate: bool = False


def delay_seconds(retrier: Retrier, n: int, draw: Draw) -> float:
    """Return the pause before retry `n` (the first is 1) of one Retrier.

    Full jitter draws uniformly between 0 and the pause; the draw is used up only then.
    """
    delay = min(_backoff_seconds(retrier, n), _longest_seconds(retrier))
    return delay * draw.fraction() if retrier.full_jitter else delay


def _longest_seconds(retrier: Retrier) -> float:
    if retrier.max_delay_seconds is None:
        return float(LONGEST_DELAY_SECONDS)
    return float(min(retrier.max_delay_seconds, LONGEST_DELAY_SECONDS))


def _backoff_seconds(retrier: Retrier, n: int) -> float:
    try:
        return float(retrier.interval_seconds) * float(retrier.backoff_rate) ** (n - 1)
    except OverflowError:
        return math.inf
