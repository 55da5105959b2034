"""Tasks are claimed by workers, those that have been ready longest first.

Lock rule: only claim columns of frames are changed here, and rows that anybody has locked are
passed by, so that nothing here waits and no deadlock can come from it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Float,
    Integer,
    Select,
    Update,
    and_,
    bindparam,
    case,
    literal,
    select,
    update,
)

from orchestrator.execution.decision import View
from orchestrator.execution.frame import Scope
from orchestrator.store.database import Database
from orchestrator.store.frame_row import FRAME_COLUMNS, progress_of, read_frame
from orchestrator.store.moment import current_moment, later
from orchestrator.store.rows import EXECUTION_COLUMNS, Values, read_execution
from orchestrator.store.tables import LONELY, READY, executions, frames
from orchestrator.store.values import Claim
from orchestrator.store.wanted import TEXT, listed, one_of

LONELY_FROM: Final = 2
"""A task that was lost so often is claimed by whom runs nothing else, and alone."""
CLOCK_LEAD_SECONDS: Final = 1.0
"""How far `ready_at`, an upper bound made in another process, may be ahead of the database."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How tasks are claimed, and which by how often they were lost."""

    scope: Scope
    lease_seconds: float
    lost_from: int = 0
    lost_to: int | None = None


_MOST: Final = 2**31 - 1
_FRAME: Final = len(FRAME_COLUMNS)
_now: Final = current_moment()
_beat: Final = later(_now, frames.c.heartbeat_seconds)


def earliest_moment() -> ColumnElement[datetime]:
    """Return the earlier of the time limit and the next heartbeat."""
    return case(
        (frames.c.heartbeat_seconds.is_(None), frames.c.timeout_at),
        (frames.c.timeout_at < _beat, frames.c.timeout_at),
        else_=_beat,
    )


@cache
def claim_statement(dialect: str) -> Update:
    """Return the statement that claims the tasks of one queue that have been ready longest."""
    lead = literal(CLOCK_LEAD_SECONDS, Float())
    ready = (
        select(frames.c.execution, frames.c.id)
        .where(
            READY,
            frames.c.queue == bindparam("at_queue"),
            one_of(dialect, frames.c.resource, "served", TEXT),
            frames.c.ready_at <= later(_now, lead),
            frames.c.deliveries.between(bindparam("lost_from"), bindparam("lost_to")),
        )
        .order_by(frames.c.ready_at)
        .limit(bindparam("most", type_=Integer()))
        .with_for_update(skip_locked=True)
        .cte("ready")
    )
    claimed = and_(frames.c.execution == ready.c.execution, frames.c.id == ready.c.id)
    run: tuple[ColumnElement[Any], ...] = EXECUTION_COLUMNS
    if dialect == "sqlite":  # returns nothing but what is updated
        execution = select(executions).where(executions.c.id == frames.c.execution)
        run = tuple(
            execution.with_only_columns(column).scalar_subquery()
            for column in (executions.c.machine, executions.c.name)
        )
    else:
        claimed = and_(claimed, executions.c.id == frames.c.execution)
    return (
        update(frames)
        .where(claimed)
        .values(
            claimed_by=bindparam("worker"),
            lease_until=later(_now, bindparam("lease", type_=Float())),
            deliveries=frames.c.deliveries + 1,
            at_most_once=one_of(dialect, frames.c.resource, "at_most_once", TEXT),
            wake_at=earliest_moment(),
        )
        .returning(
            current_moment(),
            *FRAME_COLUMNS,
            *run,
        )
    )


def claim(  # each is a part of what a worker is
    database: Database,
    worker: str,
    queues: Sequence[str],
    resources_served: Collection[str],
    *,
    limit: int,
    at_most_once: Collection[str],
    terms: Terms,
) -> list[Claim]:
    """Claim ready tasks that were lost so often, queue by queue, those ready longest first."""
    claims: list[Claim] = []
    parameters: dict[str, object] = {
        "served": listed(database.dialect, sorted(resources_served)),
        "at_most_once": listed(database.dialect, sorted(at_most_once)),
        "worker": worker,
        "lease": terms.lease_seconds,
        "lost_from": terms.lost_from,
        "lost_to": _MOST if terms.lost_to is None else terms.lost_to,
    }
    statement = claim_statement(database.dialect)
    durable = any(resource in at_most_once for resource in resources_served)
    for queue in queues:
        if len(claims) >= limit:
            break
        with database.claiming(durable=durable) as connection:
            most = {"at_queue": queue, "most": limit - len(claims)}
            rows = connection.execute(statement, {**parameters, **most}).all()
        claims += [made for row in rows if (made := _claim(worker, terms.scope, row)) is not None]
    return claims


def _claim(worker: str, scope: Scope, row: Values) -> Claim | None:
    values, run = row[1 : 1 + _FRAME], row[1 + _FRAME :]
    frame = read_frame(values)
    if frame.task is None:
        return None
    view = None
    if len(run) == len(EXECUTION_COLUMNS):
        execution = read_execution(run)
        machine, name = execution.machine, execution.name
        if not frame.id and frame.task.heartbeat_seconds is None:  # a heartbeat would change it
            view = View(execution, scope, {"": frame}, forks={})
    else:
        machine, name = run
    return Claim(
        execution=values[0],
        machine=machine,
        execution_name=name,
        worker=worker,
        claimed_at=row[0],
        row=frame,
        task=frame.task,
        progress=progress_of(values),
        view=view,
    )


@cache
def _waits_alone(dialect: str) -> Select[Any]:
    return (
        select(frames.c.queue)
        .where(
            LONELY,
            one_of(dialect, frames.c.queue, "queues", TEXT),
            one_of(dialect, frames.c.resource, "served", TEXT),
        )
        .limit(1)
    )


@cache
def _oldest(dialect: str) -> Select[Any]:
    return (
        select(frames.c.ready_at <= later(_now, -bindparam("seconds", type_=Float())))
        .where(
            READY,
            frames.c.queue == bindparam("at_queue"),
            one_of(dialect, frames.c.resource, "served", TEXT),
        )
        .order_by(frames.c.ready_at)
        .limit(1)
    )


def waits_alone(
    database: Database, queues: Collection[str], resources_served: Collection[str]
) -> bool:
    """Tell whether a task waits that must run alone."""
    parameters = {
        "queues": listed(database.dialect, sorted(queues)),
        "served": listed(database.dialect, sorted(resources_served)),
    }
    with database.reading() as connection:
        found = connection.execute(_waits_alone(database.dialect), parameters).first()
    return found is not None


def waits_long(
    database: Database, queues: Collection[str], resources_served: Collection[str], seconds: float
) -> bool:
    """Tell whether a task has been ready for longer than so many seconds."""
    served = listed(database.dialect, sorted(resources_served))
    with database.reading() as connection:
        return any(
            connection.execute(
                _oldest(database.dialect),
                {"at_queue": queue, "served": served, "seconds": seconds},
            ).scalar()
            for queue in queues
        )
