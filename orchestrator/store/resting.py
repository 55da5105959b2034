"""What rests, and on what: waits by age, tasks that are claimed, places in queues. All bounded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, func, select

from orchestrator.store.database import Database
from orchestrator.store.moment import Moment
from orchestrator.store.tables import AGEING, READY, executions, frames


@dataclass(frozen=True, slots=True)
class Waiting:
    """A frame that rests on what no worker does."""

    machine: str
    name: str
    frame: str
    state: str | None
    rests_on: str
    since: datetime
    wake_at: datetime | None


_WAITS: Final = (
    select(
        frames.c.execution,
        frames.c.id,
        frames.c.state,
        frames.c.rests_on,
        frames.c.entered_at,
        frames.c.wake_at,
    )
    .where(AGEING)
    .order_by(frames.c.execution, frames.c.id)
    .limit(bindparam("most"))
    .subquery("waits")
)
_AGEING: Final = (
    select(
        executions.c.machine,
        executions.c.name,
        _WAITS.c.id,
        _WAITS.c.state,
        _WAITS.c.rests_on,
        _WAITS.c.entered_at,
        _WAITS.c.wake_at,
    )
    .join_from(_WAITS, executions, executions.c.id == _WAITS.c.execution)
    .order_by(_WAITS.c.entered_at)
)


def ageing(database: Database, limit: int) -> list[Waiting]:
    """Return frames of the oldest executions that wait for no worker, longest first."""
    with database.reading() as connection:
        return [Waiting(*row) for row in connection.execute(_AGEING, {"most": limit})]


@dataclass(frozen=True, slots=True)
class RunningTask:
    """A task that a worker has claimed."""

    worker: str
    machine: str
    name: str
    frame: str
    state: str | None
    resource: str
    attempt: int
    ready_at: datetime
    lease_until: datetime | None


_claims = (
    select(frames)
    .where(frames.c.claimed_by.is_not(None))
    .order_by(frames.c.claimed_by)
    .limit(bindparam("most"))
    .subquery("claims")
)
_CLAIMED: Final = (
    select(
        _claims.c.claimed_by,
        executions.c.machine,
        executions.c.name,
        _claims.c.id,
        _claims.c.state,
        _claims.c.resource,
        _claims.c.attempt,
        _claims.c.ready_at,
        _claims.c.lease_until,
    )
    .join_from(_claims, executions, executions.c.id == _claims.c.execution)
    .order_by(_claims.c.claimed_by, _claims.c.ready_at)
)


def claimed(database: Database, limit: int) -> list[RunningTask]:
    """Return the tasks that are claimed, by worker."""
    with database.reading() as connection:
        return [RunningTask(*row) for row in connection.execute(_CLAIMED, {"most": limit})]


_earlier = (
    select(frames.c.ready_at)
    .where(
        READY,
        frames.c.queue == bindparam("at_queue"),
        frames.c.ready_at < bindparam("at", type_=Moment()),
    )
    .order_by(frames.c.ready_at)
    .limit(bindparam("most"))
    .subquery("earlier")
)
_BEFORE: Final = select(func.count()).select_from(_earlier)


def before(database: Database, queue: str, ready_at: datetime, limit: int) -> int:
    """Count the tasks of a queue that were ready before a moment, up to a limit."""
    parameters = {"at_queue": queue, "at": ready_at, "most": limit}
    with database.reading() as connection:
        return int(connection.execute(_BEFORE, parameters).scalar_one())
