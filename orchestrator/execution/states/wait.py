"""Wait: rest until a moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from orchestrator.asl.document import Json, show
from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.asl.paths import Path, PathNotFound
from orchestrator.asl.states import Wait
from orchestrator.asl.timestamps import nanoseconds
from orchestrator.execution import dataflow
from orchestrator.execution.failure import leave
from orchestrator.execution.payload import Payload
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def enter(transition: Transition, thread: Thread, state: Wait) -> None:
    """Rest until the moment, counted from the entry; leave if it has come."""
    given = dataflow.effective_input(transition, thread, state)
    wake_at = _moment(transition, thread, state, given)
    if wake_at is None or wake_at <= transition.now:
        output = dataflow.passed_on(transition, thread, state, given)
        leave(transition, thread, state, output, state.next)
    else:
        thread.rest_on_clock(wake_at)


def _moment(transition: Transition, thread: Thread, state: Wait, given: Payload) -> datetime | None:
    """Return the moment to wait for; None if it is past."""
    entered_at = thread.entered_at or transition.now
    seconds, timestamp = state.seconds or 0, state.timestamp
    if state.seconds_path is not None:
        value = _read(transition, thread, given, state.seconds_path, "SecondsPath")
        seconds = _whole_seconds(state.seconds_path, value)
    if state.timestamp_path is not None:
        value = _read(transition, thread, given, state.timestamp_path, "TimestampPath")
        timestamp = value if isinstance(value, str) else show(value)
        if nanoseconds(timestamp) is None:
            raise _unusable("TimestampPath", _NO_TIMESTAMP, state.timestamp_path, timestamp)
    if timestamp is None:
        delay = seconds * 1_000_000
    else:
        since = -(-(nanoseconds(timestamp) or 0) // 1_000)  # rounded up: never early
        delay = since - (entered_at - _EPOCH) // timedelta(microseconds=1)
    if delay > transition.limits.wait_seconds * 1_000_000:
        raise StateFailure(RUNTIME, "Wait state delay is too long.")
    return None if delay <= 0 else entered_at + timedelta(microseconds=delay)


_NO_TIMESTAMP = "does not reference a valid ISO-8601 extended offset date-time format string"


def _read(transition: Transition, thread: Thread, given: Payload, path: Path, field: str) -> Json:
    try:
        return path.read(given.value, transition.context(thread))
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
