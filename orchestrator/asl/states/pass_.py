"""Pass: hand the input on, or a fixed result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

from ..document import Json
from ..paths import Path, ReferencePath
from ..templates import Template


class Missing(Enum):
    """The type of MISSING."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
"""What `Pass.result` is when the definition gives none; JSON null is a result."""


@dataclass(frozen=True, slots=True)
class Pass:
    """A Pass state; `result` is MISSING or any JSON value, taken literally."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    next: str | None
    input_path: Path | None
    output_path: Path | None
    parameters: Template | None
    result_path: ReferencePath | None
    result: Json | Literal[Missing.MISSING]
