"""Everything that a database holds, to be compared byte by byte."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from orchestrator.store.tables import metadata


def everything(engine: sa.Engine) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, as the database holds them, in the order of their keys."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    with engine.connect() as connection:
        for table in metadata.sorted_tables:
            keys = ", ".join(column.name for column in table.primary_key)
            query = sa.text(f"SELECT * FROM {table.name} ORDER BY {keys}")  # noqa: S608
            found[table.name] = [tuple(row) for row in connection.execute(query)]
    return found
