"""What schedulers look for: moments that are due, tasks that wait, tasks that nobody serves.

They only read, or move tasks between queues; what needs a decision is handed over as an event.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Float,
    Text,
    bindparam,
    func,
    literal,
    null,
    or_,
    select,
    text,
    union_all,
)

from orchestrator.execution.events import DeadlinePassed, MomentDue
from orchestrator.store.database import Database
from orchestrator.store.moment import current_moment, later
from orchestrator.store.tables import READY, executions, frames, resources
from orchestrator.store.values import ReadyQueue

MOST_COUNTED: Final = 1_000
"""Rows per queue or resource that are counted; how many more there are matters to nobody."""

OVERDUE_SECONDS: Final = 1.0
"""What is due for longer is anybody's."""


@dataclass(frozen=True, slots=True)
class Share:
    """One of several processes that part the executions among them."""

    member: int = 0
    members: int = 1


_horizon = later(current_moment(), bindparam("horizon", type_=Float()))

_overdue = later(current_moment(), literal(-OVERDUE_SECONDS, Float()))


def _shared(execution: ColumnElement[int], moment: ColumnElement[Any]) -> ColumnElement[bool]:
    """The condition that a moment is the asking process's to handle, or overdue."""
    members = bindparam("members", type_=BigInteger())
    return or_(execution % members == bindparam("member", type_=BigInteger()), moment <= _overdue)


_open: Final = executions.c.phase == text("'open'")
_frames: Final = (
    select(frames.c.execution, frames.c.id.label("frame"), frames.c.entry, frames.c.wake_at)
    .where(frames.c.wake_at <= _horizon, _shared(frames.c.execution, frames.c.wake_at))
    .order_by(frames.c.wake_at)
    .limit(bindparam("most"))
    .subquery("due_frames")
)
_deadlines: Final = (
    select(executions.c.id, executions.c.deadline_at)
    .where(
        _open,
        executions.c.deadline_at <= _horizon,
        _shared(executions.c.id, executions.c.deadline_at),
    )
    .order_by(executions.c.deadline_at)
    .limit(bindparam("most"))
    .subquery("due_executions")
)
DUE: Final = union_all(
    select(_frames),
    select(_deadlines.c.id, literal(None, Text()), null(), _deadlines.c.deadline_at),
)
NEXT_MOMENTS: Final = select(
    select(func.min(frames.c.wake_at))
    .where(frames.c.wake_at.is_not(None))
    .scalar_subquery()
    .label("frame"),
    select(func.min(executions.c.deadline_at))
    .where(_open, executions.c.deadline_at.is_not(None))
    .scalar_subquery()
    .label("execution"),
)


def due(
    database: Database, limit: int, horizon_seconds: float, share: Share
) -> list[MomentDue | DeadlinePassed]:
    """Return the moments that are due or will be within the horizon, earliest first."""
    parameters = {
        "most": limit,
        "horizon": horizon_seconds,
        "member": share.member,
        "members": share.members,
    }
    with database.reading() as connection:
        rows = connection.execute(DUE, parameters).all()
    dated = sorted(rows, key=lambda row: row.wake_at)[:limit]
    return [
        DeadlinePassed(row.execution, row.wake_at)
        if row.frame is None
        else MomentDue(row.execution, row.frame, row.entry, row.wake_at)
        for row in dated
    ]


def next_moment(database: Database) -> datetime | None:
    """Return the earliest moment that anything waits for."""
    with database.reading() as connection:
        moments = connection.execute(NEXT_MOMENTS).one()
    return min((moment for moment in moments if moment is not None), default=None)


_queues: Final = select(resources.c.queue).distinct().subquery("queues")
_waiting: Final = (
    select(frames.c.ready_at)
    .where(
        READY,
        frames.c.queue == _queues.c.queue,
        frames.c.ready_at <= later(current_moment(), -bindparam("grace", type_=Float())),
    )
    .correlate(_queues)
    .order_by(frames.c.ready_at)
    .limit(MOST_COUNTED)
    .subquery("waiting")
)
READY_QUEUES: Final = select(
    _queues.c.queue,
    select(func.count()).select_from(_waiting).scalar_subquery().label("rows"),
    select(func.min(_waiting.c.ready_at)).scalar_subquery().label("oldest"),
)


def ready(database: Database, grace_seconds: float) -> list[ReadyQueue]:
    """Return the queues in which tasks have been ready for longer than a grace."""
    with database.reading() as connection:
        rows = connection.execute(READY_QUEUES, {"grace": grace_seconds}).all()
    return [ReadyQueue(queue, count, oldest) for queue, count, oldest in rows if count]
