"""Executions, frames and forks as rows, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, TypeAlias, TypedDict

from orchestrator.asl.errors import Failure
from orchestrator.asl.retries import Retrier
from orchestrator.execution.compensation import Terms, Undoing
from orchestrator.execution.decision import Seen
from orchestrator.execution.frame import (
    EffectNote,
    Execution,
    ExecutionStatus,
    Fork,
    Frame,
    FrameKind,
    FrameStatus,
    Origin,
    Parent,
    Pause,
    Phase,
    RestsOn,
    Retries,
    Task,
    Timer,
    UndoNote,
)
from orchestrator.execution.payload import Payload
from orchestrator.execution.setback import Setback
from orchestrator.store.moment import EPOCH, MICROSECOND
from orchestrator.store.tables import executions, forks, frames

Row: TypeAlias = "dict[str, object]"
"""The values of a row by column, as a statement takes them."""

Values: TypeAlias = "Sequence[Any]"
"""The values of a row in the order of its table's columns, whose types the tables declare."""

EXECUTION_COLUMNS: Final = tuple(executions.c)
FRAME_COLUMNS: Final = tuple(frames.c)
FORK_COLUMNS: Final = tuple(forks.c)

_STATUSES: Final = {status.value: status for status in ExecutionStatus}
_PHASES: Final = {phase.value: phase for phase in Phase}
_KINDS: Final = {kind.value: kind for kind in FrameKind}
_FRAME_STATUSES: Final = {status.value: status for status in FrameStatus}
_RESTS_ON: Final = {rests_on.value: rests_on for rests_on in RestsOn}
_NO_RETRIES: Final = Retries()
_NO_ORIGIN: Final = Origin()


def execution_row(execution: Execution) -> Row:
    """Return an execution as a row."""
    return {
        "id": execution.id,
        "revision": execution.revision,
        "version": execution.version,
        "next_event_id": execution.next_event_id,
        "frames": execution.frames,
        "kept": execution.kept,
        "effects": execution.effects,
        "strikes": execution.strikes,
        "started_at": execution.started_at,
        "last_event_at": execution.last_event_at,
        "deadline_at": execution.deadline_at,
        "ended_at": execution.ended_at,
        "machine": execution.machine,
        "name": execution.name,
        "status": execution.status.value,
        "phase": execution.phase.value,
        "final_state": execution.final_state,
        "error": _escaped(execution.error),
        "cause": _escaped(execution.cause),
        "told": None if execution.parent is None else False,
        "parent": None if execution.parent is None else str(execution.parent),
        "origin": _origin_text(execution.origin),
        "outcome": None if execution.outcome is None else execution.outcome.value,
        "undoing": None if execution.undoing is Undoing.NONE else execution.undoing.value,
    }


def read_execution(row: Values) -> Execution:
    """Return the execution of a row of EXECUTION_COLUMNS."""
    (
        number,
        revision,
        version,
        next_event_id,
        frame_count,
        kept,
        effects,
        strikes,
        started_at,
        last_event_at,
        deadline_at,
        ended_at,
        machine,
        name,
        status,
        phase,
        final_state,
        error,
        cause,
        _told,
        parent,
        origin,
        outcome,
        undoing,
    ) = row
    return Execution(
        id=number,
        machine=machine,
        revision=revision,
        name=name,
        status=_STATUSES[status],
        phase=_PHASES[phase],
        version=version,
        next_event_id=next_event_id,
        frames=frame_count,
        kept=kept,
        effects=effects,
        strikes=strikes,
        started_at=started_at,
        last_event_at=last_event_at,
        deadline_at=deadline_at,
        ended_at=ended_at,
        final_state=final_state,
        error=_unescaped(error),
        cause=_unescaped(cause),
        parent=None if parent is None else Parent.parse(parent),
        origin=_NO_ORIGIN if origin is None else _read_origin(origin),
        outcome=None if outcome is None else _STATUSES[outcome],
        undoing=Undoing.NONE if undoing is None else Undoing(undoing),
    )


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
        "effect": _note_text(frame),
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
        _execution,
        entry,
        last_event,
        fork,
        entered_at,
        wake_at,
        timeout_at,
        ready_at,
        lease_until,
        heartbeat_seconds,
        attempt,
        deliveries,
        level,
        at_most_once,
        number,
        kind,
        status,
        rests_on,
        state,
        retries,
        resource,
        queue,
        token,
        key,
        claimed_by,
        data,
        arguments,
        item,
        variables,
        timers,
        effect,
        _progress,
    ) = row
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
        status=_FRAME_STATUSES[status],
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
        **({} if effect is None else _read_note(effect)),
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


def seen_of(frame: Frame) -> Seen:
    """Return what a decision sees of a frame."""
    if frame.task is None:
        return Seen(None, 0, frame.wake_at)
    return Seen(frame.task.token, frame.task.deliveries, frame.wake_at)


def fork_row(execution: int, fork: Fork) -> Row:
    """Return a fork as a row."""
    return {
        "execution": execution,
        "entry": fork.entry,
        "total": fork.total,
        "admitted": fork.admitted,
        "succeeded": fork.succeeded,
        "failed": fork.failed,
        "max_concurrency": fork.max_concurrency,
        "tolerated_count": fork.tolerated_count,
        "tolerated_percentage": fork.tolerated_percentage,
        "frame": fork.frame,
    }


def read_fork(row: Values) -> Fork:
    """Return the fork of a row of FORK_COLUMNS."""
    _, entry, total, admitted, succeeded, failed, concurrency, count, percentage, frame = row
    return Fork(
        frame=frame,
        entry=entry,
        total=total,
        admitted=admitted,
        succeeded=succeeded,
        failed=failed,
        max_concurrency=concurrency,
        tolerated_count=count,
        tolerated_percentage=percentage,
    )


def progress_of(row: Values) -> Payload | None:
    """Return the progress in a row of FRAME_COLUMNS."""
    progress = row[-1]
    return None if progress is None else Payload.parse(progress)


def _origin_text(origin: Origin) -> str | None:
    if origin == _NO_ORIGIN:
        return None
    return json.dumps([origin.trace_header, origin.test_case])


def _read_origin(text: str) -> Origin:
    trace_header, test_case = json.loads(text)
    return Origin(trace_header, test_case)


def _timers_text(timers: Sequence[Timer]) -> str | None:
    if not timers:
        return None
    return json.dumps([[one.place, (one.at - EPOCH) // MICROSECOND] for one in timers])


def _read_timers(text: str) -> tuple[Timer, ...]:
    return tuple(Timer(place, EPOCH + at * MICROSECOND) for place, at in json.loads(text))


def _note_text(frame: Frame) -> str | None:
    """Return what a frame knows of itself: as an effect, while it undoes, or waits for that."""
    if frame.effect is not None:
        return json.dumps([frame.effect.pointer, frame.effect.error, frame.effect.cause])
    if frame.undo is None and frame.pause is None:
        return None
    note: dict[str, object] = {}
    if frame.undo is not None:
        undo = frame.undo
        terms = None if undo.terms is None else written_terms(undo.terms)
        note["undo"] = [*_UNDO(undo), terms]
    if frame.pause is not None:
        setback = frame.pause.setback
        note["pause"] = None if setback is None else _written_setback(setback)
    return json.dumps(note)


_UNDO: Final = attrgetter("scope", "floor", "event", "place", "pointer", "undoes", "error", "cause")


class _Note(TypedDict, total=False):
    effect: EffectNote
    undo: UndoNote
    pause: Pause


def _read_note(text: str) -> _Note:
    note = json.loads(text)
    if isinstance(note, list):
        return {"effect": EffectNote(*note)}
    found: _Note = {}
    if "undo" in note:
        scope, floor, event, place, pointer, undoes, error, cause, terms = note["undo"]
        read = None if terms is None else read_terms(terms)
        found["undo"] = UndoNote(scope, floor, event, place, pointer, undoes, read, error, cause)
    if "pause" in note:
        met = note["pause"]
        found["pause"] = Pause(None if met is None else _read_setback(met))
    return found


def _written_setback(setback: Setback) -> dict[str, object]:
    flags = [one.name for one in fields(setback) if getattr(setback, one.name) is True]
    failure = setback.failure
    return {"error": failure.error, "cause": failure.cause, "flags": flags}


def _read_setback(met: dict[str, Any]) -> Setback:
    return Setback(Failure(met["error"], met["cause"]), **dict.fromkeys(met["flags"], True))


def written_terms(terms: Terms) -> list[object]:
    """Return how a compensation is run as JSON."""
    retry = [
        [
            list(one.error_equals),
            one.interval_seconds,
            one.max_attempts,
            one.backoff_rate,
            one.max_delay_seconds,
            one.full_jitter,
        ]
        for one in terms.retry
    ]
    names: list[object] = [terms.resource_type, terms.resource_action, retry]
    return [*names, terms.timeout_seconds, terms.heartbeat_seconds]


def read_terms(written: Sequence[Any]) -> Terms:
    """Return how a compensation is run."""
    resource_type, action, retry, timeout, heartbeat = written
    retriers = tuple(Retrier(tuple(errors), *rest) for errors, *rest in retry)
    return Terms(resource_type, action, retriers, timeout, heartbeat)


def _retries_text(retries: Retries) -> str | None:
    if retries == _NO_RETRIES:
        return None
    counted = [list(retries.counts), retries.total, retries.reported]
    return json.dumps(counted if retries.silent is None else [*counted, retries.silent])


def _read_retries(text: str) -> Retries:
    counts, total, reported, *silent = json.loads(text)
    return Retries(tuple(counts), total, reported, *silent)


def _escaped(text: str | None) -> str | None:
    """Return a text that handlers make as a JSON string: it may hold what no database takes."""
    return None if text is None else json.dumps(text)


def _unescaped(text: str | None) -> str | None:
    return None if text is None else str(json.loads(text))


def least(*moments: datetime | None) -> datetime | None:
    """Return the earliest of the moments that there are."""
    return min((moment for moment in moments if moment is not None), default=None)
