"""When something happens that is timed: after some seconds, or at a moment."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.jsonata import Query
from orchestrator.asl.paths import Path
from orchestrator.asl.states.fields import Fields
from orchestrator.asl.states.quantity import Quantity
from orchestrator.asl.timestamps import nanoseconds


@dataclass(frozen=True, slots=True)
class Moment:
    """Exactly one of the four is given. `timestamp` is RFC 3339 text."""

    seconds: Quantity | None
    seconds_path: Path | None
    timestamp: str | Query | None
    timestamp_path: Path | None


_DURATIONS = ("Seconds", "Timestamp")
_PATHS = ("SecondsPath", "TimestampPath")


def moment_fields(fields: Fields) -> frozenset[str]:
    """Return the names of the fields that say when."""
    return frozenset(_DURATIONS if fields.queries else (*_DURATIONS, *_PATHS))


def read_moment(fields: Fields) -> Moment:
    """Read when something happens."""
    if fields.queries:
        fields.one_of(*_DURATIONS)
    else:
        fields.one_of("Seconds", "SecondsPath", "Timestamp", "TimestampPath")
    timestamp = fields.text_or_query("Timestamp")
    if isinstance(timestamp, str) and nanoseconds(timestamp) is None:
        fields.wrong("Timestamp", "String does not match RFC3339 timestamp")
    return Moment(
        seconds=fields.whole("Seconds", spelled=True),
        seconds_path=fields.definite_path("SecondsPath"),
        timestamp=timestamp,
        timestamp_path=fields.definite_path("TimestampPath"),
    )
