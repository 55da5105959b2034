"""Wait: rest until a moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from orchestrator.asl.document import Json, show
from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.asl.jsonata import Query
from orchestrator.asl.paths import Path, PathNotFound
from orchestrator.asl.states import Wait
from orchestrator.asl.states.fields import MOST_SECONDS
from orchestrator.asl.states.moment import Moment
from orchestrator.asl.timestamps import nanoseconds
from orchestrator.execution import dataflow, queries
from orchestrator.execution.failure import leave
from orchestrator.execution.payload import Payload
from orchestrator.execution.quantity import whole
from orchestrator.execution.queries import QueryFailed
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def enter(transition: Transition, thread: Thread, state: Wait) -> None:
    """Rest until the moment, counted from the entry; leave if it has come."""
    given = dataflow.effective_input(transition, thread, state)
    wake_at = moment_of(transition, thread, state, given)
    if wake_at is None or wake_at <= transition.now:
        assigned = dataflow.assigned(transition, thread, state.assign, given)
        output = dataflow.passed_on(transition, thread, state, given)
        leave(transition, thread, state, output, state.next, assigned)
    else:
        thread.rest_on_clock(wake_at)


def moment_of(
    transition: Transition, thread: Thread, timed: Wait | Moment, given: Payload, place: str = ""
) -> datetime | None:
    """Return a moment, counted from the entry, None if it is past; `place` is where it stands."""
    entered_at = thread.entered_at or transition.now
    field, bounds = f"{place}Seconds", (0, MOST_SECONDS)
    seconds = whole(transition, thread, timed.seconds, field, bounds) or 0
    timestamp = _timestamp(transition, thread, timed, f"{place}Timestamp")
    if timed.seconds_path is not None:
        value = _read(transition, thread, given, timed.seconds_path, "SecondsPath")
        seconds = _whole_seconds(timed.seconds_path, value)
    if timed.timestamp_path is not None:
        value = _read(transition, thread, given, timed.timestamp_path, "TimestampPath")
        timestamp = value if isinstance(value, str) else show(value)
        if nanoseconds(timestamp) is None:
            raise _unusable("TimestampPath", _NO_TIMESTAMP, timed.timestamp_path, timestamp)
    if timestamp is None:
        delay = seconds * 1_000_000
    else:
        since = -(-(nanoseconds(timestamp) or 0) // 1_000)  # rounded up: never early
        delay = since - (entered_at - _EPOCH) // timedelta(microseconds=1)
    if delay > transition.limits.wait_seconds * 1_000_000:
        raise StateFailure(RUNTIME, "Wait state delay is too long.")
    return None if delay <= 0 else entered_at + timedelta(microseconds=delay)


def _timestamp(
    transition: Transition, thread: Thread, timed: Wait | Moment, field: str
) -> str | None:
    if not isinstance(timed.timestamp, Query):
        return timed.timestamp
    found = queries.text(transition, thread, timed.timestamp, field)
    if nanoseconds(found) is None:
        cause = (
            f"The {field} field cannot be parsed as an ISO-8601 extended offset date-time format"
            f" string: {found}"
        )
        raise QueryFailed(cause, field, used=True)
    return found


_NO_TIMESTAMP = "does not reference a valid ISO-8601 extended offset date-time format string"


def _read(transition: Transition, thread: Thread, given: Payload, path: Path, field: str) -> Json:
    try:
        return dataflow.read(transition, thread, path, given)
    except PathNotFound:
        raise StateFailure(
            RUNTIME, f"The {field} parameter does not reference an input value: {path.text}"
        ) from None


def _whole_seconds(path: Path, value: Json) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        shown = value if isinstance(value, str) else show(value)
        raise _unusable("SecondsPath", "cannot be parsed as a long value", path, shown)
    if value < 0:
        raise _unusable("SecondsPath", "references a negative value", path, show(value))
    return value


def _unusable(field: str, fault: str, path: Path, shown: str) -> StateFailure:
    return StateFailure(RUNTIME, f"The {field} parameter {fault}: {path.text} == {shown}")
