"""Compensations as rows: registered, marked, dropped with what an execution decides."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, and_, bindparam, delete, func, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from orchestrator.execution.compensation import (
    Compensation,
    CompensationStatus,
    Mark,
    Stretch,
    Wanted,
    subtree,
)
from orchestrator.execution.payload import Payload
from orchestrator.store.database import Database
from orchestrator.store.note import read_terms, written_terms
from orchestrator.store.rows import Row, Values
from orchestrator.store.tables import NOT_OVER, OPEN_TO_UNDO, compensations

COLUMNS: Final = tuple(compensations.c)
_KEY: Final = ("execution", "scope", "event", "place")
_ON: Final[dict[str, type[postgresql.Insert | sqlite.Insert]]] = {
    "postgresql": postgresql.Insert,
    "sqlite": sqlite.Insert,
}


def _upsert(of: type[postgresql.Insert | sqlite.Insert]) -> Insert:
    statement = of(compensations)
    changes = {c.name: statement.excluded[c.name] for c in COLUMNS if c.name not in _KEY}
    return statement.on_conflict_do_update(index_elements=list(_KEY), set_=changes)


REGISTER: Final[dict[str, Insert]] = {dialect: _upsert(of) for dialect, of in _ON.items()}
_here: Final = compensations.c.execution == bindparam("at_execution")
_floor: Final = compensations.c.event >= bindparam("at_event")
_between: Final = and_(
    _here,
    compensations.c.scope >= bindparam("low"),
    compensations.c.scope <= bindparam("high"),
    _floor,
    NOT_OVER,
)
"""By the primary key: no more is read than the stretch has."""
_anywhere: Final = and_(_here, _floor, OPEN_TO_UNDO)
"""By the index of open ones, the newest first: no more is read than is asked for."""
_one: Final = and_(
    _here,
    compensations.c.scope == bindparam("at_scope"),
    compensations.c.event == bindparam("at_event"),
    compensations.c.place == bindparam("at_place"),
)
MARK: Final = update(compensations).where(_one).values(status=bindparam("status"))
DROP: Final = delete(compensations).where(_between)

_order: Final = tuple_(compensations.c.event, compensations.c.place)
_first: Final = (
    select(*COLUMNS).order_by(compensations.c.event.desc(), compensations.c.place.desc()).limit(1)
)
_older: Final = _order < tuple_(bindparam("before"), bindparam("before_place"))
_NEWEST: Final = _first.where(_between)
_OLDER: Final = _NEWEST.where(_older)
_NEWEST_OF_ALL: Final = _first.where(_anywhere)
_OLDER_OF_ALL: Final = _NEWEST_OF_ALL.where(_older)
_EVERY: Final = select(*COLUMNS).where(_between)
_ONE: Final = select(*COLUMNS).where(_one)
_OF_EXECUTION: Final = (
    select(*COLUMNS)
    .where(_here)
    .order_by(compensations.c.event, compensations.c.place, compensations.c.scope)
    .limit(bindparam("most"))
)

_PENDING: Final = (
    select(*COLUMNS)
    .where(_here, OPEN_TO_UNDO)
    .order_by(compensations.c.event, compensations.c.place)
    .limit(bindparam("most"))
)
_COUNT: Final = (
    select(func.count())
    .select_from(compensations)
    .where(_here, compensations.c.status == bindparam("status"))
)


def found(
    connection: Connection, execution: int, asked: Iterable[Wanted]
) -> Mapping[Wanted, tuple[Compensation, ...]]:
    """Return what there is of compensations, by what was asked."""
    return {
        wanted: tuple(read_compensation(row) for row in _rows(connection, execution, wanted))
        for wanted in asked
    }


def _rows(connection: Connection, execution: int, wanted: Wanted) -> Sequence[Values]:
    at: Row = {"at_execution": execution}
    if wanted.number is not None:
        scope, event, place = wanted.number
        where = {**at, "at_scope": scope, "at_event": event, "at_place": place}
        return connection.execute(_ONE, where).all()
    at |= stretch_row(execution, wanted.stretch)
    if wanted.every:
        return connection.execute(_EVERY, at).all()
    whole = wanted.stretch.low == ""
    if wanted.before is None:
        return connection.execute(_NEWEST_OF_ALL if whole else _NEWEST, at).all()
    before, before_place = wanted.before
    at |= {"before": before, "before_place": before_place}
    return connection.execute(_OLDER_OF_ALL if whole else _OLDER, at).all()


def of_execution(database: Database, execution: int, limit: int) -> list[Compensation]:
    """Return the compensations of an execution in the order of what they undo."""
    with database.reading() as connection:
        rows = connection.execute(_OF_EXECUTION, {"at_execution": execution, "most": limit})
        return [read_compensation(row) for row in rows]


def pending_of(database: Database, execution: int, limit: int) -> list[Compensation]:
    """Return what is still to be undone of an execution, in the order of doing."""
    with database.reading() as connection:
        rows = connection.execute(_PENDING, {"at_execution": execution, "most": limit})
        return [read_compensation(row) for row in rows]


def count(database: Database, execution: int, status: CompensationStatus) -> int:
    """Return how many compensations of an execution have come to a status."""
    with database.reading() as connection:
        return connection.execute(
            _COUNT, {"at_execution": execution, "status": status.value}
        ).scalar_one()


def forget(database: Database, execution: int) -> None:
    """Forget what is open of an execution that has ended."""
    with database.writing() as connection:
        connection.execute(DROP, stretch_row(execution, subtree("")))


# -- rows ----------------------------------------------------------------------------------------


def stretch_row(execution: int, stretch: Stretch) -> Row:
    """Return a stretch as a statement takes it."""
    return {
        "at_execution": execution,
        "low": stretch.low,
        "high": stretch.high,
        "at_event": stretch.floor,
    }


def mark_row(execution: int, mark: Mark) -> Row:
    """Return another status as a statement takes it."""
    scope, event, place = mark.number
    return {
        "at_execution": execution,
        "at_scope": scope,
        "at_event": event,
        "at_place": place,
        "status": mark.status.value,
    }


def compensation_row(execution: int, one: Compensation) -> Row:
    """Return a compensation as a row."""
    terms = None if one.terms is None else written_terms(one.terms)
    return {
        "execution": execution,
        "event": one.event,
        "place": one.place,
        "scope": one.scope,
        "status": one.status.value,
        "state": one.state,
        "resource": one.resource,
        "key": one.key,
        "undoes": one.undoes,
        "arguments": one.arguments.text,
        "awaited_by": one.by,
        "terms": json.dumps([one.pointer, list(one.widths), terms]),
    }


def read_compensation(row: Values) -> Compensation:
    """Return the compensation of a row of COLUMNS."""
    (
        _execution,
        event,
        place,
        scope,
        status,
        state,
        resource,
        key,
        undoes,
        arguments,
        by,
        text,
    ) = row
    pointer, widths, terms = json.loads(text)
    return Compensation(
        scope=scope,
        event=event,
        place=place,
        state=state,
        resource=resource,
        arguments=Payload.parse(arguments),
        key=key,
        undoes=undoes,
        pointer=pointer,
        widths=tuple(widths),
        status=CompensationStatus(status),
        by=by,
        terms=None if terms is None else read_terms(terms),
    )
