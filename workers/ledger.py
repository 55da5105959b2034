"""The ledger of the sample handlers: every run, and the effects they had on the world, one per key.

It stands for the systems outside: a payment provider that knows idempotency keys has such a table.
`ORCHESTRATOR_LEDGER_URL` says where it is; else it is beside the engine's data, in its own tables.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from orchestrator.asl.document import Json
from orchestrator.handlers import TaskContext
from orchestrator.settings import DEFAULT_DATABASE_URL

FILE: Final = "ledger.db"
SECONDS: Final = 10
"""How long a write waits for others."""

OUTAGE_SECONDS: Final = 30
"""How long a handler waits for a ledger that is away."""
AGAIN_SECONDS: Final = 0.2

UNDONE: Final = "undone"
"""In the place of the handler: what holds this key was undone before it could be done."""

T = TypeVar("T")

_tables = sa.MetaData()

_runs = sa.Table(
    "ledger_runs",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("execution", sa.Text, nullable=False, index=True),
    sa.Column("handler", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("delivery", sa.Integer, nullable=False),
)

_effects = sa.Table(
    "ledger_effects",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("execution", sa.Text, nullable=False, index=True),
    sa.Column("handler", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    sa.Column("what", sa.Text, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Run:
    """One call of a handler; `execution` is its address MACHINE:NAME."""

    execution: str
    handler: str
    key: str
    attempt: int
    delivery: int


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that a handler has done to the world."""

    execution: str
    handler: str
    key: str
    what: Json


class TooLate(Exception):
    """What a task was to do has been undone already, while nobody knew whether it was done."""


class Ledger:
    """Two tables in a database of any kind the engine knows."""

    def __init__(self, url: str) -> None:
        options: dict[str, object] = {"timeout": SECONDS} if url.startswith("sqlite") else {}
        self._engine = sa.create_engine(url, connect_args=options, pool_pre_ping=True)
        self._done(_create)

    def note_run(self, task: TaskContext) -> None:
        """Note that a handler has been called."""
        row = _runs.insert().values(
            at=_now(),
            execution=_address(task),
            handler=task.function_name,
            key=task.key,
            attempt=task.attempt,
            delivery=task.delivery,
        )
        self._done(lambda connection: connection.execute(row))

    def effect(self, task: TaskContext, what: Json) -> Json:
        """Do something once per key: what was done, now or by an earlier delivery of the task.

        Raises TooLate if it has been undone under this key.
        """
        handler, kept = self._once(task, task.key, task.function_name, what)
        if handler == UNDONE:
            raise TooLate(f"{task.function_name} was undone before it was done")
        return kept

    def undo(self, task: TaskContext) -> Json:
        """What the task did that this compensation undoes; null: nothing, and it never will.

        To undo what may have happened is to keep it from happening later, too: the key is taken.
        """
        if task.undoes is None:
            return None
        _, kept = self._once(task, task.undoes.key, UNDONE, None)
        return kept

    def _once(self, task: TaskContext, key: str, handler: str, what: Json) -> tuple[str, Json]:
        """Write an effect unless there is one of its key; the one that is there then."""
        insert = postgresql.insert if self._engine.dialect.name == "postgresql" else sqlite.insert
        row = insert(_effects).values(
            at=_now(), execution=_address(task), handler=handler, key=key, what=json.dumps(what)
        )
        there = sa.select(_effects.c.handler, _effects.c.what).where(_effects.c.key == key)

        def once(connection: sa.Connection) -> tuple[str, str]:
            connection.execute(row.on_conflict_do_nothing(index_elements=["key"]))
            found = connection.execute(there).one()
            return found.handler, found.what

        by, text = self._done(once)
        return by, json.loads(text)

    def done(self, task: TaskContext, handler: str) -> list[Json]:
        """What another handler has done for the same execution."""
        return [effect.what for effect in self.effects(_address(task)) if effect.handler == handler]

    def runs(self, execution: str | None = None) -> list[Run]:
        """All runs, or those of one execution, in their order."""
        query = sa.select(
            _runs.c.execution, _runs.c.handler, _runs.c.key, _runs.c.attempt, _runs.c.delivery
        ).order_by(_runs.c.id)
        if execution is not None:
            query = query.where(_runs.c.execution == execution)
        return [Run(*row) for row in self._done(lambda c: c.execute(query).all())]

    def effects(self, execution: str | None = None) -> list[Effect]:
        """All effects, or those of one execution, in their order."""
        query = (
            sa.select(_effects.c.execution, _effects.c.handler, _effects.c.key, _effects.c.what)
            .where(_effects.c.handler != UNDONE)
            .order_by(_effects.c.id)
        )
        if execution is not None:
            query = query.where(_effects.c.execution == execution)
        return [
            Effect(address, handler, key, json.loads(what))
            for address, handler, key, what in self._done(lambda c: c.execute(query).all())
        ]

    def dispose(self, *, after_fork: bool = False) -> None:
        """Close the connections; those of the parent of a fork are only let go."""
        self._engine.dispose(close=not after_fork)

    def _done(self, work: Callable[[sa.Connection], T]) -> T:
        """Do something in one transaction, again for a while if the database is away."""
        until = time.monotonic() + OUTAGE_SECONDS
        while True:
            try:
                with self._engine.begin() as connection:
                    return work(connection)
            except sa.exc.OperationalError:
                if time.monotonic() > until:
                    raise
            time.sleep(AGAIN_SECONDS)


def _create(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":  # two at once would both create
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(7021994)"))
    elif connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    _tables.create_all(connection)


@dataclass(frozen=True, slots=True)
class _Open:
    pid: int
    url: str
    ledger: Ledger


_lock = threading.Lock()
_open: list[_Open] = []


def ledger() -> Ledger:
    """The ledger of this process's environment."""
    url = address()
    with _lock:
        if _open and (_open[0].pid, _open[0].url) != (os.getpid(), url):
            _close()
        if not _open:
            _open.append(_Open(os.getpid(), url, Ledger(url)))
        return _open[0].ledger


def close() -> None:
    """Close the ledger of this process; whoever asks for it again opens it again."""
    with _lock:
        _close()


def _close() -> None:
    for known in _open:
        known.ledger.dispose(after_fork=known.pid != os.getpid())
    _open.clear()


def address() -> str:
    """The URL of the ledger: the given one, or beside the data."""
    if given := os.environ.get("ORCHESTRATOR_LEDGER_URL"):
        return given
    if folder := os.environ.get("ORCHESTRATOR_DATA"):
        return f"sqlite:///{Path(folder) / FILE}"
    url = sa.make_url(os.environ.get("ORCHESTRATOR_DATABASE_URL", DEFAULT_DATABASE_URL))
    if url.get_backend_name() != "sqlite":
        return url.render_as_string(hide_password=False)
    return f"sqlite:///{Path(url.database or '.').parent / FILE}"


@contextmanager
def kept_at(url: str) -> Iterator[Ledger]:
    """A ledger to read, of any deployment."""
    opened = Ledger(url)
    try:
        yield opened
    finally:
        opened.dispose()


def _address(task: TaskContext) -> str:
    return f"{task.machine}:{task.execution}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
