"""The schema of the database, brought to this release's and checked against it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, select, text
from sqlalchemy.sql import table
from sqlalchemy.sql.expression import column

from orchestrator.store.address import Connecting
from orchestrator.store.database import Database
from orchestrator.store.errors import SchemaMismatch

UPGRADE_SECONDS: Final = 3_600.0
"""How long one statement of an upgrade may take, and how long it waits for another process's."""

_LOCK_KEY: Final = 0x6F726368  # "orch": the advisory lock under which PostgreSQL is upgraded
_VERSION = table("schema_version", column("version_num"))


def migrate(url: str) -> str:
    """Bring the schema to this release's and say what was done.

    Any number of processes may do so at once: one does, the others wait and find nothing to do.
    """
    patient = Connecting(
        statement_seconds=UPGRADE_SECONDS,
        lock_seconds=UPGRADE_SECONDS,
        idle_in_transaction_seconds=UPGRADE_SECONDS,
    )
    database = Database(url, patient, "orchestrator db upgrade")
    try:
        with database.upgrading() as connection:
            if database.dialect == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK_KEY})"))
            return _upgrade(connection)
    finally:
        database.dispose()


def check_schema(database: Database) -> None:
    """Raise SchemaMismatch unless the schema is this release's.

    Where SQLite has no file none is made: whoever only asks leaves nothing behind.
    """
    if database.is_missing():
        raise SchemaMismatch(
            f"there is no database {database.path}: run `orchestrator db upgrade`, or name another "
            "one by ORCHESTRATOR_DATABASE_URL or --database-url"
        )
    with database.reading() as connection:
        there = _version(connection)
    _refuse_newer(there)
    if there != newest():
        found = "has no tables" if there is None else f"has schema {there}"
        raise SchemaMismatch(
            f"the database {found}, this release needs {newest()}: run `orchestrator db upgrade`"
        )


def newest() -> str:
    """Return the name of this release's schema."""
    return _scripts().get_current_head() or ""


def _upgrade(connection: Connection) -> str:
    before = _version(connection)
    _refuse_newer(before)
    if before == newest():
        return f"the schema is {before} already"
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    return f"the schema was {before or 'empty'} and is {newest()} now"


def _refuse_newer(version: str | None) -> None:
    known = {script.revision for script in _scripts().walk_revisions()}
    if version is not None and version not in known:
        raise SchemaMismatch(
            f"the database has schema {version}, which is newer than this release's {newest()}: "
            "install the release that upgraded it, or a later one"
        )


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(_VERSION.name):
        return None
    return connection.execute(select(_VERSION.c.version_num)).scalar()


def _config() -> Config:
    config = Config()
    folder = Path(__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    return config


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())
