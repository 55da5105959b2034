"""Wait: rest until a moment."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.jsonata import Query
from orchestrator.asl.paths import Path
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.states.assign import Assign, read_assign
from orchestrator.asl.states.fields import WHOLE, Fields
from orchestrator.asl.states.flow import (
    ASSIGN,
    IN_AND_OUT,
    OUTPUT,
    PLAIN,
    TRANSITION,
    read_next,
)
from orchestrator.asl.states.moment import moment_fields, read_moment
from orchestrator.asl.states.quantity import Quantity


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
    seconds: Quantity | None
    seconds_path: Path | None
    timestamp: str | Query | None
    timestamp_path: Path | None
    output: QueryTemplate | None
    assign: Assign | None


_FIELDS = PLAIN | TRANSITION | ASSIGN


def read_wait(name: str, fields: Fields) -> Wait:
    """Read a Wait state."""
    fields.allow(_FIELDS | moment_fields(fields) | (OUTPUT if fields.queries else IN_AND_OUT))
    moment = read_moment(fields)
    return Wait(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language=fields.language,
        next=read_next(fields),
        input_path=fields.path("InputPath", WHOLE),
        output_path=fields.path("OutputPath", WHOLE),
        seconds=moment.seconds,
        seconds_path=moment.seconds_path,
        timestamp=moment.timestamp,
        timestamp_path=moment.timestamp_path,
        output=fields.query_template("Output") if fields.queries else None,
        assign=read_assign(fields),
    )
