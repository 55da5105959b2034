"""Who lives and who is dead: a beat that is old and a lock that is free.

A process that is only held up keeps its lock, and so its claims for the whole of their leases.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Float,
    Row,
    Text,
    TextClause,
    Update,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    literal,
    or_,
    select,
    text,
    update,
)

from orchestrator.store.database import Database
from orchestrator.store.moment import current_moment, later
from orchestrator.store.tables import workers
from orchestrator.store.values import WorkerKind, WorkerRow
from orchestrator.store.wanted import TEXT, listed, one_of

SILENT_SECONDS: Final = 2.0
"""How old the last beat of a process must be before its lock is looked at."""
FORGOTTEN_SECONDS: Final = 3_600.0
"""How long the row of a process is kept that is heard of no more."""

_now: Final = current_moment()
_silent: Final[ColumnElement[bool]] = workers.c.beat_at <= later(
    _now, literal(-SILENT_SECONDS, Float())
)


def heard_of() -> ColumnElement[bool]:
    """Return the condition that the process `by` has been heard of just now, where one is named.

    A process that the database has not heard of may not call others lost: it may have been away
    together with them.
    """
    by = bindparam("by", type_=Text())
    itself = workers.alias("itself")
    fresh = itself.c.beat_at > later(_now, literal(-SILENT_SECONDS, Float()))
    return or_(cast(by, Text).is_(None), exists().where(itself.c.id == by, fresh))


_LOCK_IS_FREE: Final = text(
    "NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND ((classid::bigint << 32) | objid::bigint) = workers.lock_key)"
)

_candidate: Final = and_(workers.c.died_at.is_(None), workers.c.lock_key.is_not(None), _silent)
_CANDIDATES: Final = select(workers.c.id).where(_candidate, heard_of())


@cache
def bury_statement(dialect: str) -> Update:
    """Return the statement that notes the deaths of silent processes whose locks are free."""
    free: ColumnElement[bool] | TextClause = _LOCK_IS_FREE
    if dialect == "sqlite":
        free = one_of(dialect, workers.c.id, "free", TEXT)
    return (
        update(workers)
        .where(_candidate, heard_of(), free)
        .values(died_at=current_moment())
        .returning(workers.c.id)
    )


def bury(database: Database, by: str | None) -> list[str]:
    """Note who has died; their claims lapse from now on."""
    parameters: dict[str, Any] = {"by": by}
    if database.dialect == "sqlite":
        with database.reading() as connection:
            silent = connection.execute(_CANDIDATES, parameters).scalars().all()
        free = [worker for worker in silent if database.locks.is_free(worker)]
        if not free:
            return []
        parameters["free"] = listed(database.dialect, free)
    with database.claiming() as connection:
        statement = bury_statement(database.dialect)
        return list(connection.execute(statement, parameters).scalars())


_FORGET: Final = (
    delete(workers)
    .where(workers.c.beat_at <= later(_now, -bindparam("seconds", type_=Float())))
    .returning(workers.c.id)
)


def forget(database: Database, seconds: float) -> list[str]:
    """Remove the rows of processes that were not heard of for so long."""
    with database.claiming() as connection:
        gone = list(connection.execute(_FORGET, {"seconds": seconds}).scalars())
    if database.dialect == "sqlite":
        for worker in gone:
            if database.locks.is_free(worker):
                database.locks.drop(worker)
    return gone


_ROWS: Final = select(workers, _silent.label("silent")).order_by(workers.c.id)


def worker_list(database: Database) -> list[WorkerRow]:
    """Return all processes that are or were, those that died lately too."""
    with database.reading() as connection:
        rows = connection.execute(_ROWS).all()
    return [_worker(row) for row in rows]


def _worker(row: Row[Any]) -> WorkerRow:
    serves = None if row.serves is None else json.loads(row.serves)
    return WorkerRow(
        id=row.id,
        kind=WorkerKind(row.kind),
        level=row.level,
        started_at=row.started_at,
        beat_at=row.beat_at,
        died_at=row.died_at,
        silent=bool(row.silent),
        locked=row.lock_key is not None,
        slots=row.slots,
        given_up=row.given_up,
        failed_bells=row.failed_bells,
        serves=serves or {},
        unhealthy=row.unhealthy,
    )


_LIVING: Final = (
    select(workers.c.id)
    .where(workers.c.kind == bindparam("at_kind"), workers.c.died_at.is_(None), ~_silent)
    .order_by(workers.c.id)
)


def living(database: Database, kind: WorkerKind) -> list[str]:
    """Return the processes of a kind that were heard of just now, in an order all agree on."""
    with database.reading() as connection:
        return list(connection.execute(_LIVING, {"at_kind": kind.value}).scalars())
