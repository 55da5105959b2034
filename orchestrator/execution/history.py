"""History events in AWS's shapes, and how one transition's events are packed into one row."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from orchestrator.asl import document
from orchestrator.asl.document import Json
from orchestrator.asl.errors import Failure
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


def failed_with(failure: Failure) -> dict[str, Detail]:
    """Return a failure as details of an event: what is not known of it is left out."""
    told = {"error": failure.error, "cause": failure.cause}
    return {name: text for name, text in told.items() if text is not None}


class UnknownLevel(Exception):
    """A row has a format that this release does not read."""


# ------------------------------------------------------------------------------------------ rows

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_TRUSTED = Limits(document_bytes=sys.maxsize, document_depth=sys.maxsize)


_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "ExecutionStarted": ("input", "roleArn"),
    "ExecutionSucceeded": ("output",),
    "MapIterationStarted": ("name", "index"),
    "MapIterationSucceeded": ("name", "index"),
    "TaskScheduled": ("resourceType", "resource", "region", "parameters"),
    "TaskStarted": ("resourceType", "resource"),
    "TaskSucceeded": ("resourceType", "resource", "output"),
}
"""The details of frequent events, whose names a row leaves out. Never change what stands here."""
_STARTED: Final = ("resourceType", "resource", "workerName")
"""The details of `TaskStarted` where it is known who runs it."""
_ENTERED: Final = ("name", "input")
_EXITED: Final = ("name", "output")


def encode(events: Sequence[HistoryEvent]) -> str:
    """Return the row of one transition's events, whose ids follow each other without a gap.

    JSON text with ASCII escapes: `first` is the first id, `at` its time in microseconds since
    1970, `events` holds per event [type, details, microseconds since the event before, previous
    id]; the last two are left out where they are 0 and the id before. Details are an object, or
    an array of their values where the type tells their names. A detail of the form [n] stands
    for `documents`[n], so that a document that several events name is there once.
    """
    documents = _Documents()
    first = events[0].id if events else 0
    begun = at = (events[0].at - _EPOCH) // _MICROSECOND if events else 0
    rows: list[Json] = []
    for event in events:
        before, at = at, (event.at - _EPOCH) // _MICROSECOND
        row: list[Json] = [event.type, documents.packed(event)]
        if event.previous_id != event.id - 1:
            row += [at - before, event.previous_id]
        elif at != before:
            row.append(at - before)
        rows.append(row)
    return (
        f'{{"level":{LEVEL},"first":{first},"at":{begun},"events":{document.write(rows)},'
        f'"documents":[{",".join(documents.texts)}]}}'
    )


def _fields(event_type: str, count: int) -> tuple[str, ...] | None:
    """Return the names of so many details of an event where a row may leave them out."""
    if event_type.endswith("StateEntered"):
        return _ENTERED
    if event_type.endswith("StateExited"):
        return _EXITED
    if event_type == "TaskStarted" and count == len(_STARTED):
        return _STARTED
    return _FIELDS.get(event_type)


class _Documents:
    """The documents of a row, each once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._places: dict[str, int] = {}
        self._seen: dict[int, int] = {}

    def packed(self, event: HistoryEvent) -> Json:
        if tuple(event.details) == _fields(event.type, len(event.details)):
            return [self._packed(value) for value in event.details.values()]
        return self._named(event.details)

    def _named(self, details: Mapping[str, Detail]) -> Json:
        return {name: self._packed(value) for name, value in details.items()}

    def _packed(self, value: Detail) -> Json:
        if isinstance(value, Payload):
            return [self._place(value)]
        if isinstance(value, Mapping):
            return self._named(value)
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
        case {
            "first": int(first),
            "at": int(at),
            "events": list(events),
            "documents": list(documents),
        }:
            payloads = [Payload.of(one) for one in documents]
            return _events(first, at, events, payloads)
        case _:
            raise UnknownLevel("no history")


def _events(
    first: int, at: int, rows: Sequence[Json], payloads: Sequence[Payload]
) -> list[HistoryEvent]:
    found: list[HistoryEvent] = []
    for number, row in enumerate(rows, first):
        match row:
            case [str(event_type), dict() | list() as details, *rest]:
                later, previous = _numbers(rest, number - 1)
            case _:
                raise UnknownLevel("no history event")
        at += later
        named = _with_names(event_type, details)
        moment = _EPOCH + timedelta(microseconds=at)
        unpacked = _unpacked(named, payloads)
        found.append(HistoryEvent(number, previous, moment, event_type, unpacked))
    return found


def _numbers(rest: list[Json], before: int) -> tuple[int, int]:
    """Return the microseconds since the event before, and the previous id."""
    match rest:
        case []:
            return 0, before
        case [int(later)]:
            return later, before
        case [int(later), int(previous)]:
            return later, previous
        case _:
            raise UnknownLevel("no history event")


def _with_names(event_type: str, details: dict[str, Json] | list[Json]) -> dict[str, Json]:
    if isinstance(details, dict):
        return details
    names = _fields(event_type, len(details))
    if names is None or len(names) != len(details):
        raise UnknownLevel(f"no details of {event_type}")
    return dict(zip(names, details, strict=True))


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
        "AwaitStateAborted",
    }
)

_OURS = ("AwaitState", "Call", "Timer", "Effect", "Compensation")
"""What the types of events begin with that AWS does not know."""
_WITHOUT_WORKERS: Final = frozenset({"TaskStarted", "LambdaFunctionStarted"})
"""What AWS names no worker in."""


def to_aws(event: HistoryEvent) -> dict[str, Json]:
    """Return an event as GetExecutionHistory shows it, its time in seconds since 1970."""
    shown: dict[str, Json] = {
        "id": event.id,
        "previousEventId": event.previous_id,
        "timestamp": event.at.timestamp(),
        "type": event.type,
    }
    if event.type not in _WITHOUT_DETAILS and not event.type.startswith(_OURS):
        shown[_details_field(event.type)] = _shown(_known(event))
    return shown


def _known(event: HistoryEvent) -> Mapping[str, Detail]:
    if event.type not in _WITHOUT_WORKERS:
        return event.details
    return {name: value for name, value in event.details.items() if name != "workerName"}


def to_native(event: HistoryEvent) -> dict[str, Json]:
    """Return an event with all that is recorded of it, ours as AWS's, in the same shape."""
    shown = to_aws(event)
    ours = event.type.startswith(_OURS) and event.type not in _WITHOUT_DETAILS
    if ours or (event.type in _WITHOUT_WORKERS and event.details):
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
