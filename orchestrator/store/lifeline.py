"""What a process holds while it lives: a lock that dies with it, and a row that it beats.

On PostgreSQL the lock belongs to the session of a connection of its own. Behind a pooler that
hands sessions on it would say nothing: then the row names no lock, and the lease alone counts.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Text,
    bindparam,
    case,
    delete,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.dml import Insert

from orchestrator.execution.frame import LEVEL
from orchestrator.store.database import Database
from orchestrator.store.moment import current_moment
from orchestrator.store.rows import Row
from orchestrator.store.tables import workers
from orchestrator.store.values import Report

_KEEPS: Final = {"id", "started_at"}


@cache
def beat_statement(dialect: str) -> Insert:
    """Return the statement by which a process says that it lives."""
    insert: type[postgresql.Insert | sqlite.Insert] = (
        sqlite.Insert if dialect == "sqlite" else postgresql.Insert
    )
    key: ColumnElement[Any] = bindparam("key", type_=BigInteger())
    if dialect != "sqlite":
        key = case((func.pg_backend_pid() == bindparam("session", type_=BigInteger()), key))
    statement = insert(workers).values(
        started_at=current_moment(), beat_at=current_moment(), died_at=None, lock_key=key
    )
    return statement.on_conflict_do_update(
        index_elements=["id"],
        set_={c.name: statement.excluded[c.name] for c in workers.c if c.name not in _KEEPS},
    )


_END: Final = delete(workers).where(workers.c.id == bindparam("worker", type_=Text()))
_SESSION: Final = select(
    func.pg_backend_pid(), func.pg_try_advisory_lock(bindparam("key", type_=BigInteger()))
)

_connected: Final[set[Lifeline]] = set()
_inherited: Final[list[Connection]] = []
"""Kept for ever: were they closed, the parent would lose its lock."""


class Lifeline:
    """The life of one process; used by one thread at a time."""

    def __init__(self, database: Database, worker: str) -> None:
        self._database = database
        self._worker = worker
        self._connection: Connection | None = None
        self._session: int | None = None

    def beat(self, report: Report) -> None:
        """Say that the process lives and how it is: one statement, after the lock at first."""
        row = _row(self._worker, report)
        if self._database.dialect == "sqlite":
            locked = self._database.locks.take(self._worker)
            row["key"] = lock_key(self._worker) if locked else None
            with self._database.claiming() as connection:
                connection.execute(beat_statement("sqlite"), row)
            return
        with self._session_apart() as connection:
            if self._session is None:
                self._lock(connection)
            row["session"] = self._session
            connection.execute(beat_statement("postgresql"), row)

    def end(self) -> None:
        """Say that the process ends in order; it holds nothing any more."""
        try:
            with self._database.claiming() as connection:
                connection.execute(_END, {"worker": self._worker})
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Let the lock go without a word, as if the process had died."""
        if self._database.dialect == "sqlite":
            self._database.locks.drop(self._worker)
        connection, self._connection, self._session = self._connection, None, None
        _connected.discard(self)
        if connection is not None:
            connection.close()

    def leave_to_parent(self) -> None:
        """Forget the connection in a forked child, whose parent goes on with it."""
        if self._connection is not None:
            _inherited.append(self._connection)
        self._connection, self._session = None, None

    @contextmanager
    def _session_apart(self) -> Iterator[Connection]:
        with self._database.translating():
            if self._connection is None:
                self._connection = self._database.connect_apart()
                _connected.add(self)
            try:
                yield self._connection
            except DBAPIError:
                self.let_go()
                raise

    def _lock(self, connection: Connection) -> None:
        session, locked = connection.execute(_SESSION, {"key": lock_key(self._worker)}).one()
        # The session of a connection that was cut may linger and hold it: asked for again.
        self._session = session if locked else None


def _leave_to_parent() -> None:
    for lifeline in _connected:
        lifeline.leave_to_parent()
    _connected.clear()


os.register_at_fork(after_in_child=_leave_to_parent)


def lock_key(worker: str) -> int:
    """Return the number of a worker's lock."""
    return int.from_bytes(hashlib.sha256(worker.encode()).digest()[:8], "big", signed=True)


def _row(worker: str, report: Report) -> Row:
    return {
        "id": worker,
        "kind": report.kind.value,
        "level": LEVEL,
        "key": lock_key(worker),
        "slots": report.slots,
        "given_up": report.given_up,
        "failed_bells": report.failed_bells,
        "serves": None if report.serves is None else _text(report.serves),
        "unhealthy": report.unhealthy,
    }


def _text(serves: Mapping[str, str]) -> str:
    return json.dumps(serves, sort_keys=True)
