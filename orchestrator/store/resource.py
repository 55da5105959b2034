"""Who serves what: workers announce resources and queues, tasks without a queue are given one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Final

from sqlalchemy import Update, bindparam, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from orchestrator.store.database import Database
from orchestrator.store.moment import current_moment
from orchestrator.store.rows import Row
from orchestrator.store.sweep import MOST_COUNTED
from orchestrator.store.tables import READY, frames, resources
from orchestrator.store.values import Announcement, Unserved

MOST_ASSIGNED: Final = 1_000
"""Tasks that are given a queue at once."""


@cache
def _announce(dialect: str) -> Insert:
    insert: type[postgresql.Insert | sqlite.Insert] = (
        sqlite.Insert if dialect == "sqlite" else postgresql.Insert
    )
    statement = insert(resources).values(last_seen=current_moment())
    new = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=["name"],
        set_={
            "previous_queue": func.coalesce(
                func.nullif(resources.c.queue, new.queue), resources.c.previous_queue
            ),
            "queue": new.queue,
            "at_most_once": new.at_most_once,
            "announced_by": new.announced_by,
            "last_seen": new.last_seen,
        },
    )


def announce(database: Database, worker: str, served: Mapping[str, Announcement]) -> None:
    """Note that a worker serves these resources; the latest announcement of a name counts."""
    rows: list[Row] = [
        {
            "name": name,
            "queue": announcement.queue,
            "at_most_once": announcement.at_most_once,
            "announced_by": worker,
        }
        for name, announcement in sorted(served.items())  # in order: no two can deadlock
    ]
    if rows:
        with database.writing() as connection:
            for row in rows:
                connection.execute(_announce(database.dialect), row)


_ROUTES: Final = select(resources.c.name, resources.c.queue)


def routes(database: Database) -> dict[str, str]:
    """Return the queue of each resource that a worker has announced."""
    with database.reading() as connection:
        return {row.name: row.queue for row in connection.execute(_ROUTES)}


@cache
def assign_statement() -> Update:
    """Return the statement that moves ready tasks to the queue that serves them by now."""
    elsewhere = (
        select(frames.c.execution, frames.c.id)
        .select_from(resources)
        .join(frames, frames.c.resource == resources.c.name)
        .where(READY, frames.c.queue.is_(None))
        .order_by(frames.c.resource, frames.c.ready_at)
        .limit(bindparam("most"))
        .with_for_update(skip_locked=True, of=frames)
        .cte("elsewhere")
    )
    served_at = (
        select(resources.c.queue).where(resources.c.name == frames.c.resource).scalar_subquery()
    )
    return (
        update(frames)
        .where(frames.c.execution == elsewhere.c.execution, frames.c.id == elsewhere.c.id)
        .values(queue=served_at)
        .returning(frames.c.queue)
    )


@cache
def follow_statement() -> Update:
    """Return the statement that moves ready tasks along with resources that have moved."""
    left_behind = (
        select(frames.c.execution, frames.c.id)
        .select_from(resources)
        .join(frames, frames.c.queue == resources.c.previous_queue)
        .where(
            READY,
            frames.c.resource == resources.c.name,
            resources.c.previous_queue != resources.c.queue,
        )
        .limit(bindparam("most"))
        .with_for_update(skip_locked=True, of=frames)
        .cte("left_behind")
    )
    served_at = (
        select(resources.c.queue).where(resources.c.name == frames.c.resource).scalar_subquery()
    )
    return (
        update(frames)
        .where(frames.c.execution == left_behind.c.execution, frames.c.id == left_behind.c.id)
        .values(queue=served_at)
        .returning(frames.c.queue)
    )


def assign_queues(database: Database) -> dict[str, int]:
    """Move tasks to the queues that serve them by now; how many came to each."""
    moved: Counter[str] = Counter()
    with database.claiming() as connection:
        for statement in (assign_statement(), follow_statement()):
            moved.update(connection.execute(statement, {"most": MOST_ASSIGNED}).scalars())
    return moved


# One step from resource to resource along the index, however many tasks wait for each.
_first = (
    select(func.min(frames.c.resource)).where(READY, frames.c.queue.is_(None)).scalar_subquery()
)
_names = select(_first.label("resource")).cte("names", recursive=True)
_next = (
    select(func.min(frames.c.resource))
    .where(READY, frames.c.queue.is_(None), frames.c.resource > _names.c.resource)
    .scalar_subquery()
)
_walked = _names.union_all(select(_next).where(_names.c.resource.is_not(None)))
_waiting = (
    select(frames.c.ready_at)
    .where(READY, frames.c.queue.is_(None), frames.c.resource == _walked.c.resource)
    .correlate(_walked)
    .order_by(frames.c.ready_at)
    .limit(MOST_COUNTED)
    .subquery("waiting")
)
UNSERVED: Final = select(
    _walked.c.resource,
    select(func.count()).select_from(_waiting).scalar_subquery().label("rows"),
    select(func.min(_waiting.c.ready_at)).scalar_subquery().label("oldest"),
).where(_walked.c.resource.is_not(None))


def unserved(database: Database) -> list[Unserved]:
    """Return the resources for which tasks wait and that no worker has announced."""
    with database.reading() as connection:
        return [Unserved(*row) for row in connection.execute(UNSERVED)]
