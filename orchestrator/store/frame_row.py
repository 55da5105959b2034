"""Frames as rows, and back: the tasks that they rest on stand in the same row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from orchestrator.execution.decision import Seen
from orchestrator.execution.frame import (
    Frame,
    FrameKind,
    FrameStatus,
    RestsOn,
    Retries,
    Task,
    Timer,
)
from orchestrator.execution.payload import Payload
from orchestrator.store.moment import EPOCH, MICROSECOND
from orchestrator.store.note import note_text, read_note
from orchestrator.store.rows import Row, Values
from orchestrator.store.tables import frames

FRAME_COLUMNS: Final = tuple(frames.c)

_KINDS: Final = {kind.value: kind for kind in FrameKind}
_STATUSES: Final = {status.value: status for status in FrameStatus}
_RESTS_ON: Final = {rests_on.value: rests_on for rests_on in RestsOn}
_NO_RETRIES: Final = Retries()

_NO_TASK: Final[Row] = dict.fromkeys(
    (
        "resource",
        "token",
        "attempt",
        "key",
        "arguments",
        "ready_at",
        "heartbeat_seconds",
        "queue",
        "claimed_by",
        "lease_until",
        "deliveries",
        "at_most_once",
    )
)


def frame_row(execution: int, frame: Frame) -> Row:
    """Return a frame as a row; what a delivery has reported of its progress goes."""
    return {
        "execution": execution,
        "entry": frame.entry,
        "last_event": frame.last_event,
        "fork": frame.fork,
        "entered_at": frame.entered_at,
        "wake_at": frame.wake_at,
        "timeout_at": frame.timeout_at,
        "level": frame.level,
        "id": frame.id,
        "kind": frame.kind.value,
        "status": frame.status.value,
        "rests_on": None if frame.rests_on is None else frame.rests_on.value,
        "state": frame.state,
        "retries": _retries_text(frame.retries),
        "data": frame.input.text,
        "item": None if frame.item is None else frame.item.text,
        "variables": None if frame.variables is None else frame.variables.text,
        "timers": _timers_text(frame.timers),
        "effect": note_text(frame),
        "progress": None,
        **(_NO_TASK if frame.task is None else _task_row(frame.task, frame.input)),
    }


def _task_row(task: Task, given: Payload) -> Row:
    same = task.arguments is given or task.arguments.text == given.text
    return {
        "resource": task.resource,
        "token": task.token,
        "attempt": task.attempt,
        "key": task.key,
        "arguments": None if same else task.arguments.text,  # the state's input itself
        "ready_at": task.ready_at,
        "heartbeat_seconds": task.heartbeat_seconds,
        "queue": task.queue,
        "claimed_by": task.claimed_by,
        "lease_until": task.lease_until,
        "deliveries": task.deliveries,
        "at_most_once": task.at_most_once,
    }


def read_frame(row: Values) -> Frame:
    """Return the frame of a row of FRAME_COLUMNS."""
    (
        _execution, entry, last_event, fork, entered_at, wake_at, timeout_at, ready_at, lease_until,
        heartbeat_seconds, attempt, deliveries, level, at_most_once, number, kind, status, rests_on,
        state, retries, resource, queue, token, key, claimed_by, data, arguments, item, variables,
        timers, effect, _progress,
    ) = row  # fmt: skip
    given = Payload.parse(data)
    task = None
    if resource is not None:
        task = Task(
            resource=resource,
            token=token,
            attempt=attempt,
            key=key,
            arguments=given if arguments is None else Payload.parse(arguments),
            ready_at=ready_at,
            heartbeat_seconds=heartbeat_seconds,
            queue=queue,
            claimed_by=claimed_by,
            lease_until=lease_until,
            deliveries=deliveries,
            at_most_once=at_most_once,
        )
    return Frame(
        id=number,
        kind=_KINDS[kind],
        status=_STATUSES[status],
        state=state,
        entry=entry,
        last_event=last_event,
        input=given,
        entered_at=entered_at,
        rests_on=None if rests_on is None else _RESTS_ON[rests_on],
        retries=_NO_RETRIES if retries is None else _read_retries(retries),
        task=task,
        wake_at=wake_at,
        timeout_at=timeout_at,
        item=None if item is None else Payload.parse(item),
        variables=None if variables is None else Payload.parse(variables),
        fork=fork,
        timers=() if timers is None else _read_timers(timers),
        level=level,
        **({} if effect is None else read_note(effect)),
    )


def seen_row(execution: int, frame: str, seen: Seen) -> Row:
    """Return the values by which an update finds its frame only if it is as it was seen."""
    return {
        "at_execution": execution,
        "at_id": frame,
        "seen_token": seen.token,
        # A frame without a task has no deliveries to count: its columns are null.
        "seen_deliveries": None if seen.token is None else seen.deliveries,
        "seen_wake_at": seen.wake_at,
    }


def progress_of(row: Values) -> Payload | None:
    """Return the progress in a row of FRAME_COLUMNS."""
    progress = row[-1]
    return None if progress is None else Payload.parse(progress)


def _timers_text(timers: Sequence[Timer]) -> str | None:
    if not timers:
        return None
    return json.dumps([[one.place, (one.at - EPOCH) // MICROSECOND] for one in timers])


def _read_timers(text: str) -> tuple[Timer, ...]:
    return tuple(Timer(place, EPOCH + at * MICROSECOND) for place, at in json.loads(text))


def _retries_text(retries: Retries) -> str | None:
    if retries == _NO_RETRIES:
        return None
    counted = [list(retries.counts), retries.total, retries.reported]
    return json.dumps(counted if retries.silent is None else [*counted, retries.silent])


def _read_retries(text: str) -> Retries:
    counts, total, reported, *silent = json.loads(text)
    return Retries(tuple(counts), total, reported, *silent)
