"""Executions as people ask for them: one, many page by page, their documents, their history."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import Select, bindparam, func, select

from orchestrator.execution.frame import Execution, ExecutionStatus, Frame, FrameKind
from orchestrator.execution.history import HistoryEvent, decode
from orchestrator.execution.payload import Payload
from orchestrator.store.database import Database
from orchestrator.store.frame_row import FRAME_COLUMNS, read_frame
from orchestrator.store.rows import EXECUTION_COLUMNS, read_execution
from orchestrator.store.tables import FAILED, documents, executions, frames, history
from orchestrator.store.wanted import INTEGER, listed, one_of

_BY_ID: Final = select(*EXECUTION_COLUMNS).where(executions.c.id == bindparam("at_id"))
_BY_NAME: Final = select(*EXECUTION_COLUMNS).where(
    executions.c.machine == bindparam("at_machine"), executions.c.name == bindparam("at_name")
)
_DOCUMENT: Final = select(documents.c.text).where(
    documents.c.execution == bindparam("at_id"), documents.c.what == bindparam("at_what")
)
_IS_EFFECT: Final = frames.c.kind == FrameKind.EFFECT.value
_FRAMES: Final = (
    select(*FRAME_COLUMNS)
    .where(frames.c.execution == bindparam("at_id"), ~_IS_EFFECT)
    .order_by(frames.c.id)
)
_PAGE: Final = _FRAMES.where(frames.c.id > bindparam("after")).limit(bindparam("most"))
_FIRST_PAGE: Final = _FRAMES.limit(bindparam("most"))
_EFFECTS: Final = (
    select(*FRAME_COLUMNS)
    .where(frames.c.execution == bindparam("at_id"), _IS_EFFECT)
    .order_by(frames.c.entry, frames.c.id)
)
_FAILED_EFFECTS: Final = (
    select(executions.c.machine, executions.c.name, *FRAME_COLUMNS)
    .join(executions, executions.c.id == frames.c.execution)
    .where(FAILED)
    .order_by(frames.c.execution)
    .limit(bindparam("most"))
)


def execution(database: Database, number: int) -> Execution | None:
    """Return an execution by its id."""
    with database.reading() as connection:
        row = connection.execute(_BY_ID, {"at_id": number}).first()
    return None if row is None else read_execution(row)


def find(database: Database, machine: str, name: str) -> Execution | None:
    """Return an execution by its machine and name."""
    with database.reading() as connection:
        row = connection.execute(_BY_NAME, {"at_machine": machine, "at_name": name}).first()
    return None if row is None else read_execution(row)


def document(database: Database, number: int, what: str) -> Payload | None:
    """Return the input or output of an execution."""
    with database.reading() as connection:
        text = connection.execute(_DOCUMENT, {"at_id": number, "at_what": what}).scalar()
    return None if text is None else Payload.parse(text)


def frame_list(database: Database, number: int) -> list[Frame]:
    """Return the frames of an execution, by id."""
    with database.reading() as connection:
        return [read_frame(row) for row in connection.execute(_FRAMES, {"at_id": number})]


def frame_page(database: Database, number: int, after: str | None, limit: int) -> list[Frame]:
    """Return frames of an execution behind an id, by id."""
    parameters: dict[str, object] = {"at_id": number, "most": limit}
    statement = _FIRST_PAGE
    if after is not None:
        statement = _PAGE
        parameters["after"] = after
    with database.reading() as connection:
        return [read_frame(row) for row in connection.execute(statement, parameters)]


def effect_list(database: Database, number: int) -> list[Frame]:
    """Return the effects of an execution in order of their turns."""
    with database.reading() as connection:
        return [read_frame(row) for row in connection.execute(_EFFECTS, {"at_id": number})]


def failed_effects(database: Database, limit: int) -> list[tuple[str, Frame]]:
    """Return effects that have failed for good, with the addresses of their executions."""
    with database.reading() as connection:
        rows = connection.execute(_FAILED_EFFECTS, {"most": limit}).all()
    return [(f"{row[0]}:{row[1]}", read_frame(row[2:])) for row in rows]


@cache
def _ended_statement(dialect: str) -> Select[Any]:
    return select(executions.c.id).where(
        one_of(dialect, executions.c.id, "ids", INTEGER), executions.c.ended_at.is_not(None)
    )


def ended(database: Database, ids: Sequence[int]) -> list[int]:
    """Return those of the executions that have ended."""
    with database.reading() as connection:
        parameters = {"ids": listed(database.dialect, ids)}
        return list(connection.execute(_ended_statement(database.dialect), parameters).scalars())


NEWEST: Final = 2**63 - 1


@cache
def list_statement(by_machine: bool, by_status: bool) -> Select[Any]:
    """Return a page of executions, newest first; ids are made in order of time."""
    statement = (
        select(*EXECUTION_COLUMNS)
        .where(executions.c.id < bindparam("before"))
        .order_by(executions.c.id.desc())
        .limit(bindparam("most"))
    )
    if by_machine:
        statement = statement.where(executions.c.machine == bindparam("at_machine"))
    if by_status:
        statement = statement.where(executions.c.status == bindparam("at_status"))
    return statement


def list_executions(
    database: Database,
    machine: str | None,
    status: ExecutionStatus | None,
    limit: int,
    before: int | None,
) -> list[Execution]:
    """Return a page of executions older than the id `before`, newest first."""
    parameters = {
        "before": NEWEST if before is None else before,
        "most": limit,
        **({} if machine is None else {"at_machine": machine}),
        **({} if status is None else {"at_status": status.value}),
    }
    with database.reading() as connection:
        rows = connection.execute(
            list_statement(machine is not None, status is not None), parameters
        )
        return [read_execution(row) for row in rows]


# -- history: ids have no gap, so that a range of ids is a number of events ----------------------

_row_with: Final = (
    select(func.max(history.c.first_id))
    .where(history.c.execution == bindparam("at_id"), history.c.first_id <= bindparam("low"))
    .scalar_subquery()
)
HISTORY: Final = (
    select(history.c.events)
    .where(
        history.c.execution == bindparam("at_id"),
        history.c.first_id >= func.coalesce(_row_with, 0),
        history.c.first_id <= bindparam("high"),
    )
    .order_by(history.c.first_id)
)
_LAST: Final = (
    select(history.c.last_id)
    .where(history.c.execution == bindparam("at_id"))
    .order_by(history.c.first_id.desc())
    .limit(1)
)


def read_history(
    database: Database, number: int, after: int, limit: int, *, reverse: bool
) -> list[HistoryEvent]:
    """Return history events behind the id `after`; `reverse`: those before it, newest first.

    In reverse, `after` 0 begins at the newest.
    """
    with database.reading() as connection:
        low, high = after + 1, after + limit
        if reverse:
            newest = after - 1 if after else connection.execute(_LAST, {"at_id": number}).scalar()
            low, high = (newest or 0) - limit + 1, newest or 0
        parameters = {"at_id": number, "low": low, "high": high}
        texts = connection.execute(HISTORY, parameters).scalars().all()
    events = [found for text in texts for found in decode(text) if low <= found.id <= high]
    return events[::-1] if reverse else events
