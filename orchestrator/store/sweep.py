"""What schedulers look for: moments that are due, tasks that wait, tasks that nobody serves.

They only read, or move tasks between queues; what needs a decision is handed over as an event.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import Float, bindparam, func, select, text

from orchestrator.execution.events import DeadlinePassed, MomentDue
from orchestrator.store.database import Database
from orchestrator.store.moment import current_moment, later
from orchestrator.store.rows import least
from orchestrator.store.tables import READY, executions, frames, resources
from orchestrator.store.values import ReadyQueue

MOST_COUNTED: Final = 1_000
"""Rows per queue or resource that are counted; how many more there are matters to nobody."""

_horizon = later(current_moment(), bindparam("horizon", type_=Float()))

DUE_FRAMES: Final = (
    select(frames.c.execution, frames.c.id, frames.c.entry, frames.c.wake_at)
    .where(frames.c.wake_at <= _horizon)
    .order_by(frames.c.wake_at)
    .limit(bindparam("most"))
)
_open: Final = executions.c.phase == text("'open'")
DUE_EXECUTIONS: Final = (
    select(executions.c.id, executions.c.deadline_at)
    .where(_open, executions.c.deadline_at <= _horizon)
    .order_by(executions.c.deadline_at)
    .limit(bindparam("most"))
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


def due(database: Database, limit: int, horizon_seconds: float) -> list[MomentDue | DeadlinePassed]:
    """Return the moments that are due or will be within the horizon, earliest first."""
    parameters = {"most": limit, "horizon": horizon_seconds}
    with database.reading() as connection:
        moments = connection.execute(DUE_FRAMES, parameters).all()
        deadlines = connection.execute(DUE_EXECUTIONS, parameters).all()
    dated: list[tuple[datetime, MomentDue | DeadlinePassed]] = [
        *((row[3], MomentDue(*row)) for row in moments),
        *((row[1], DeadlinePassed(*row)) for row in deadlines),
    ]
    dated.sort(key=lambda pair: pair[0])
    return [event for _, event in dated[:limit]]


def next_moment(database: Database) -> datetime | None:
    """Return the earliest moment that anything waits for."""
    with database.reading() as connection:
        return least(*connection.execute(NEXT_MOMENTS).one())


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
