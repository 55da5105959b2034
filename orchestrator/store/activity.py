"""Activities: queues of tasks for workers that poll the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlalchemy import bindparam, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from orchestrator.store.database import Database
from orchestrator.store.moment import current_moment
from orchestrator.store.tables import activities, resources
from orchestrator.store.values import ActivityRow

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

ACTIVITY: Final = "activity:"
"""What the resource, and the queue, of an activity begins with; its name follows."""


class Activities:
    """The activities of one database."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    def create(self, name: str) -> ActivityRow:
        """Make an activity, unless it is there already."""
        resource = {
            "name": ACTIVITY + name,
            "queue": ACTIVITY + name,
            "at_most_once": False,
            "announced_by": "",
        }
        database = self._database()
        with database.writing() as connection:
            connection.execute(_CREATE[database.dialect], {"name": name})
            connection.execute(_SERVE[database.dialect], resource)
            return ActivityRow(*connection.execute(_ONE, {"at_name": name}).one())

    def find(self, name: str) -> ActivityRow | None:
        """Return an activity."""
        with self._database().reading() as connection:
            row = connection.execute(_ONE, {"at_name": name}).first()
        return None if row is None else ActivityRow(*row)

    def page(self, after: str, limit: int) -> list[ActivityRow]:
        """Return a page of activities, by name, behind the name `after`."""
        with self._database().reading() as connection:
            rows = connection.execute(_PAGE, {"after": after, "most": limit})
            return [ActivityRow(*row) for row in rows]

    def remove(self, name: str) -> None:
        """Let an activity go; its tasks wait for their time limits."""
        with self._database().writing() as connection:
            connection.execute(_DELETE, {"at_name": name})
            connection.execute(_RETIRE, {"at_name": ACTIVITY + name})
