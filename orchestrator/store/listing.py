"""Lists as people look through them: bounded, by indexes, a page behind a place that stays.

What no index holds (the state in which an execution stands) is looked for among so many of the
newest; where the page is not full by then, it says how far it has looked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, select

from orchestrator.execution.call import Call
from orchestrator.execution.frame import Execution, ExecutionStatus, Fork, FrameKind
from orchestrator.store.call import CALL_COLUMNS, read_call
from orchestrator.store.database import Database
from orchestrator.store.execution import NEWEST
from orchestrator.store.rows import (
    EXECUTION_COLUMNS,
    FORK_COLUMNS,
    Values,
    read_execution,
    read_fork,
)
from orchestrator.store.tables import (
    calls,
    executions,
    forks,
    frames,
    revisions,
)
from orchestrator.store.values import Revision
from orchestrator.store.wanted import INTEGER, listed, one_of

WINDOW: Final = 5_000
"""Among so many a state is looked for at once."""
_ROOT: Final = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """An execution in a list, with where its root frame stands, or has ended."""

    execution: Execution
    state: str | None
    rests_on: str | None
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Sought:
    """Which executions are listed: all that agree with everything that is given.

    `before` and `after` are ids: the page holds the newest below the one, or the oldest above the
    other; `first` and `last` bound the ids, which rise with the time of the start.
    """

    machine: str | None = None
    status: ExecutionStatus | None = None
    state: str | None = None
    first: int = 0
    last: int = NEWEST
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Executions, newest first."""

    rows: tuple[Listed, ...]
    more: bool
    """Whether more follow in the direction in which it was asked."""
    looked_to: int | None = None
    """The id down to which it was looked, where that was not the end."""


# -- executions ----------------------------------------------------------------------------------


@cache
def listing_statement(
    *, by_machine: bool, by_status: bool, by_state: bool, rising: bool
) -> Select[Any]:
    """Return a page of executions with their root frames; by state: among the next WINDOW."""
    e = executions.c
    picked = select(*EXECUTION_COLUMNS).where(
        e.id < bindparam("below"), e.id > bindparam("above"), e.id >= bindparam("first")
    )
    if by_machine:
        picked = picked.where(e.machine == bindparam("at_machine"))
    if by_status:
        picked = picked.where(e.status == bindparam("at_status"))
    order: ColumnElement[Any] = e.id.asc() if rising else e.id.desc()
    inner = picked.order_by(order).limit(bindparam("window")).subquery("picked")

    def root(column: ColumnElement[Any]) -> ColumnElement[Any]:
        """Look a column of the root frame up row by row: a join might read all frames."""
        here = and_(frames.c.execution == inner.c.id, frames.c.id == _ROOT)
        return select(column).where(here).scalar_subquery()

    state, rests_on, since = map(root, (frames.c.state, frames.c.rests_on, frames.c.entered_at))
    statement = select(inner, state, rests_on, since)
    if by_state:
        statement = statement.where(
            func.coalesce(state, inner.c.final_state) == bindparam("at_state")
        )
    outer: ColumnElement[Any] = inner.c.id.asc() if rising else inner.c.id.desc()
    return statement.order_by(outer).limit(bindparam("most"))


@cache
def _window_end(*, by_machine: bool, by_status: bool) -> Select[Any]:
    """Return the id at the end of the window, if there are so many."""
    e = executions.c
    statement = select(e.id).where(e.id < bindparam("below"), e.id >= bindparam("first"))
    if by_machine:
        statement = statement.where(e.machine == bindparam("at_machine"))
    if by_status:
        statement = statement.where(e.status == bindparam("at_status"))
    return statement.order_by(e.id.desc()).limit(1).offset(WINDOW - 1)


def executions_page(database: Database, sought: Sought, limit: int) -> Page:
    """Return a page of executions, newest first."""
    rising = sought.after is not None and sought.before is None
    by_state = sought.state is not None
    parameters: dict[str, object] = {
        "below": min(NEWEST if sought.before is None else sought.before, sought.last),
        "above": -1 if sought.after is None else sought.after,
        "first": sought.first,
        "window": WINDOW if by_state else limit + 1,
        "most": limit + 1,
    }
    picks = {"by_machine": sought.machine is not None, "by_status": sought.status is not None}
    if sought.machine is not None:
        parameters["at_machine"] = sought.machine
    if sought.status is not None:
        parameters["at_status"] = sought.status.value
    if sought.state is not None:
        parameters["at_state"] = sought.state
    looked_to = None
    with database.reading() as connection:
        statement = listing_statement(**picks, by_state=by_state, rising=rising)
        rows = connection.execute(statement, parameters).all()
        if by_state and len(rows) <= limit and not rising:
            asked = {key: value for key, value in parameters.items() if key in _OF_WINDOW}
            looked_to = connection.execute(_window_end(**picks), asked).scalar()
    found = [_listed(row) for row in rows[:limit]]
    if rising:
        found.reverse()
    return Page(tuple(found), len(rows) > limit or looked_to is not None, looked_to)


_OF_WINDOW: Final = frozenset({"below", "first", "at_machine", "at_status"})
_WIDTH: Final = len(EXECUTION_COLUMNS)


def _listed(row: Values) -> Listed:
    run = read_execution(row[:_WIDTH])
    state, rests_on, since = row[_WIDTH : _WIDTH + 3]
    return Listed(run, run.final_state if state is None else state, rests_on, since)


_NAMED: Final = (
    select(*EXECUTION_COLUMNS, frames.c.state, frames.c.rests_on, frames.c.entered_at)
    .outerjoin_from(
        executions, frames, and_(frames.c.execution == executions.c.id, frames.c.id == _ROOT)
    )
    .where(
        executions.c.machine == bindparam("at_machine"),
        executions.c.name >= bindparam("low"),
        executions.c.name < bindparam("high"),
    )
    .order_by(executions.c.name)
    .limit(bindparam("most"))
)
_LAST_CHARACTER: Final = "\U0010ffff"


def named(database: Database, machines: Sequence[str], prefix: str, limit: int) -> list[Listed]:
    """Return executions whose names begin with a text, machine by machine, in order of name."""
    found: list[Listed] = []
    with database.reading() as connection:
        for machine in machines:
            parameters = {
                "at_machine": machine,
                "low": prefix,
                "high": prefix + _LAST_CHARACTER,
                "most": limit - len(found),
            }
            found += [_listed(row) for row in connection.execute(_NAMED, parameters)]
            if len(found) >= limit:
                break
    return found


@cache
def _versions(dialect: str) -> Select[Any]:
    return select(
        executions.c.id,
        executions.c.version,
        executions.c.kept,
        executions.c.effects,
        executions.c.strikes,
    ).where(one_of(dialect, executions.c.id, "ids", INTEGER))


@cache
def _claims(dialect: str) -> Select[Any]:
    """Return how many tasks are claimed: a claim changes nothing of the execution itself."""
    return (
        select(frames.c.execution, func.count(), func.sum(frames.c.deliveries))
        .where(
            frames.c.claimed_by.is_not(None), one_of(dialect, frames.c.execution, "ids", INTEGER)
        )
        .group_by(frames.c.execution)
    )


def versions(database: Database, ids: Sequence[int]) -> dict[int, str]:
    """Return what changes when anything of an execution changes, by id: claims of tasks, too."""
    parameters = {"ids": listed(database.dialect, ids)}
    with database.reading() as connection:
        rows = connection.execute(_versions(database.dialect), parameters).all()
        claims = connection.execute(_claims(database.dialect), parameters)
        claimed = {row[0]: f".{row[1]}.{row[2]}" for row in claims}
    return {row[0]: ".".join(map(str, row[1:])) + claimed.get(row[0], "") for row in rows}


_NEWEST_CALLS: Final = (
    select(*CALL_COLUMNS)
    .where(calls.c.execution == bindparam("at_id"))
    .order_by(calls.c.number.desc(), calls.c.arrived_at.desc(), calls.c.call_id.desc())
    .limit(bindparam("most"))
)


def newest_calls(database: Database, execution: int, limit: int) -> list[Call]:
    """Return the calls of an execution, the last ones first."""
    with database.reading() as connection:
        rows = connection.execute(_NEWEST_CALLS, {"at_id": execution, "most": limit})
        return [read_call(row) for row in rows]


_FORKS: Final = (
    select(*FORK_COLUMNS)
    .where(forks.c.execution == bindparam("at_id"))
    .order_by(forks.c.frame, forks.c.entry)
    .limit(bindparam("most"))
)


def fork_list(database: Database, execution: int, limit: int) -> list[Fork]:
    """Return the tallies of the running Parallels and Maps of an execution."""
    with database.reading() as connection:
        rows = connection.execute(_FORKS, {"at_id": execution, "most": limit})
        return [read_fork(row) for row in rows]


@dataclass(frozen=True, slots=True)
class Child:
    """How a child of a fork stands; texts as they are in its row."""

    id: str
    status: str
    state: str | None
    rests_on: str | None

    @property
    def index(self) -> int:
        """Its place among its siblings."""
        return int(self.id.rsplit(".", 1)[1])


_CHILDREN: Final = (
    select(frames.c.id, frames.c.status, frames.c.state, frames.c.rests_on)
    .where(
        frames.c.execution == bindparam("at_id"),
        frames.c.id > bindparam("prefix"),
        frames.c.id < bindparam("end"),
        frames.c.id.not_like(bindparam("inside")),
        frames.c.kind == FrameKind.CHILD.value,
    )
    .order_by(frames.c.id)
    .limit(bindparam("most"))
)


def children(database: Database, execution: int, prefix: str, limit: int) -> list[Child]:
    """Return the children whose ids are a prefix and a number, by id; forks inside do not count."""
    parameters = {
        "at_id": execution,
        "prefix": prefix,
        "end": prefix[:-1] + chr(ord(prefix[-1]) + 1),
        "inside": f"{prefix}%/%",
        "most": limit,
    }
    with database.reading() as connection:
        return [Child(*row) for row in connection.execute(_CHILDREN, parameters)]


_running = (
    select(executions.c.id)
    .where(
        executions.c.machine == bindparam("at_machine"),
        executions.c.status == ExecutionStatus.RUNNING.value,
    )
    .order_by(executions.c.id)
    .limit(bindparam("most"))
    .subquery("running")
)
_RUNNING: Final = select(func.count()).select_from(_running)


def running(database: Database, machine: str, limit: int) -> int:
    """Count the executions of a machine that run, up to a limit."""
    with database.reading() as connection:
        parameters = {"at_machine": machine, "most": limit}
        return int(connection.execute(_RUNNING, parameters).scalar_one())


# -- revisions -----------------------------------------------------------------------------------

_REVISIONS: Final = (
    select(
        revisions.c.id,
        revisions.c.machine,
        revisions.c.number,
        revisions.c.created_at,
        revisions.c.text,
        revisions.c.uid,
    )
    .where(revisions.c.machine == bindparam("at_machine"), revisions.c.number < bindparam("below"))
    .order_by(revisions.c.number.desc())
    .limit(bindparam("most"))
)


def revision_list(database: Database, machine: str, below: int, limit: int) -> list[Revision]:
    """Return revisions of a machine below a number, newest first."""
    parameters = {"at_machine": machine, "below": below, "most": limit}
    with database.reading() as connection:
        return [Revision(*row) for row in connection.execute(_REVISIONS, parameters)]
