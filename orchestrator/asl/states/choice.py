"""Choice: the first rule that holds says where to go."""

from __future__ import annotations

from dataclasses import dataclass

from ..choices import Rule
from ..paths import Path


@dataclass(frozen=True, slots=True)
class ChoiceRule:
    """One entry of Choices: where to go when the rule holds."""

    rule: Rule
    next: str
    comment: str | None


@dataclass(frozen=True, slots=True)
class Choice:
    """A Choice state; `default` None: no rule held is an error."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    input_path: Path | None
    output_path: Path | None
    rules: tuple[ChoiceRule, ...]
    default: str | None
