"""Executions and forks as rows, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from orchestrator.execution.compensation import Undoing
from orchestrator.execution.frame import (
    NO_ORIGIN,
    Execution,
    ExecutionStatus,
    Fork,
    Origin,
    Parent,
    Phase,
)
from orchestrator.store.tables import executions, forks

Row: TypeAlias = "dict[str, object]"
"""The values of a row by column, as a statement takes them."""

Values: TypeAlias = "Sequence[Any]"
"""The values of a row in the order of its table's columns, whose types the tables declare."""

EXECUTION_COLUMNS: Final = tuple(executions.c)
FORK_COLUMNS: Final = tuple(forks.c)

_STATUSES: Final = {status.value: status for status in ExecutionStatus}
_PHASES: Final = {phase.value: phase for phase in Phase}


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
        number, revision, version, next_event_id, frame_count, kept, effects, strikes,
        started_at, last_event_at, deadline_at, ended_at, machine, name, status, phase,
        final_state, error, cause, _told, parent, origin, outcome, undoing,
    ) = row  # fmt: skip
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
        origin=NO_ORIGIN if origin is None else _read_origin(origin),
        outcome=None if outcome is None else _STATUSES[outcome],
        undoing=Undoing.NONE if undoing is None else Undoing(undoing),
    )


def _origin_text(origin: Origin) -> str | None:
    if origin == NO_ORIGIN:
        return None
    return json.dumps([origin.trace_header, origin.test_case])


def _read_origin(text: str) -> Origin:
    trace_header, test_case = json.loads(text)
    return Origin(trace_header, test_case)


def _escaped(text: str | None) -> str | None:
    """Return a text that handlers make as a JSON string: it may hold what no database takes."""
    return None if text is None else json.dumps(text)


def _unescaped(text: str | None) -> str | None:
    return None if text is None else str(json.loads(text))


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
