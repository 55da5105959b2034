"""A database of a simulation: SQLite in memory, behind a wire that can be cut at every statement.

The stores made here run the code of every other store. What is simulated is the connection: before
and after whatever it sends it asks the wire, which may raise.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from sqlalchemy import Engine, delete
from sqlalchemy.engine import make_url

from orchestrator.asl.limits import Limits
from orchestrator.store import sqlite
from orchestrator.store.address import Connecting
from orchestrator.store.alive import Locks
from orchestrator.store.database import Surroundings
from orchestrator.store.schema import migrate
from orchestrator.store.store import Store
from orchestrator.store.tables import metadata

_MOST_AT_ONCE: Final = 8
"""Processes that hold a connection at the same time: those that wait for another's statement."""


class WireCut(sqlite3.OperationalError):
    """The connection has died; at a COMMIT nobody knows whether it stands."""


class Wire(Protocol):
    """What stands between a process and its database; each method may raise, WireCut or other."""

    def reading(self) -> None:
        """A statement outside of any transaction is about to be sent."""
        ...

    def beginning(self) -> None:
        """A transaction that writes is about to begin."""
        ...

    def begun(self) -> None:
        """It holds the database's lock."""
        ...

    def committing(self) -> None:
        """It is about to be committed."""
        ...

    def committed(self) -> None:
        """It stands, and its process has not heard of it yet."""
        ...

    def rolled_back(self) -> None:
        """It has left nothing behind."""
        ...


class _Cursor(sqlite3.Cursor):
    connection: _Connection

    def execute(self, sql: str, parameters: object = (), /) -> _Cursor:
        wire = self.connection.wire
        if sql == "BEGIN IMMEDIATE":
            wire.beginning()
            super().execute(sql)
            wire.begun()
        else:
            if not self.connection.in_transaction and not sql.startswith("PRAGMA"):
                wire.reading()
            super().execute(sql, parameters)  # type: ignore[arg-type]  # as SQLAlchemy hands it in
        return self


class _Connection(sqlite3.Connection):
    wire: Wire

    def cursor(self, _factory: object = None) -> _Cursor:  # type: ignore[override]
        return super().cursor(_Cursor)

    def commit(self) -> None:
        if self.in_transaction:
            try:
                self.wire.committing()
            except BaseException:
                super().rollback()  # as a database does whose client is gone
                raise
            super().commit()
            self.wire.committed()

    def rollback(self) -> None:
        if self.in_transaction:
            super().rollback()
            self.wire.rolled_back()


class SimulatedDatabase:
    """One database and what connects to it, for the use of one thread."""

    def __init__(
        self,
        path: Path,
        wire: Wire,
        microseconds: Callable[[], int],
        monotonic: Callable[[], float],
    ) -> None:
        """`microseconds`: the database's clock; `monotonic`: that of every process."""

        class Wired(_Connection):
            pass

        Wired.wire = wire
        self._url = f"sqlite:///{path}"
        migrate(self._url)
        connecting = Connecting(pool_size=_MOST_AT_ONCE, pool_overflow=0)
        self._engines: tuple[Engine, Engine] = sqlite.engines(
            make_url(self._url),
            connecting,
            microseconds,
            most_writing=_MOST_AT_ONCE,
            factory=Wired,
            synchronous="OFF",
        )
        self._surroundings = Surroundings(microseconds, monotonic, lambda: self._engines)

    def store(self, limits: Limits, lease_seconds: float, locks: Locks | None = None) -> Store:
        """Make the store of one more process."""
        return Store(
            self._url,
            limits=limits,
            lease_seconds=lease_seconds,
            surroundings=replace(self._surroundings, locks=locks),
        )

    def empty(self) -> None:
        """Take everything out of all tables."""
        with self._engines[1].begin() as connection:
            for table in reversed(metadata.sorted_tables):
                connection.execute(delete(table))

    def close(self) -> None:
        """Close all connections."""
        for engine in self._engines:
            engine.dispose()
