"""Succeed: end the machine, or only its branch, with the input."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.paths import Path
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.states.fields import WHOLE, Fields
from orchestrator.asl.states.flow import IN_AND_OUT, OUTPUT, PLAIN
from orchestrator.asl.states.reaction import On, read_refusals


@dataclass(frozen=True, slots=True)
class Succeed:
    """A Succeed state."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    input_path: Path | None
    output_path: Path | None
    output: QueryTemplate | None
    on: On


def read_succeed(name: str, fields: Fields) -> Succeed:
    """Read a Succeed state."""
    fields.allow(PLAIN | {"On"} | (OUTPUT if fields.queries else IN_AND_OUT))
    return Succeed(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language=fields.language,
        input_path=fields.path("InputPath", WHOLE),
        output_path=fields.path("OutputPath", WHOLE),
        output=fields.query_template("Output") if fields.queries else None,
        on=read_refusals(fields),
    )
