"""Wait: rest until a moment."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.paths import Path
from orchestrator.asl.states.fields import WHOLE, Fields
from orchestrator.asl.states.flow import IN_AND_OUT, PLAIN, TRANSITION, read_next
from orchestrator.asl.timestamps import nanoseconds


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
    seconds: int | None
    seconds_path: Path | None
    timestamp: str | None
    timestamp_path: Path | None


_DURATIONS = ("Seconds", "SecondsPath", "Timestamp", "TimestampPath")
_FIELDS = PLAIN | IN_AND_OUT | TRANSITION | set(_DURATIONS)


def read_wait(name: str, fields: Fields) -> Wait:
    """Read a Wait state."""
    fields.allow(_FIELDS)
    fields.one_of(*_DURATIONS)
    timestamp = fields.text("Timestamp")
    if timestamp is not None and nanoseconds(timestamp) is None:
        fields.wrong("Timestamp", "String does not match RFC3339 timestamp")
    return Wait(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language="JSONPath",
        next=read_next(fields),
        input_path=fields.path("InputPath", WHOLE),
        output_path=fields.path("OutputPath", WHOLE),
        seconds=fields.integer("Seconds"),
        seconds_path=fields.definite_path("SecondsPath"),
        timestamp=timestamp,
        timestamp_path=fields.definite_path("TimestampPath"),
    )
