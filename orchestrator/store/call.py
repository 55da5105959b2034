"""Calls on record: those that are kept, one by its id, all of an execution page by page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, Float, Select, and_, bindparam, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from orchestrator.execution.call import Call, Verdict
from orchestrator.execution.payload import Payload
from orchestrator.store.database import Database
from orchestrator.store.moment import current_moment, later
from orchestrator.store.rows import Row, Values
from orchestrator.store.tables import KEPT, calls, executions
from orchestrator.store.values import CallPlace
from orchestrator.store.wanted import INTEGER, TEXT, wanted, wanted_rows

CALL_COLUMNS: Final = tuple(calls.c)
_VERDICTS: Final = {verdict.value: verdict for verdict in Verdict}

INSERT_CALLS: Final[dict[str, Insert]] = {
    "postgresql": postgresql.insert(calls)
    .on_conflict_do_nothing()
    .execution_options(preserve_rowcount=True),
    "sqlite": sqlite.insert(calls)
    .on_conflict_do_nothing()
    .execution_options(preserve_rowcount=True),
}
"""Another call with the same id stands: then fewer rows are written than were sent."""

DECIDE_CALLS: Final = (
    update(calls)
    .where(
        calls.c.execution == bindparam("at_execution"),
        calls.c.call_id == bindparam("at_call_id"),
        KEPT,
    )
    .values(
        verdict=bindparam("verdict"),
        answer=bindparam("answer"),
        decided_at=bindparam("decided_at"),
    )
)

_OF_EXECUTION: Final = select(*CALL_COLUMNS).where(calls.c.execution == bindparam("at_execution"))
_KEPT_CALLS: Final = _OF_EXECUTION.where(KEPT).order_by(calls.c.number)
_ONE: Final = _OF_EXECUTION.where(calls.c.call_id == bindparam("at_id"))
_PAGE: Final = (
    _OF_EXECUTION.where(
        tuple_(calls.c.number, calls.c.call_id)
        > tuple_(bindparam("after_number"), bindparam("after_id"))
    )
    .order_by(calls.c.number, calls.c.call_id)
    .limit(bindparam("most"))
)


@cache
def _by_id(dialect: str) -> Select[Any]:
    keys = wanted(dialect, execution=INTEGER, call_id=TEXT)
    return (
        select(*CALL_COLUMNS)
        .select_from(keys)
        .join(calls, and_(calls.c.execution == keys.c.execution, calls.c.call_id == keys.c.call_id))
    )


_OVERDUE: Final = (
    select(executions.c.machine, executions.c.name, *CALL_COLUMNS)
    .join(executions, executions.c.id == calls.c.execution)
    .where(KEPT, calls.c.arrived_at <= later(current_moment(), -bindparam("kept", type_=Float())))
    .order_by(calls.c.arrived_at)
    .limit(bindparam("most"))
)


def call_row(execution: int, call: Call) -> Row:
    """Return a call as a row."""
    return {
        "execution": execution,
        "call_id": call.id,
        "number": call.number,
        "arrived_at": call.arrived_at,
        "call": call.name,
        "at": call.at,
        "digest": call.digest,
        "input": call.input.text,
        **_verdict(call),
    }


def decided_row(execution: int, call: Call) -> Row:
    """Return what a kept call's verdict changes of its row."""
    return {"at_execution": execution, "at_call_id": call.id, **_verdict(call)}


def _verdict(call: Call) -> Row:
    return {"verdict": call.verdict.value, "answer": call.answer, "decided_at": call.decided_at}


def read_call(row: Values) -> Call:
    """Return the call of a row of CALL_COLUMNS."""
    _, number, order, arrived_at, decided_at, name, at, digest, verdict, given, answer = row
    return Call(
        id=number,
        name=name,
        input=Payload.parse(given),
        digest=digest,
        arrived_at=arrived_at,
        at=at,
        number=order,
        verdict=_VERDICTS[verdict],
        answer=answer,
        decided_at=decided_at,
    )


def kept_calls(connection: Connection, execution: int) -> tuple[Call, ...]:
    """Return the calls of an execution that wait for their verdict, in their order."""
    rows = connection.execute(_KEPT_CALLS, {"at_execution": execution})
    return tuple(read_call(row) for row in rows)


def one(connection: Connection, execution: int, call_id: str) -> Call | None:
    """Return a call by its id."""
    row = connection.execute(_ONE, {"at_execution": execution, "at_id": call_id}).first()
    return None if row is None else read_call(row)


def call(database: Database, execution: int, call_id: str) -> Call | None:
    """Return a call of an execution by its id."""
    with database.reading() as connection:
        return one(connection, execution, call_id)


def by_id(database: Database, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], Call]:
    """Return calls by the ids of execution and call, in one statement."""
    rows = wanted_rows(database.dialect, ("execution", "call_id"), sorted(set(keys)))
    with database.reading() as connection:
        found: Sequence[Values] = connection.execute(_by_id(database.dialect), rows).all()
    return {(row[0], row[1]): read_call(row) for row in found}


def call_list(database: Database, execution: int, after: CallPlace, limit: int) -> list[Call]:
    """Return a page of an execution's calls behind a place, in order of what they found."""
    parameters = {
        "at_execution": execution,
        "after_number": after[0],
        "after_id": after[1],
        "most": limit,
    }
    with database.reading() as connection:
        return [read_call(row) for row in connection.execute(_PAGE, parameters)]


def overdue(database: Database, seconds: float, limit: int) -> list[tuple[str, Call]]:
    """Return calls that have been kept for longer than so many seconds, with their addresses."""
    with database.reading() as connection:
        rows: Sequence[Values] = connection.execute(
            _OVERDUE, {"kept": seconds, "most": limit}
        ).all()
    return [(f"{row[0]}:{row[1]}", read_call(row[2:])) for row in rows]
