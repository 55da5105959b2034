"""Definitions that were understood when they were stored, and are no longer."""

from __future__ import annotations

import sqlalchemy as sa


def spoil(url: str, machine: str) -> None:
    """Make the stored definition of a machine unreadable; who has read it knows it still."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        change = sa.text("UPDATE revisions SET text = '{}' WHERE machine = :machine")
        assert connection.execute(change, {"machine": machine}).rowcount == 1
    engine.dispose()
