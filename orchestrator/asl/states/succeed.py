"""Succeed: end the machine, or only its branch, with the input."""

from __future__ import annotations

from dataclasses import dataclass

from ..paths import Path


@dataclass(frozen=True, slots=True)
class Succeed:
    """A Succeed state."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    input_path: Path | None
    output_path: Path | None
