"""Connections: engines per process, transactions, and errors in our own words."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Final, Literal

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, select
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    NoSuchModuleError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from orchestrator import crashpoint
from orchestrator.store import slots
from orchestrator.store.alive import FileLocks, Locks
from orchestrator.store.clock import Clock
from orchestrator.store.errors import StoreUnavailable, UnsupportedDatabase
from orchestrator.store.moment import EPOCH, MICROSECOND, current_moment, system_microseconds
from orchestrator.store.pool import Pool

DialectName = Literal["postgresql", "sqlite"]

SQLITE_BUSY_SECONDS: Final = 10.0

_NOW = select(current_moment())


@dataclass(frozen=True, slots=True)
class Connecting:
    """How a process connects; seconds, and connections per process and kind."""

    pool_size: int = 5
    """Connections kept open: as many of each kind, for transactions and for single statements that
    wait for the disk or do not."""
    pool_overflow: int = 10
    pool_wait_seconds: float = 10.0
    connect_seconds: int = 5
    statement_seconds: float = 30.0
    lock_seconds: float = 10.0
    idle_in_transaction_seconds: float = 30.0


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
        self._url = _readable(url)
        self.surroundings = surroundings or Surroundings()
        self._connecting = connecting
        self._application_name = application_name
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
                    raise StoreUnavailable(_reason(error), unknown=True) from error
                raise

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Raise our own errors instead of those of a connection apart."""
        with self._translated():
            yield

    def connect_apart(self) -> Connection:
        """Open a PostgreSQL connection that is in no pool; each statement is a transaction."""
        connecting = replace(self._connecting, statement_seconds=APART_SECONDS)
        engine = create_engine(
            self._url,
            isolation_level="AUTOCOMMIT",
            poolclass=NullPool,
            connect_args={
                **self._named(connecting),
                "options": _session_options(self._url, connecting, False) + _NOTICED_SOON,
            },
        )
        return engine.connect()

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
            return self._postgres()
        if self.surroundings.engines is not None:
            singles, writes = self.surroundings.engines()
        else:
            singles, writes = sqlite_engines(
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

    def _postgres(self) -> _Engines:
        singles = self._postgres_engine(synchronous_commit=False, isolation_level="AUTOCOMMIT")
        writes = self._postgres_engine(synchronous_commit=True, isolation_level="READ COMMITTED")
        at_once = self._postgres_engine(synchronous_commit=True, isolation_level="AUTOCOMMIT")
        for engine, other in permutations((singles, writes, at_once), 2):
            event.listen(engine, "handle_error", partial(_lose_together, other))
        return _Engines(singles, writes, at_once)

    def _postgres_engine(
        self,
        *,
        synchronous_commit: bool,
        isolation_level: Literal["AUTOCOMMIT", "READ COMMITTED"],
    ) -> Engine:
        connecting = self._connecting
        return create_engine(
            self._url,
            isolation_level=isolation_level,
            poolclass=Pool,
            pool_size=connecting.pool_size,
            max_overflow=connecting.pool_overflow,
            pool_timeout=connecting.pool_wait_seconds,
            pool_use_lifo=True,
            connect_args={
                **self._named(connecting),
                "options": _session_options(self._url, connecting, synchronous_commit),
            },
        )

    def _named(self, connecting: Connecting) -> dict[str, object]:
        return {
            "application_name": self._application_name or "orchestrator",
            "connect_timeout": connecting.connect_seconds,
        }

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
        if not turn.acquire(timeout=SQLITE_BUSY_SECONDS):
            raise StoreUnavailable(f"another thread has been writing for {SQLITE_BUSY_SECONDS} s")
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
                raise StoreUnavailable(_reason(error)) from error
            if error.connection_invalidated or isinstance(error, OperationalError):
                if sqlstate(error) in RETRYABLE_STATES:
                    raise
                raise StoreUnavailable(_reason(error), unknown=unknown) from error
            raise


# -- PostgreSQL ----------------------------------------------------------------------------------

APART_SECONDS: Final = 5.0
"""How long a statement of a connection apart may take."""
_NOTICED_SOON: Final = "".join(
    f" -c tcp_keepalives_{name}" for name in ("idle=2", "interval=1", "count=3")
)
"""The session of a machine that is gone ends soon, and with it the locks that it held."""

RETRYABLE_STATES: Final = frozenset({"40001", "40P01", "55P03"})
"""Serialization failure, deadlock, lock timeout: the same may succeed when tried again."""


def _lose_together(other: Engine, context: ExceptionContext) -> None:
    """Close what idles elsewhere once a connection is lost: each would be found dead in its turn.

    SQLAlchemy does so among the connections of one engine.
    """
    if context.is_disconnect:
        other.dispose()


def sqlstate(error: DBAPIError) -> str | None:
    """Return PostgreSQL's five characters for an error."""
    state = getattr(error.orig, "sqlstate", None)
    return state if isinstance(state, str) else None


def _session_options(url: URL, connecting: Connecting, synchronous_commit: bool) -> str:
    """Return what holds for every statement of a connection.

    Every statement of ours finds its rows by an index. Right after a start the planner has no
    statistics and would keep plans that read whole tables; it is told not to look for them.
    """
    given = url.query.get("options", ())
    settings = {
        "timezone": "UTC",
        "statement_timeout": int(connecting.statement_seconds * 1_000),
        "lock_timeout": int(connecting.lock_seconds * 1_000),
        "idle_in_transaction_session_timeout": int(connecting.idle_in_transaction_seconds * 1_000),
        "enable_seqscan": "off",
        "enable_hashjoin": "off",
        "enable_mergejoin": "off",
        "jit": "off",
    }
    if not synchronous_commit:
        settings["synchronous_commit"] = "off"
    ours = [f"-c {name}={value}" for name, value in settings.items()]
    return " ".join([*ours, *((given,) if isinstance(given, str) else given)])


# -- SQLite --------------------------------------------------------------------------------------


def sqlite_engines(
    url: URL,
    connecting: Connecting,
    microseconds: Callable[[], int],
    *,
    most_writing: int = 1,
    factory: type[sqlite3.Connection] = sqlite3.Connection,
    synchronous: Literal["FULL", "OFF"] = "FULL",
) -> tuple[Engine, Engine]:
    """Return the connections for single statements and those for transactions."""
    arguments = {"timeout": SQLITE_BUSY_SECONDS, "factory": factory}
    singles = create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        poolclass=Pool,
        pool_size=connecting.pool_size,
        max_overflow=connecting.pool_overflow,
        pool_timeout=connecting.pool_wait_seconds,
        connect_args=arguments,
    )
    writes = create_engine(
        url,
        poolclass=Pool,
        pool_size=most_writing,
        max_overflow=0,
        pool_timeout=connecting.pool_wait_seconds,
        connect_args=arguments,
    )

    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the driver opens no transactions behind our back
        connection.create_function("current_moment", 0, microseconds)
        for pragma in ("journal_mode=WAL", f"synchronous={synchronous}", "temp_store=MEMORY"):
            connection.execute(f"PRAGMA {pragma}")

    for engine in (singles, writes):
        event.listen(engine, "connect", prepare)
    event.listen(writes, "begin", begin_immediate)
    return singles, writes


def begin_immediate(connection: Connection) -> None:
    """Open a transaction as the writer: without it, what was read before may be overwritten."""
    cursor = connection.connection.cursor()
    cursor.execute("BEGIN IMMEDIATE")
    cursor.close()


# -- words ---------------------------------------------------------------------------------------


def _readable(url: str) -> URL:
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
        if backend == "postgresql":
            return parsed.set(drivername="postgresql+psycopg")
    except NoSuchModuleError as error:
        raise UnsupportedDatabase(str(error)) from error
    except (ArgumentError, ValueError) as error:  # it may hold a password: it is not repeated
        raise UnsupportedDatabase(
            "the database's URL cannot be read: give postgresql://… or sqlite:///FILE"
        ) from error
    if backend != "sqlite":
        raise UnsupportedDatabase(f"{backend}: only PostgreSQL and SQLite are supported")
    if parsed.database in (None, "", ":memory:"):
        raise UnsupportedDatabase("SQLite in memory: give a file, as in sqlite:///orchestrator.db")
    return parsed


def _reason(error: DBAPIError) -> str:
    return str(error.orig).strip() or type(error.orig).__name__
