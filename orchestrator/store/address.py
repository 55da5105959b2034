"""Where a database is, and how a process connects to it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from orchestrator.store.errors import UnsupportedDatabase


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


def address(url: str) -> URL:
    """Return the address of a database that the store speaks to; raises UnsupportedDatabase."""
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
