"""Moments in columns: timestamptz on PostgreSQL, integer microseconds on SQLite, aware UTC here."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import TIMESTAMP, BigInteger, ColumnElement, Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)


class Moment(TypeDecorator[datetime]):
    """A moment, exact to the microsecond on both databases."""

    impl: TypeEngine[Any] | type[TypeEngine[Any]] = TIMESTAMP(timezone=True)
    cache_ok: bool | None = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the column type of a database."""
        if dialect.name == "sqlite":
            return dialect.type_descriptor(BigInteger())
        return dialect.type_descriptor(TIMESTAMP(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> object:
        """Return what the database stores."""
        if value is None or dialect.name != "sqlite":
            return value
        return to_microseconds(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Return the moment that the database has stored."""
        stored: datetime | int | None = value
        return EPOCH + stored * MICROSECOND if isinstance(stored, int) else stored


def to_microseconds(moment: datetime) -> int:
    """Return the whole microseconds since 1970."""
    return (moment - EPOCH) // MICROSECOND


def system_microseconds() -> int:
    """Return the system's clock, as SQLite's `current_moment()`."""
    return time.time_ns() // 1_000


class current_moment(FunctionElement[datetime]):  # noqa: N801  # a SQL function
    """The database's clock at the start of the statement."""

    type: TypeEngine[datetime] = Moment()
    inherit_cache: bool | None = True


@compiles(current_moment, "postgresql")
def _current_on_postgres(_element: current_moment, _compiler: SQLCompiler, **_kw: object) -> str:
    return "statement_timestamp()"


@compiles(current_moment, "sqlite")
def _current_on_sqlite(_element: current_moment, _compiler: SQLCompiler, **_kw: object) -> str:
    return "current_moment()"


class later(FunctionElement[datetime]):  # noqa: N801  # a SQL function
    """A moment so many seconds after another one: `later(moment, seconds)`."""

    type: TypeEngine[datetime] = Moment()
    inherit_cache: bool | None = True


def _operands(element: later) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    moment, seconds = element.clauses
    return moment, seconds


@compiles(later, "postgresql")
def _later_on_postgres(element: later, compiler: SQLCompiler, **kw: object) -> str:
    moment, seconds = (compiler.process(operand, **kw) for operand in _operands(element))
    return f"({moment} + {seconds} * interval '1 second')"


@compiles(later, "sqlite")
def _later_on_sqlite(element: later, compiler: SQLCompiler, **kw: object) -> str:
    moment, seconds = (compiler.process(operand, **kw) for operand in _operands(element))
    return f"({moment} + CAST({seconds} * 1000000 AS INTEGER))"
