"""What a frame knows of itself, as JSON: as an effect, while it undoes, or waits for that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, TypedDict

from orchestrator.asl.errors import Failure
from orchestrator.asl.retries import Retrier
from orchestrator.execution.compensation import Terms
from orchestrator.execution.frame import EffectNote, Frame, Pause, UndoNote
from orchestrator.execution.setback import Setback
from orchestrator.store.moment import EPOCH, MICROSECOND

_UNDO: Final = attrgetter("scope", "floor", "event", "place", "pointer", "undoes", "error", "cause")


def note_text(frame: Frame) -> str | None:
    """Return what a frame knows of itself: as an effect, while it undoes, or waits for that."""
    if frame.effect is not None:
        return _effect_text(frame.effect)
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


def _effect_text(note: EffectNote) -> str:
    times = [
        None if at is None else (at - EPOCH) // MICROSECOND for at in (note.begun_at, note.ended_at)
    ]
    return json.dumps([note.pointer, note.error, note.cause, note.worker, *times])


def _read_effect(
    pointer: str,
    error: str | None,
    cause: str | None,
    worker: str | None = None,
    *times: int | None,
) -> EffectNote:
    """Return an effect's note; those of older rows say nothing of workers and times."""
    begun, ended = [None if at is None else EPOCH + at * MICROSECOND for at in times] or (None,) * 2
    return EffectNote(pointer, error, cause, worker, begun, ended)


class Note(TypedDict, total=False):
    """The fields of a frame that its note tells."""

    effect: EffectNote
    undo: UndoNote
    pause: Pause


def read_note(text: str) -> Note:
    """Return what a frame knows of itself."""
    note = json.loads(text)
    if isinstance(note, list):
        return {"effect": _read_effect(*note)}
    found: Note = {}
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
