"""Pass: hand the input on, or a fixed result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

from orchestrator.asl.diagnostics import Code
from orchestrator.asl.document import Json
from orchestrator.asl.paths import Path, ReferencePath
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.states.assign import Assign, read_assign
from orchestrator.asl.states.fields import ALL_OF_IT, WHOLE, Fields, looks_like_expression
from orchestrator.asl.states.flow import (
    ASSIGN,
    IN_AND_OUT,
    OUTPUT,
    PLAIN,
    TRANSITION,
    read_next,
)
from orchestrator.asl.templates import Template


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
    output: QueryTemplate | None
    assign: Assign | None


_FIELDS = PLAIN | TRANSITION | ASSIGN
_OF_PATHS = IN_AND_OUT | {"Parameters", "ResultPath", "Result"}


def read_pass(name: str, fields: Fields) -> Pass:
    """Read a Pass state."""
    fields.allow(_FIELDS | (OUTPUT if fields.queries else _OF_PATHS))
    result = fields.value.get("Result", MISSING)
    if _looks_evaluated(result):
        fields.findings.warn(
            Code.PASS_RESULT_IS_STATIC,
            "Result is taken literally: use Parameters to evaluate paths",
            fields.at("Result"),
        )
    return Pass(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language=fields.language,
        next=read_next(fields),
        input_path=fields.path("InputPath", WHOLE),
        output_path=fields.path("OutputPath", WHOLE),
        parameters=None if fields.queries else fields.template("Parameters"),
        result_path=fields.reference_path("ResultPath", ALL_OF_IT),
        result=result,
        output=fields.query_template("Output") if fields.queries else None,
        assign=read_assign(fields),
    )


def _looks_evaluated(result: Json | Literal[Missing.MISSING]) -> bool:
    if isinstance(result, dict):
        return any(key.endswith(".$") or _looks_evaluated(one) for key, one in result.items())
    if isinstance(result, list):
        return any(_looks_evaluated(one) for one in result)
    return result is not MISSING and looks_like_expression(result)
