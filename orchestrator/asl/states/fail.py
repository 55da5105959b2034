"""Fail: end the machine, or only its branch, with an error."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.expressions import Expression
from orchestrator.asl.states.fields import Fields
from orchestrator.asl.states.flow import PLAIN


@dataclass(frozen=True, slots=True)
class Fail:
    """A Fail state; `error` excludes `error_path`, `cause` excludes `cause_path`."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    error: str | None
    cause: str | None
    error_path: Expression | None
    cause_path: Expression | None


_FIELDS = PLAIN | {"Error", "ErrorPath", "Cause", "CausePath"}


def read_fail(name: str, fields: Fields) -> Fail:
    """Read a Fail state."""
    fields.allow(_FIELDS)
    fields.only_one_of("Error", "ErrorPath")
    fields.only_one_of("Cause", "CausePath")
    return Fail(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language="JSONPath",
        error=fields.text("Error"),
        cause=fields.text("Cause"),
        error_path=fields.expression("ErrorPath"),
        cause_path=fields.expression("CausePath"),
    )
