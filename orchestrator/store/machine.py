"""Machines and their revisions, which never change."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from orchestrator.execution.frame import LEVEL
from orchestrator.store.database import Database
from orchestrator.store.errors import NoSuchRevision
from orchestrator.store.moment import current_moment
from orchestrator.store.tables import machines, revisions
from orchestrator.store.values import MachineRow, Revision

_CREATE: Final[dict[str, Insert]] = {
    "postgresql": postgresql.insert(machines)
    .values(created_at=current_moment(), updated_at=current_moment())
    .on_conflict_do_nothing(),
    "sqlite": sqlite.insert(machines)
    .values(created_at=current_moment(), updated_at=current_moment())
    .on_conflict_do_nothing(),
}
_LOCK: Final = (
    select(machines.c.revision).where(machines.c.name == bindparam("machine")).with_for_update()
)
_REVISION: Final = select(
    revisions.c.id, revisions.c.machine, revisions.c.number, revisions.c.text
).where(revisions.c.id == bindparam("revision"))
_ADD: Final = insert(revisions).values(created_at=current_moment()).returning(revisions.c.id)
_POINT: Final = (
    update(machines)
    .where(machines.c.name == bindparam("machine"))
    .values(revision=bindparam("newest"), updated_at=current_moment())
)
_MACHINES: Final = (
    select(
        machines.c.name,
        machines.c.revision,
        revisions.c.number,
        machines.c.created_at,
        machines.c.updated_at,
    )
    .join(revisions, revisions.c.id == machines.c.revision)
    .order_by(machines.c.name)
)
_MACHINE: Final = _MACHINES.where(machines.c.name == bindparam("machine"))


def put_machine(database: Database, name: str, text: str) -> Revision:
    """Make a text the newest revision of a machine; it stays the newest if it is so already."""
    with database.writing() as connection:
        connection.execute(_CREATE[database.dialect], {"name": name})
        newest = connection.execute(_LOCK, {"machine": name}).scalar_one()
        number = 0
        if newest is not None:
            row = connection.execute(_REVISION, {"revision": newest}).one()
            if row.text == text:
                return Revision(row.id, name, row.number, created=False)
            number = row.number
        return _add(connection, name, number + 1, text)


def _add(connection: Connection, machine: str, number: int, text: str) -> Revision:
    values = {"machine": machine, "number": number, "level": LEVEL, "text": text}
    revision = connection.execute(_ADD, values).scalar_one()
    connection.execute(_POINT, {"machine": machine, "newest": revision})
    return Revision(revision, machine, number, created=True)


def machine(database: Database, name: str) -> MachineRow | None:
    """Return a machine with its newest revision."""
    with database.reading() as connection:
        row = connection.execute(_MACHINE, {"machine": name}).first()
    return None if row is None else MachineRow(*row)


def machine_list(database: Database) -> list[MachineRow]:
    """Return all machines, by name."""
    with database.reading() as connection:
        return [MachineRow(*row) for row in connection.execute(_MACHINES)]


def revision(database: Database, number: int) -> str:
    """Return the text of a revision; raises NoSuchRevision."""
    with database.reading() as connection:
        row = connection.execute(_REVISION, {"revision": number}).first()
    if row is None:
        raise NoSuchRevision(number)
    return str(row.text)
