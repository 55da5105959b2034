"""Who is alive, events that could not be decided, and what operators did."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from orchestrator.store.moment import Moment

revision = "0002"
down_revision = "0001"

BYTEWISE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
SURROGATE_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LONELY = "status = 'resting' AND rests_on = 'task' AND claimed_by IS NULL AND deliveries >= 2"


def upgrade() -> None:
    """Create the tables, and what is new of the others."""
    _workers()
    _undecided()
    _trail()
    op.add_column(
        "executions", sa.Column("strikes", sa.Integer(), nullable=False, server_default="0")
    )
    op.create_index(
        "frames_lonely",
        "frames",
        ["queue"],
        unique=False,
        postgresql_where=sa.text(LONELY),
        sqlite_where=sa.text(LONELY),
    )


def _workers() -> None:
    op.create_table(
        "workers",
        sa.Column("id", BYTEWISE, nullable=False),
        sa.Column("lock_key", sa.BigInteger()),
        sa.Column("failed_bells", sa.BigInteger(), nullable=False),
        sa.Column("started_at", Moment(), nullable=False),
        sa.Column("beat_at", Moment(), nullable=False),
        sa.Column("died_at", Moment()),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("given_up", sa.Integer(), nullable=False),
        sa.Column("level", sa.SmallInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("serves", sa.Text()),
        sa.Column("unhealthy", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="workers_pkey"),
    )


def _undecided() -> None:
    op.create_table(
        "undecided",
        sa.Column("execution", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("entry", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("stored_at", Moment(), nullable=False),
        sa.Column("try_at", Moment()),
        sa.Column("strikes", sa.Integer(), nullable=False),
        sa.Column("frame", BYTEWISE, nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("execution", "frame", "entry", name="undecided_pkey"),
    )


def _trail() -> None:
    op.create_table(
        "trail",
        sa.Column("id", SURROGATE_ID, autoincrement=True, nullable=False),
        sa.Column("execution", sa.BigInteger()),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="trail_pkey"),
    )
    op.create_index("trail_execution", "trail", ["execution", "id"], unique=False)
