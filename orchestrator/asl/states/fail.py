"""Fail: end the machine, or only its branch, with an error."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.diagnostics import Code
from orchestrator.asl.expressions import Call, Expression
from orchestrator.asl.jsonata import Query
from orchestrator.asl.states.fields import Fields, looks_like_expression
from orchestrator.asl.states.flow import PLAIN
from orchestrator.asl.states.reaction import On, read_refusals


@dataclass(frozen=True, slots=True)
class Fail:
    """A Fail state; `error` excludes `error_path`, `cause` excludes `cause_path`."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    error: str | Query | None
    cause: str | Query | None
    error_path: Expression | None
    cause_path: Expression | None
    on: On


_FIELDS = PLAIN | {"Error", "Cause", "On"}
_PATHS = frozenset({"ErrorPath", "CausePath"})


def read_fail(name: str, fields: Fields) -> Fail:
    """Read a Fail state."""
    fields.allow(_FIELDS if fields.queries else _FIELDS | _PATHS)
    fields.only_one_of("Error", "ErrorPath")
    fields.only_one_of("Cause", "CausePath")
    for field in ("Error", "Cause"):
        if not fields.queries and looks_like_expression(fields.value.get(field)):
            message = f"The field '{field}' looks like a path: use {field}Path to evaluate it"
            fields.findings.warn(Code.NO_PATH, message, fields.at(field))
    return Fail(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language=fields.language,
        error=fields.text_or_query("Error"),
        cause=fields.text_or_query("Cause"),
        error_path=_text(fields, "ErrorPath"),
        cause_path=_text(fields, "CausePath"),
        on=read_refusals(fields),
    )


_GIVE_TEXT = frozenset(
    f"States.{name}"
    for name in (
        "ArrayGetItem",
        "Base64Decode",
        "Base64Encode",
        "Format",
        "Hash",
        "JsonToString",
        "UUID",
    )
)


def _text(fields: Fields, name: str) -> Expression | None:
    expression = fields.expression(name)
    if expression is not None and isinstance(expression.term, Call):
        function = expression.term.intrinsic.name
        if function not in _GIVE_TEXT:
            fields.wrong(name, f"{function} cannot be used here: it does not return a string")
    return expression
