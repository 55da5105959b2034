"""Connections: engines per process, transactions, and errors in our own words."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from sqlalchemy import Connection, Engine, select
from sqlalchemy.engine import URL
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from orchestrator import crashpoint
from orchestrator.store import slots, sqlite
from orchestrator.store.address import Connecting, address
from orchestrator.store.alive import FileLocks, Locks
from orchestrator.store.clock import Clock
from orchestrator.store.errors import StoreUnavailable
from orchestrator.store.fault import RETRYABLE_STATES, reason, sqlstate
from orchestrator.store.moment import EPOCH, MICROSECOND, current_moment, system_microseconds
from orchestrator.store.postgres import Postgres

DialectName = Literal["postgresql", "sqlite"]

_NOW = select(current_moment())


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a store takes from the machine that it runs on; a simulation hands in its own."""

    microseconds: Callable[[], int] = system_microseconds
    """SQLite's clock, since 1970."""
    monotonic: Callable[[], float] = time.monotonic
    engines: Callable[[], tuple[Engine, Engine]] | None = None
    """Connections of a migrated database that several stores share: single statements, writes."""
    locks: Locks | None = None
    """Locks that die with their processes; default: files beside a SQLite database."""


@dataclass(slots=True)
class _Engines:
    """What belongs to one process and must not outlive a fork."""

    singles: Engine
    """Single statements, each a transaction of its own that need not wait for the disk."""
    writes: Engine
    """Transactions that are on disk once they are committed."""
    at_once: Engine
    """Single statements, each a transaction of its own that is on disk once it is answered."""
    slot: Path | None = None
    """SQLite only: the database for which this process is among the writers."""


_inherited: Final[list[_Engines]] = []
"""Kept for ever: were they collected, their connections would be closed, which are the parent's."""


class Database:
    """The connections of one store to one database; forks and threads may share it."""

    def __init__(
        self,
        url: str,
        connecting: Connecting,
        application_name: str,
        surroundings: Surroundings | None = None,
    ) -> None:
        self._url = address(url)
        self.surroundings = surroundings or Surroundings()
        self._connecting = connecting
        self._postgres = Postgres(self._url, connecting, application_name)
        self._path = Path(self._url.database or "").resolve()
        self._by_process: dict[int, _Engines] = {}
        self._creating = threading.Lock()
        self.dialect: DialectName = (
            "sqlite" if self._url.get_backend_name() == "sqlite" else "postgresql"
        )
        self.clock = Clock(self.read_clock, self.surroundings.monotonic)
        self.locks: Locks = self.surroundings.locks or FileLocks(self._path)

    @property
    def url(self) -> URL:
        """Where the database is."""
        return self._url

    @property
    def path(self) -> Path:
        """SQLite's file."""
        return self._path

    def is_missing(self) -> bool:
        """Whether SQLite's file is not there: whoever connects to it would make it."""
        return self._has_company and not self._path.exists()

    # -- what a statement runs in ----------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a connection on which each statement is a transaction that changes nothing."""
        with self._translated(), self._engines().singles.connect() as connection:
            yield connection

    @contextmanager
    def claiming(self, *, durable: bool = False) -> Iterator[Connection]:
        """Open a connection for one statement that changes claim columns.

        On PostgreSQL it is on disk at once only if `durable`.
        """
        if self.dialect == "sqlite":
            with self.writing() as connection:
                yield connection
        elif durable:
            with self._translated(), self._engines().at_once.connect() as connection:
                yield connection
        else:
            with self.reading() as connection:
                yield connection

    @contextmanager
    def writing_at_once(self) -> Iterator[Connection]:
        """Open a connection of PostgreSQL for one statement that is on disk once it is answered.

        Raises StoreUnavailable, with `unknown` if the connection dies before the answer.
        """
        with self._translated(unknown=True), self._engines().at_once.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction; it is committed at the end and rolled back if anything is raised.

        Raises StoreUnavailable, with `unknown` if the connection dies during COMMIT.
        """
        if self._has_company:
            self._take_slot(self._engines())
        with self.upgrading() as connection:
            yield connection

    @contextmanager
    def upgrading(self) -> Iterator[Connection]:
        """Open the same for a change of the schema, which needs no slot among SQLite's writers."""
        engines = self._engines()
        with self._translated(), self._turn(), engines.writes.connect() as connection:
            transaction = connection.begin()
            try:
                yield connection
            except BaseException:
                transaction.rollback()
                raise
            try:
                crashpoint.reach("committing")
                transaction.commit()
            except DBAPIError as error:
                if error.connection_invalidated or self.dialect == "sqlite":
                    raise StoreUnavailable(reason(error), unknown=True) from error
                raise

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Raise our own errors instead of those of a connection apart."""
        with self._translated():
            yield

    def connect_apart(self) -> Connection:
        """Open a PostgreSQL connection that is in no pool; each statement is a transaction."""
        return self._postgres.connect_apart()

    def read_clock(self) -> datetime:
        """Ask the database what time it is."""
        if self.dialect == "sqlite":
            return EPOCH + self.surroundings.microseconds() * MICROSECOND
        with self.reading() as connection:
            return connection.execute(_NOW).scalar_one()

    def dispose(self, *, close: bool = True) -> None:
        """Close the connections of this process; `close=False` only forgets them, after a fork."""
        engines = self._by_process.pop(os.getpid(), None)
        if engines is None:
            return
        for engine in {engines.singles, engines.writes, engines.at_once}:
            engine.dispose(close=close)
        if engines.slot is not None:
            slots.give_back(engines.slot)

    # -- engines ---------------------------------------------------------------------------------

    def _engines(self) -> _Engines:
        engines = self._by_process.get(os.getpid())
        return engines if engines is not None else self._create()

    def _create(self) -> _Engines:
        process = os.getpid()
        if self._by_process.keys() - {process}:
            self._leave_to_parent(process)
        with self._creating:
            engines = self._by_process.get(process)
            if engines is None:
                engines = self._by_process[process] = self._connected()
            return engines

    def _connected(self) -> _Engines:
        if self.dialect == "postgresql" and self.surroundings.engines is None:
            return _Engines(*self._postgres.engines())
        if self.surroundings.engines is not None:
            singles, writes = self.surroundings.engines()
        else:
            singles, writes = sqlite.engines(
                self._url, self._connecting, self.surroundings.microseconds
            )
        return _Engines(singles, writes, at_once=writes)

    def _leave_to_parent(self, process: int) -> None:
        """Forget what was inherited by a fork without touching the parent's connections."""
        self._creating = threading.Lock()
        self.clock = Clock(self.read_clock, self.surroundings.monotonic)
        for inherited in self._by_process.keys() - {process}:
            engines = self._by_process.pop(inherited, None)
            if engines is not None:
                _inherited.append(engines)

    def _take_slot(self, engines: _Engines) -> None:
        if engines.slot is None:
            with self._creating:
                if engines.slot is None:
                    slots.take(self._path)
                    engines.slot = self._path

    @property
    def _has_company(self) -> bool:
        """Whether writers must stand in line: those of SQLite, but in a simulation."""
        return self.dialect == "sqlite" and self.surroundings.engines is None

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for this thread's turn to write, where there is a line."""
        if not self._has_company:
            yield
            return
        turn = slots.turn(self._path)
        if not turn.acquire(timeout=sqlite.BUSY_SECONDS):
            raise StoreUnavailable(f"another thread has been writing for {sqlite.BUSY_SECONDS} s")
        try:
            yield
        finally:
            turn.release()

    @contextmanager
    def _translated(self, *, unknown: bool = False) -> Iterator[None]:
        try:
            yield
        except PoolTimeout as error:
            waited = self._connecting.pool_wait_seconds
            raise StoreUnavailable(f"no free connection within {waited} s") from error
        except sqlite3.OperationalError as error:  # from BEGIN IMMEDIATE, which is ours
            raise StoreUnavailable(str(error)) from error
        except DBAPIError as error:
            if type(error) is DatabaseError:  # SQLite: a file that is broken, or no database
                raise StoreUnavailable(reason(error)) from error
            if error.connection_invalidated or isinstance(error, OperationalError):
                if sqlstate(error) in RETRYABLE_STATES:
                    raise
                raise StoreUnavailable(reason(error), unknown=unknown) from error
            raise
