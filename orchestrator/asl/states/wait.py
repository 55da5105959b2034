"""Wait: rest until a moment."""

from __future__ import annotations

from dataclasses import dataclass

from ..paths import Path


@dataclass(frozen=True, slots=True)
class Wait:
    """A Wait state; exactly one of the four durations is given. `timestamp` is RFC 3339 text."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    next: str | None
    input_path: Path | None
    output_path: Path | None
    seconds: int | None
    seconds_path: Path | None
    timestamp: str | None
    timestamp_path: Path | None
