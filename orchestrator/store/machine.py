"""Machines and their revisions, which never change."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from orchestrator.execution.frame import LEVEL
from orchestrator.store.database import Database
from orchestrator.store.errors import NoSuchRevision
from orchestrator.store.moment import current_moment
from orchestrator.store.rows import Values
from orchestrator.store.tables import machines, revisions
from orchestrator.store.values import MachineRow, MachineStatus, MachineWish, Revision

_CREATE: Final[dict[str, Insert]] = {
    "postgresql": postgresql.insert(machines)
    .values(created_at=current_moment(), updated_at=current_moment())
    .on_conflict_do_nothing(),
    "sqlite": sqlite.insert(machines)
    .values(created_at=current_moment(), updated_at=current_moment())
    .on_conflict_do_nothing(),
}
_LOCK: Final = (
    select(machines.c.revision, machines.c.status)
    .where(machines.c.name == bindparam("machine"))
    .with_for_update()
)
_REVISION_COLUMNS: Final = (
    revisions.c.id,
    revisions.c.machine,
    revisions.c.number,
    revisions.c.text,
    revisions.c.created_at,
    revisions.c.uid,
    revisions.c.settings,
)
_REVISION: Final = select(*_REVISION_COLUMNS).where(revisions.c.id == bindparam("revision"))
_ADD: Final = (
    insert(revisions)
    .values(created_at=current_moment())
    .returning(revisions.c.id, revisions.c.created_at)
)
_POINT: Final = (
    update(machines)
    .where(machines.c.name == bindparam("machine"))
    .values(
        revision=bindparam("newest"),
        updated_at=current_moment(),
        status=MachineStatus.ACTIVE.value,
        type=bindparam("of_type"),
    )
)
_BEGIN: Final = (
    update(machines)
    .where(machines.c.name == bindparam("machine"))
    .values(created_at=current_moment())
)
_MACHINES: Final = select(
    machines.c.name,
    machines.c.revision,
    revisions.c.number,
    machines.c.created_at,
    machines.c.updated_at,
    machines.c.status,
    machines.c.type,
).join(revisions, revisions.c.id == machines.c.revision)
_MACHINE: Final = _MACHINES.where(machines.c.name == bindparam("machine"))
_PAGE: Final = (
    _MACHINES.where(
        machines.c.name > bindparam("after"), machines.c.status != MachineStatus.DELETED.value
    )
    .order_by(machines.c.name)
    .limit(bindparam("most"))
)
_SET_STATUS: Final = (
    update(machines)
    .where(machines.c.name == bindparam("machine"), machines.c.status == bindparam("seen"))
    .values(status=bindparam("new"))
)
_DELETING: Final = select(machines.c.name).where(machines.c.status == MachineStatus.DELETING.value)
_NEWEST: Final = (
    select(*_REVISION_COLUMNS)
    .join(machines, machines.c.revision == revisions.c.id)
    .where(machines.c.name == bindparam("machine"))
)


class Machines:
    """The machines of one database."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    def put(self, name: str, text: str) -> Revision:
        """Make a text the newest revision of a machine; it stays the newest if it is so already."""
        while True:
            with self._database().reading() as connection:
                there = connection.execute(_MACHINE, {"machine": name}).first()
                newest = connection.execute(_NEWEST, {"machine": name}).first()
            known = there is not None and there.status == MachineStatus.ACTIVE.value
            if known and newest is not None and newest.text == text:
                return _revision(newest, created=False)
            wish = MachineWish(
                name,
                text,
                there.type if known and there is not None else "STANDARD",
                newest.settings if known and newest is not None else None,
            )
            made = self.write(wish, newest.id if known and newest is not None else None)
            if made is not None:
                return made

    def write(self, wish: MachineWish, seen: int | None) -> Revision | None:
        """Add a revision to a machine whose newest is `seen`, or make the machine (`seen` None).

        None: it has another newest revision by now, or is being deleted.
        """
        database = self._database()
        with database.writing() as connection:
            connection.execute(_CREATE[database.dialect], {"name": wish.name})
            newest, status = connection.execute(_LOCK, {"machine": wish.name}).one()
            active = newest is not None and status != MachineStatus.DELETED.value
            if status == MachineStatus.DELETING.value or (newest if active else None) != seen:
                return None
            number = 0
            if newest is not None:
                number = connection.execute(_REVISION, {"revision": newest}).one().number
            if seen is None:
                connection.execute(_BEGIN, {"machine": wish.name})
            return _add(connection, wish, number + 1, None if seen is None else str(uuid.uuid4()))

    def find(self, name: str) -> MachineRow | None:
        """Return a machine with its newest revision; None if there is none, or it is deleted."""
        with self._database().reading() as connection:
            row = connection.execute(_MACHINE, {"machine": name}).first()
        return None if row is None or row.status == MachineStatus.DELETED.value else _machine(row)

    def page(self, after: str = "", limit: int = 1_000_000) -> list[MachineRow]:
        """Return a page of machines, by name, behind the name `after`."""
        with self._database().reading() as connection:
            rows = connection.execute(_PAGE, {"after": after, "most": limit})
            return [_machine(row) for row in rows]

    def set_status(self, name: str, seen: MachineStatus, new: MachineStatus) -> bool:
        """Set the status of a machine that has the status seen; False if it has another by now."""
        with self._database().writing() as connection:
            parameters = {"machine": name, "seen": seen.value, "new": new.value}
            return connection.execute(_SET_STATUS, parameters).rowcount == 1

    def deleting(self) -> list[str]:
        """Return the machines that are being deleted."""
        with self._database().reading() as connection:
            return list(connection.execute(_DELETING).scalars())

    def revision(self, number: int) -> Revision:
        """Return a revision; raises NoSuchRevision."""
        with self._database().reading() as connection:
            row = connection.execute(_REVISION, {"revision": number}).first()
        if row is None:
            raise NoSuchRevision(number)
        return _revision(row, created=False)


def _add(connection: Connection, wish: MachineWish, number: int, uid: str | None) -> Revision:
    values = {
        "machine": wish.name,
        "number": number,
        "level": LEVEL,
        "text": wish.text,
        "uid": uid,
        "settings": wish.settings,
    }
    revision, created_at = connection.execute(_ADD, values).one()
    connection.execute(_POINT, {"machine": wish.name, "newest": revision, "of_type": wish.type})
    return Revision(
        revision, wish.name, number, created_at, wish.text, uid, wish.settings, created=True
    )


def _revision(row: Values, *, created: bool) -> Revision:
    number, name, place, text, created_at, uid, settings = row
    return Revision(number, name, place, created_at, text, uid, settings, created=created)


def _machine(row: Values) -> MachineRow:
    name, newest, number, created_at, updated_at, status, kind = row
    return MachineRow(name, newest, number, created_at, updated_at, MachineStatus(status), kind)
