"""What the rows of executions say together, read in bounded batches for whoever looks for faults.

Everything here only reads, by an index, and locks nothing: a batch is no snapshot, so that what
seems wrong once is to be looked at a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, Literal

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    func,
    select,
)

from orchestrator.execution.frame import ExecutionStatus, FrameKind
from orchestrator.execution.history import UnknownLevel, decode
from orchestrator.store.database import Database
from orchestrator.store.rows import (
    EXECUTION_COLUMNS,
    FORK_COLUMNS,
    Values,
    read_execution,
    read_fork,
)
from orchestrator.store.tables import (
    KEPT,
    READY,
    UNENDED,
    calls,
    documents,
    executions,
    forks,
    frames,
    history,
    resources,
    revisions,
    undecided,
)
from orchestrator.store.values import Checkup, FrameSummary, HistorySummary, WaitingResource
from orchestrator.store.wanted import INTEGER, listed, one_of

MOST_WAITING: Final = 1_000
"""How many tasks of a queue are looked at for who serves them."""

_ids = "ids"


@cache
def _page(running: bool) -> Select[Any]:
    """Return a page of executions: those that run by rising id, those that ended by falling id."""
    statement = select(*EXECUTION_COLUMNS, revisions.c.id.is_not(None)).outerjoin(
        revisions, revisions.c.id == executions.c.revision
    )
    status = executions.c.status == bindparam("status")
    if running:
        statement = statement.where(status, executions.c.id > bindparam("after"))
        return statement.order_by(executions.c.id).limit(bindparam("most"))
    statement = statement.where(status, executions.c.id < bindparam("after"))
    return statement.order_by(executions.c.id.desc()).limit(bindparam("most"))


@cache
def _frames_of(dialect: str, which: Literal["tree", "effects"] = "tree") -> Select[Any]:
    columns: list[ColumnElement[Any]] = [
        frames.c[name]
        for name in (
            "execution",
            "id",
            "status",
            "state",
            "entry",
            "rests_on",
            "fork",
            "wake_at",
            "ready_at",
            "claimed_by",
            "lease_until",
            "resource",
        )
    ]
    in_the_tree = frames.c.kind != FrameKind.EFFECT.value
    return select(*columns, frames.c.timers.is_not(None)).where(
        one_of(dialect, frames.c.execution, _ids, INTEGER),
        in_the_tree if which == "tree" else UNENDED,
    )


@cache
def _calls_of(dialect: str) -> Select[Any]:
    return (
        select(calls.c.execution, func.count())
        .where(one_of(dialect, calls.c.execution, _ids, INTEGER), KEPT)
        .group_by(calls.c.execution)
    )


@cache
def _forks_of(dialect: str) -> Select[Any]:
    return select(*FORK_COLUMNS).where(one_of(dialect, forks.c.execution, _ids, INTEGER))


@cache
def _kept_of(dialect: str) -> Select[Any]:
    return select(undecided.c.execution, undecided.c.frame, undecided.c.entry).where(
        one_of(dialect, undecided.c.execution, _ids, INTEGER)
    )


@cache
def _documents_of(dialect: str) -> Select[Any]:
    return select(documents.c.execution, documents.c.what).where(
        one_of(dialect, documents.c.execution, _ids, INTEGER),
        documents.c.what.in_(["input", "output"]),
    )


@cache
def _history_of(dialect: str) -> Select[Any]:
    before = func.lag(history.c.last_id).over(
        partition_by=history.c.execution, order_by=history.c.first_id
    )
    rows = (
        select(history.c.execution, history.c.first_id, history.c.last_id, before.label("before"))
        .where(one_of(dialect, history.c.execution, _ids, INTEGER))
        .subquery("rows")
    )
    joins = func.coalesce(rows.c.before, 0) + 1 == rows.c.first_id
    gap = func.min(case((~joins, rows.c.first_id)))
    last = func.max(rows.c.first_id).label("last_first")
    summed = (
        select(
            rows.c.execution.label("execution"),
            func.max(rows.c.last_id).label("last_id"),
            gap.label("gap"),
            last,
        )
        .group_by(rows.c.execution)
        .subquery("summed")
    )
    return select(summed.c.execution, summed.c.last_id, summed.c.gap, history.c.events).join(
        history,
        and_(
            history.c.execution == summed.c.execution,
            history.c.first_id == summed.c.last_first,
        ),
    )


def check_ups(database: Database, status: ExecutionStatus, after: int, limit: int) -> list[Checkup]:
    """Return what is on record of a page of executions, without their documents.

    Those that run come by rising id behind `after`, those that have ended by falling id before it.
    """
    dialect = database.dialect
    with database.reading() as connection:
        page = connection.execute(
            _page(status is ExecutionStatus.RUNNING),
            {"status": status.value, "after": after, "most": limit},
        ).all()
        return _check_ups(connection, dialect, page)


@cache
def _by_id() -> Select[Any]:
    return (
        select(*EXECUTION_COLUMNS, revisions.c.id.is_not(None))
        .outerjoin(revisions, revisions.c.id == executions.c.revision)
        .where(executions.c.id == bindparam("at_id", type_=BigInteger()))
    )


def check_up(database: Database, execution: int) -> Checkup | None:
    """Return what is on record of one execution."""
    with database.reading() as connection:
        page = connection.execute(_by_id(), {"at_id": execution}).all()
        found = _check_ups(connection, database.dialect, page)
    return found[0] if found else None


def _check_ups(connection: Connection, dialect: str, page: Sequence[Values]) -> list[Checkup]:
    if not page:
        return []
    parameters = {_ids: listed(dialect, [row[0] for row in page])}

    def rows(statement: Select[Any]) -> dict[int, list[Values]]:
        found: dict[int, list[Values]] = {}
        for row in connection.execute(statement, parameters):
            found.setdefault(row[0], []).append(row)
        return found

    placed, forked, kept = (
        rows(_frames_of(dialect)),
        rows(_forks_of(dialect)),
        rows(_kept_of(dialect)),
    )
    written, recorded = rows(_documents_of(dialect)), rows(_history_of(dialect))
    effects, waiting_calls = rows(_frames_of(dialect, "effects")), rows(_calls_of(dialect))
    return [
        Checkup(
            execution=read_execution(row[:-1]),
            revision_is_there=bool(row[-1]),
            frames=tuple(FrameSummary(*one[1:]) for one in placed.get(row[0], ())),
            forks=tuple(read_fork(one) for one in forked.get(row[0], ())),
            kept=frozenset((one[1], one[2]) for one in kept.get(row[0], ())),
            documents=frozenset(one[1] for one in written.get(row[0], ())),
            history=_summary(recorded.get(row[0], ())),
            effects=tuple(FrameSummary(*one[1:]) for one in effects.get(row[0], ())),
            kept_calls=sum(one[1] for one in waiting_calls.get(row[0], ())),
        )
        for row in page
    ]


def _summary(rows: Sequence[Values]) -> HistorySummary | None:
    if not rows:
        return None
    _, last_id, gap, events = rows[0]
    try:
        last_type = decode(events)[-1].type
    except (UnknownLevel, IndexError):
        last_type = ""
    return HistorySummary(last_id, gap, last_type)


# -- who serves what waits -----------------------------------------------------------------------

_queues = select(resources.c.queue).distinct()
_first = (
    select(frames.c.resource, frames.c.ready_at)
    .where(READY, frames.c.queue == bindparam("at_queue"))
    .order_by(frames.c.ready_at)
    .limit(MOST_WAITING)
    .subquery("first")
)
_WAITING: Final = select(_first.c.resource, func.count(), func.min(_first.c.ready_at)).group_by(
    _first.c.resource
)


def waiting(database: Database) -> list[WaitingResource]:
    """Return, per queue, the resources of the tasks that have been ready longest."""
    found: list[WaitingResource] = []
    with database.reading() as connection:
        for queue in connection.execute(_queues).scalars().all():
            rows = connection.execute(_WAITING, {"at_queue": queue}).all()
            found += [WaitingResource(queue, *row) for row in rows]
    return found
