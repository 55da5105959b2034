"""History events in AWS's shapes, and how one transition's events are packed into one row."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from orchestrator.asl import document
from orchestrator.asl.document import Json
from orchestrator.asl.limits import Limits
from orchestrator.execution.payload import Payload

Detail: TypeAlias = "str | int | bool | Payload | Mapping[str, Detail]"

LEVEL = 1
"""The format number of the rows that `encode` writes; `decode` reads LEVEL and LEVEL - 1."""


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """One recorded event.

    `type` is AWS's (`TaskStateEntered`); `details` are the fields of its `…EventDetails`, documents
    as `Payload` (on the wire: JSON text).
    """

    id: int
    previous_id: int
    at: datetime
    type: str
    details: Mapping[str, Detail]


class UnknownLevel(Exception):
    """A row has a format that this release does not read."""


# ------------------------------------------------------------------------------------------ rows

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_TRUSTED = Limits(document_bytes=sys.maxsize, document_depth=sys.maxsize)


def encode(events: Sequence[HistoryEvent]) -> str:
    """Return the row of one transition's events, whose ids follow each other without a gap.

    JSON text with ASCII escapes: `first` is the first id, `events` holds per event
    [previous id, microseconds since 1970, type, details]; a detail of the form [n] stands for
    `documents`[n], so that a document that several events name is there once.
    """
    documents = _Documents()
    rows: list[Json] = [
        [
            event.previous_id,
            (event.at - _EPOCH) // _MICROSECOND,
            event.type,
            documents.packed(event.details),
        ]
        for event in events
    ]
    first = events[0].id if events else 0
    return (
        f'{{"level":{LEVEL},"first":{first},"events":{document.write(rows)},'
        f'"documents":[{",".join(documents.texts)}]}}'
    )


class _Documents:
    """The documents of a row, each once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._places: dict[str, int] = {}
        self._seen: dict[int, int] = {}

    def packed(self, details: Mapping[str, Detail]) -> Json:
        return {name: self._packed(value) for name, value in details.items()}

    def _packed(self, value: Detail) -> Json:
        if isinstance(value, Payload):
            return [self._place(value)]
        if isinstance(value, Mapping):
            return self.packed(value)
        return value

    def _place(self, payload: Payload) -> int:
        place = self._seen.get(id(payload))
        if place is None:
            text = payload.text
            place = self._places.setdefault(text, len(self.texts))
            if place == len(self.texts):
                self.texts.append(text)
            self._seen[id(payload)] = place
        return place


def decode(text: str) -> list[HistoryEvent]:
    """Return the events of a row; raises UnknownLevel."""
    row = document.read(text, limits=_TRUSTED)
    match row:
        case {"level": int(level)} if not LEVEL - 1 <= level <= LEVEL:
            raise UnknownLevel(f"history of level {level}")
        case {"first": int(first), "events": list(events), "documents": list(documents)}:
            payloads = [Payload.of(one) for one in documents]
            return [_event(first + n, event, payloads) for n, event in enumerate(events)]
        case _:
            raise UnknownLevel("no history")


def _event(event_id: int, row: Json, payloads: Sequence[Payload]) -> HistoryEvent:
    match row:
        case [int(previous), int(at), str(event_type), dict(details)]:
            moment = _EPOCH + timedelta(microseconds=at)
            return HistoryEvent(
                event_id, previous, moment, event_type, _unpacked(details, payloads)
            )
        case _:
            raise UnknownLevel("no history event")


def _unpacked(details: dict[str, Json], payloads: Sequence[Payload]) -> dict[str, Detail]:
    found: dict[str, Detail] = {}
    for name, value in details.items():
        match value:
            case [int(place)]:
                found[name] = payloads[place]
            case dict():
                found[name] = _unpacked(value, payloads)
            case str() | int():
                found[name] = value
            case _:
                raise UnknownLevel(f"no detail: {name}")
    return found


# ------------------------------------------------------------------------------------------ AWS

_WITHOUT_DETAILS = frozenset(
    {
        "LambdaFunctionStarted",
        "MapStateAborted",
        "MapStateFailed",
        "MapStateSucceeded",
        "ParallelStateAborted",
        "ParallelStateFailed",
        "ParallelStateStarted",
        "ParallelStateSucceeded",
        "TaskStateAborted",
        "WaitStateAborted",
    }
)


def to_aws(event: HistoryEvent) -> dict[str, Json]:
    """Return an event as GetExecutionHistory shows it, its time in seconds since 1970."""
    shown: dict[str, Json] = {
        "id": event.id,
        "previousEventId": event.previous_id,
        "timestamp": event.at.timestamp(),
        "type": event.type,
    }
    if event.type not in _WITHOUT_DETAILS:
        shown[_details_field(event.type)] = _shown(event.details)
    return shown


def _details_field(event_type: str) -> str:
    """Return the name of the field with the details: states share two of them."""
    for ending in ("StateEntered", "StateExited"):
        if event_type.endswith(ending):
            return f"s{ending[1:]}EventDetails"
    return f"{event_type[0].lower()}{event_type[1:]}EventDetails"


_ASSIGNED = "assignedVariables"


def _texts(values: Mapping[str, Detail]) -> dict[str, Json]:
    """Return variables as histories show them, whatever their names."""
    return {name: value.text for name, value in values.items() if isinstance(value, Payload)}


def _shown(details: Mapping[str, Detail]) -> dict[str, Json]:
    shown: dict[str, Json] = {}
    for name, value in details.items():
        if isinstance(value, Payload):
            shown[name] = value.text
            if name in ("input", "output"):
                shown[f"{name}Details"] = {"truncated": False}
        elif isinstance(value, Mapping):
            shown[name] = _shown(value) if name != _ASSIGNED else _texts(value)
            if name == _ASSIGNED:
                shown[f"{name}Details"] = {"truncated": False}
        else:
            shown[name] = value
    return shown
