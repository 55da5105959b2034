"""Leases are renewed, given back and run out; handlers report that they are alive.

Lock rule: only claim columns of frames are changed here. What touches several rows passes by those
that anybody has locked, and so waits for nothing; a heartbeat waits for its one row while it holds
none. No deadlock can come from either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Float,
    FromClause,
    Select,
    Update,
    and_,
    bindparam,
    exists,
    func,
    literal,
    or_,
    select,
    true,
    update,
)

from orchestrator.execution.events import TaskLost
from orchestrator.execution.frame import FrameStatus
from orchestrator.execution.payload import Payload
from orchestrator.store.claim import earliest_moment
from orchestrator.store.database import Database
from orchestrator.store.moment import current_moment, later
from orchestrator.store.rows import Row
from orchestrator.store.tables import frames, resources, workers
from orchestrator.store.values import Claim, Lapses
from orchestrator.store.wanted import INTEGER, TEXT, wanted, wanted_rows
from orchestrator.store.worker import heard_of

_NAMES: Final = ("execution", "frame", "token", "delivery")

_UNCLAIMED: Final[dict[str, object]] = {
    "claimed_by": None,
    "lease_until": None,
    "at_most_once": False,
    "wake_at": frames.c.timeout_at,
}


# Written so that rows are found by their primary key and not among all that the worker holds.
_by_worker: Final[ColumnElement[bool]] = func.coalesce(
    frames.c.claimed_by, literal("", TEXT)
) == bindparam("worker", type_=TEXT)


def _claims(dialect: str) -> FromClause:
    return wanted(dialect, execution=INTEGER, frame=TEXT, token=TEXT, delivery=INTEGER)


def _held(claims: FromClause) -> ColumnElement[bool]:
    """Return the condition that a claim is the worker's still."""
    return and_(
        frames.c.execution == claims.c.execution,
        frames.c.id == claims.c.frame,
        frames.c.token == claims.c.token,
        frames.c.deliveries == claims.c.delivery,
        _by_worker,
    )


_ANY: Final = true()


def _touch(dialect: str, values: dict[str, object], which: ColumnElement[bool] = _ANY) -> Update:
    """Return the statement that changes what of the claims is held and not locked."""
    claims = _claims(dialect)
    held = (
        select(frames.c.execution, frames.c.id)
        .select_from(claims)
        .join(frames, and_(_held(claims), frames.c.lease_until.is_not(None), which))
        .with_for_update(skip_locked=True, of=frames)
        .cte("held")
    )
    return (
        update(frames)
        .where(frames.c.execution == held.c.execution, frames.c.id == held.c.id)
        .values(values)
    )


def _lost(dialect: str) -> Select[Any]:
    claims = _claims(dialect)
    return select(claims.c.execution, claims.c.frame, claims.c.token, claims.c.delivery).where(
        ~exists().where(_held(claims))
    )


@cache
def renew_statements(dialect: str) -> tuple[Update, Select[Any]]:
    """Return what extends the leases of claims, and what finds those that are lost."""
    lease = later(current_moment(), bindparam("lease", type_=Float()))
    return _touch(dialect, {"lease_until": lease}), _lost(dialect)


@cache
def _renew_at_once(dialect: str) -> Select[Any]:
    renew, lost = renew_statements(dialect)
    return lost.add_cte(renew.returning(frames.c.id).cte("renewed"))


def renew(
    database: Database, worker: str, claims: Sequence[Claim], lease_seconds: float
) -> list[Claim]:
    """Extend the leases of claims and return those that are lost; a locked row is not lost."""
    if not claims:
        return []
    parameters = {**_rows(database, worker, claims), "lease": lease_seconds}
    with database.claiming() as connection:
        if database.dialect == "sqlite":
            update_leases, find_lost = renew_statements(database.dialect)
            connection.execute(update_leases, parameters)
            rows = connection.execute(find_lost, parameters).all()
        else:
            rows = connection.execute(_renew_at_once(database.dialect), parameters).all()
    lost = {tuple(row) for row in rows}
    return [claim for claim in claims if _key(claim) in lost]


@cache
def _release(dialect: str) -> Update:
    values = {**_UNCLAIMED, "deliveries": frames.c.deliveries - 1}
    return _touch(dialect, values, frames.c.status == FrameStatus.RESTING.value)


def release(database: Database, worker: str, claims: Sequence[Claim]) -> None:
    """Make tasks ready again whose handlers have not begun: the delivery does not count."""
    if claims:
        with database.claiming() as connection:
            connection.execute(_release(database.dialect), _rows(database, worker, claims))


def _rows(database: Database, worker: str, claims: Sequence[Claim]) -> Row:
    rows = [_key(claim) for claim in claims]
    return {**wanted_rows(database.dialect, _NAMES, rows), "worker": worker}


def _key(claim: Claim) -> tuple[int, str, str, int]:
    return claim.execution, claim.frame, claim.token, claim.delivery


_HEARTBEAT: Final = (
    update(frames)
    .where(
        frames.c.execution == bindparam("at_execution"),
        frames.c.id == bindparam("at_id"),
        frames.c.token == bindparam("at_token"),
        frames.c.deliveries == bindparam("at_delivery"),
        _by_worker,
    )
    .values(
        wake_at=earliest_moment(),
        progress=func.coalesce(bindparam("report", type_=TEXT), frames.c.progress),
    )
)


def heartbeat(database: Database, claim: Claim, progress: Payload | None) -> bool:
    """Put off the moment at which the handler counts as silent; False if the claim is lost."""
    parameters = {
        "at_execution": claim.execution,
        "at_id": claim.frame,
        "at_token": claim.token,
        "at_delivery": claim.delivery,
        "worker": claim.worker,
        "report": None if progress is None else progress.text,
    }
    with database.claiming() as connection:
        return connection.execute(_HEARTBEAT, parameters).rowcount == 1


_BEAT: Final = (
    update(frames)
    .where(
        frames.c.execution == bindparam("at_execution"),
        frames.c.id == bindparam("at_id"),
        frames.c.token == bindparam("at_token"),
    )
    .values(wake_at=earliest_moment())
)


def beat(database: Database, execution: int, frame: str, token: str) -> bool:
    """Put off the same moment for whoever has a task's token; False if the attempt is over."""
    parameters = {"at_execution": execution, "at_id": frame, "at_token": token}
    with database.claiming() as connection:
        return connection.execute(_BEAT, parameters).rowcount == 1


# -- leases that are over ------------------------------------------------------------------------

# A claim without a lease has handed in its result, which waits to be decided.
_over: Final[ColumnElement[bool]] = and_(
    frames.c.claimed_by.is_not(None),
    frames.c.lease_until.is_not(None),
    or_(
        and_(
            bindparam("leases", type_=Boolean()).is_(True),
            frames.c.lease_until <= current_moment(),
        ),
        frames.c.claimed_by.in_(select(workers.c.id).where(workers.c.died_at.is_not(None))),
    ),
    heard_of(),
)
_cancelled: Final = frames.c.status == FrameStatus.CANCELLED.value
_again: Final[ColumnElement[bool]] = and_(
    frames.c.at_most_once.is_(False), frames.c.deliveries < bindparam("most_deliveries")
)

_SPENT: Final = (
    select(frames.c.execution, frames.c.id, frames.c.token, frames.c.deliveries)
    .where(
        _over,
        or_(
            frames.c.at_most_once.is_(True),
            frames.c.deliveries >= bindparam("most_deliveries"),
            _cancelled,  # nobody runs its task again
        ),
    )
    .limit(bindparam("most"))
)


@cache
def lapse_statement() -> Update:
    """Return the statement that gives back tasks whose leases are over, to their queues."""
    over = (
        select(frames.c.execution, frames.c.id)
        .where(_over, _again, ~_cancelled)
        .limit(bindparam("most"))
        .with_for_update(skip_locked=True)
        .cte("over")
    )
    served_at = (
        select(resources.c.queue).where(resources.c.name == frames.c.resource).scalar_subquery()
    )
    return (
        update(frames)
        .where(frames.c.execution == over.c.execution, frames.c.id == over.c.id)
        .values({**_UNCLAIMED, "queue": func.coalesce(served_at, frames.c.queue)})
        .returning(frames.c.queue)
    )


def lapse(
    database: Database, limit: int, most_deliveries: int, by: str | None, *, leases: bool
) -> Lapses:
    """Give back tasks whose workers are lost; hand out those that may not be delivered again."""
    parameters = {"most": limit, "most_deliveries": most_deliveries, "by": by, "leases": leases}
    with database.claiming() as connection:
        queues = connection.execute(lapse_statement(), parameters).scalars().all()
    with database.reading() as connection:
        spent = connection.execute(_SPENT, parameters).all()
    return Lapses(
        given_back=Counter(queue for queue in queues if queue is not None),
        lost=tuple(TaskLost(*row) for row in spent),
    )
