"""SQLite's connections: one writer at a time, in a transaction that begins as such."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final, Literal

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from orchestrator.store.address import Connecting
from orchestrator.store.pool import Pool

BUSY_SECONDS: Final = 10.0
"""How long a writer waits for its turn."""


def engines(
    url: URL,
    connecting: Connecting,
    microseconds: Callable[[], int],
    *,
    most_writing: int = 1,
    factory: type[sqlite3.Connection] = sqlite3.Connection,
    synchronous: Literal["FULL", "OFF"] = "FULL",
) -> tuple[Engine, Engine]:
    """Return the connections for single statements and those for transactions."""
    arguments = {"timeout": BUSY_SECONDS, "factory": factory}
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
