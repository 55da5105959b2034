"""Keys that all processes share, to sign what they hand out and to know it again."""

from __future__ import annotations

import secrets as chance
from typing import Final

from sqlalchemy import bindparam, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from orchestrator.store.database import Database
from orchestrator.store.tables import secrets

KEY_BYTES: Final = 32

_SECRET: Final = select(secrets.c.value).where(secrets.c.name == bindparam("at_name"))
_KEEP: Final[dict[str, Insert]] = {
    "postgresql": postgresql.insert(secrets).on_conflict_do_nothing(),
    "sqlite": sqlite.insert(secrets).on_conflict_do_nothing(),
}


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
