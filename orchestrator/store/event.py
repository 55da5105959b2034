"""Events as text: those that wait to be decided again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from orchestrator.execution import events
from orchestrator.execution.compensation import Compensation
from orchestrator.execution.events import Event
from orchestrator.execution.payload import Payload
from orchestrator.store.compensation import COLUMNS, compensation_row, read_compensation

LEVEL: Final = 1
"""The format number of what `write` makes."""

_NO_EXECUTION: Final = 0
"""A compensation on its way from a child to its parent is in no table."""

_TYPES: Final[Mapping[str, Any]] = {
    name: kind
    for name, kind in vars(events).items()
    if dataclasses.is_dataclass(kind) and kind.__module__ == events.__name__
}


class UnknownEvent(Exception):
    """A stored event has a format that this release does not read."""


def write(event: Event) -> str:
    """Return an event as JSON text with ASCII escapes."""
    fields = {one.name: _written(getattr(event, one.name)) for one in dataclasses.fields(event)}
    return json.dumps({"level": LEVEL, "type": type(event).__name__, **fields})


def read(text: str) -> Event:
    """Return the event of a text; raises UnknownEvent."""
    row: dict[str, Any] = json.loads(text)
    level, kind = row.pop("level", None), _TYPES.get(str(row.pop("type", None)))
    if level != LEVEL or kind is None:
        raise UnknownEvent(f"an event of level {level}")
    event: Event = kind(**{name: _read(value) for name, value in row.items()})
    return event


def _written(value: object) -> object:
    match value:
        case Payload():
            return {"document": value.text}
        case datetime():
            return {"moment": value.isoformat()}
        case tuple() as compensations:
            return {"compensations": [_row(one) for one in compensations]}
        case _:
            return value


def _row(one: object) -> dict[str, object]:
    if not isinstance(one, Compensation):
        raise TypeError(f"an event holds a {type(one).__name__}")
    return compensation_row(_NO_EXECUTION, one)


def _read(value: Any) -> object:
    match value:
        case {"document": str(text)}:
            return Payload.parse(text)
        case {"compensations": list(rows)}:
            return tuple(read_compensation([row[c.name] for c in COLUMNS]) for row in rows)
        case {"moment": str(text)}:
            return datetime.fromisoformat(text)
        case _:
            return value
