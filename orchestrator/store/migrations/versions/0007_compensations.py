"""Compensations, and how far an execution has come with undoing."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

BYTEWISE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
OPEN = "status IN ('doubtful', 'pending', 'running', 'blocked')"


def upgrade() -> None:
    """Create the table, and what is new of the others."""
    op.add_column("executions", sa.Column("outcome", sa.Text()))
    op.add_column("executions", sa.Column("undoing", sa.Text()))
    op.create_table(
        "compensations",
        sa.Column("execution", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("scope", BYTEWISE, nullable=False),
        sa.Column("status", BYTEWISE, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("resource", BYTEWISE, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("undoes", sa.Text()),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("awaited_by", BYTEWISE),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("execution", "scope", "event", "place", name="compensations_pkey"),
    )
    op.create_index(
        "compensations_open",
        "compensations",
        ["execution", "event", "place"],
        unique=False,
        postgresql_where=sa.text(OPEN),
        sqlite_where=sa.text(OPEN),
    )
