"""Executions that are called: found by name, with what a decision on a call looks at first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection, Select, and_, select

from orchestrator.execution.call import Call
from orchestrator.execution.decision import View
from orchestrator.execution.frame import Scope
from orchestrator.store.call import CALL_COLUMNS, read_call
from orchestrator.store.frame_row import FRAME_COLUMNS, read_frame
from orchestrator.store.rows import (
    EXECUTION_COLUMNS,
    FORK_COLUMNS,
    read_execution,
    read_fork,
)
from orchestrator.store.tables import calls, executions, forks, frames
from orchestrator.store.view import FORK_OF_FRAME
from orchestrator.store.wanted import TEXT, wanted, wanted_rows

CallKey: TypeAlias = "tuple[str, str, str]"
"""The machine and the name of an execution, and the id of a call."""
Called: TypeAlias = "tuple[View, Call | None]"
"""An execution with its root frame, and the call of that id, if it is on record."""

ROOT: Final = ""
_FRAME: Final = 1 + len(EXECUTION_COLUMNS)
_FORK: Final = _FRAME + len(FRAME_COLUMNS)
_CALL: Final = _FORK + len(FORK_COLUMNS)


@cache
def _statement(dialect: str) -> Select[Any]:
    keys = wanted(dialect, machine=TEXT, name=TEXT, call_id=TEXT)
    return (
        select(keys.c.call_id, *EXECUTION_COLUMNS, *FRAME_COLUMNS, *FORK_COLUMNS, *CALL_COLUMNS)
        .select_from(keys)
        .join(
            executions,
            and_(executions.c.machine == keys.c.machine, executions.c.name == keys.c.name),
        )
        .outerjoin(frames, and_(frames.c.execution == executions.c.id, frames.c.id == ROOT))
        .outerjoin(forks, FORK_OF_FRAME)
        .outerjoin(
            calls, and_(calls.c.execution == executions.c.id, calls.c.call_id == keys.c.call_id)
        )
    )


def find_called(
    connection: Connection, keys: Sequence[CallKey], scope: Scope
) -> list[Called | None]:
    """Return what is called, in the order of the keys, in one statement."""
    dialect = connection.dialect.name
    rows = wanted_rows(dialect, ("machine", "name", "call_id"), sorted(set(keys)))
    found: dict[CallKey, Called] = {}
    for row in connection.execute(_statement(dialect), rows):
        execution = read_execution(row[1:_FRAME])
        has_frame, has_fork, has_call = (row[place] is not None for place in (_FRAME, _FORK, _CALL))
        view = View(
            execution=execution,
            scope=scope,
            frames={ROOT: read_frame(row[_FRAME:_FORK])} if has_frame else {},
            forks={ROOT: read_fork(row[_FORK:_CALL])} if has_fork else {},
        )
        known = read_call(row[_CALL:]) if has_call else None
        found[execution.machine, execution.name, row[0]] = view, known
    return [found.get(key) for key in keys]
