"""Activities: queues of tasks for workers that poll the API, and the keys that sign for them."""

from __future__ import annotations

import secrets as chance
from typing import Final

from sqlalchemy import bindparam, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from orchestrator.store.database import Database
from orchestrator.store.moment import current_moment
from orchestrator.store.tables import activities, resources, secrets
from orchestrator.store.values import ActivityRow

KEY_BYTES: Final = 32

_ON: Final[dict[str, type[postgresql.Insert | sqlite.Insert]]] = {
    "postgresql": postgresql.Insert,
    "sqlite": sqlite.Insert,
}
_CREATE: Final[dict[str, Insert]] = {
    dialect: of(activities).values(created_at=current_moment()).on_conflict_do_nothing()
    for dialect, of in _ON.items()
}
_SERVE: Final[dict[str, Insert]] = {
    dialect: of(resources).values(last_seen=current_moment()).on_conflict_do_nothing()
    for dialect, of in _ON.items()
}
_NAMED: Final = select(activities.c.name, activities.c.created_at)
_ONE: Final = _NAMED.where(activities.c.name == bindparam("at_name"))
_PAGE: Final = (
    _NAMED.where(activities.c.name > bindparam("after"))
    .order_by(activities.c.name)
    .limit(bindparam("most"))
)
_DELETE: Final = delete(activities).where(activities.c.name == bindparam("at_name"))
_RETIRE: Final = delete(resources).where(resources.c.name == bindparam("at_name"))
_SECRET: Final = select(secrets.c.value).where(secrets.c.name == bindparam("at_name"))
_KEEP: Final[dict[str, Insert]] = {
    dialect: of(secrets).on_conflict_do_nothing() for dialect, of in _ON.items()
}

ACTIVITY: Final = "activity:"
"""What the resource, and the queue, of an activity begins with; its name follows."""


def create(database: Database, name: str) -> ActivityRow:
    """Make an activity, unless it is there already."""
    resource = {
        "name": ACTIVITY + name,
        "queue": ACTIVITY + name,
        "at_most_once": False,
        "announced_by": "",
    }
    with database.writing() as connection:
        connection.execute(_CREATE[database.dialect], {"name": name})
        connection.execute(_SERVE[database.dialect], resource)
        return ActivityRow(*connection.execute(_ONE, {"at_name": name}).one())


def activity(database: Database, name: str) -> ActivityRow | None:
    """Return an activity."""
    with database.reading() as connection:
        row = connection.execute(_ONE, {"at_name": name}).first()
    return None if row is None else ActivityRow(*row)


def activity_list(database: Database, after: str, limit: int) -> list[ActivityRow]:
    """Return a page of activities, by name, behind the name `after`."""
    with database.reading() as connection:
        rows = connection.execute(_PAGE, {"after": after, "most": limit})
        return [ActivityRow(*row) for row in rows]


def remove(database: Database, name: str) -> None:
    """Let an activity go; its tasks wait for their time limits."""
    with database.writing() as connection:
        connection.execute(_DELETE, {"at_name": name})
        connection.execute(_RETIRE, {"at_name": ACTIVITY + name})


def secret(database: Database, name: str) -> bytes:
    """Return a key that all processes share, made by whoever asks first."""
    with database.reading() as connection:
        there = connection.execute(_SECRET, {"at_name": name}).scalar()
    if there is None:
        with database.writing() as connection:
            made = {"name": name, "value": chance.token_hex(KEY_BYTES)}
            connection.execute(_KEEP[database.dialect], made)
            there = connection.execute(_SECRET, {"at_name": name}).scalar_one()
    return bytes.fromhex(there)
