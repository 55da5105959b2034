"""Quantity: a number of a definition, or what will give it when the state is reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from orchestrator.asl.jsonata import Query


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A text where a number belongs, as a template has left it: reaching it is a failure."""

    text: str


Quantity: TypeAlias = int | float | Query | Placeholder
"""A number, an expression that gives one, or a text that gives none."""
