"""Succeed: end the machine, or only its branch, with the input."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.paths import Path
from orchestrator.asl.states.fields import WHOLE, Fields
from orchestrator.asl.states.flow import IN_AND_OUT, PLAIN


@dataclass(frozen=True, slots=True)
class Succeed:
    """A Succeed state."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    input_path: Path | None
    output_path: Path | None


_FIELDS = PLAIN | IN_AND_OUT


def read_succeed(name: str, fields: Fields) -> Succeed:
    """Read a Succeed state."""
    fields.allow(_FIELDS)
    return Succeed(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language="JSONPath",
        input_path=fields.path("InputPath", WHOLE),
        output_path=fields.path("OutputPath", WHOLE),
    )
