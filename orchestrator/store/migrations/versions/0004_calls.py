"""Calls with their verdicts, frames that rest on one, and effects."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from orchestrator.store.moment import Moment

revision = "0004"
down_revision = "0003"

BYTEWISE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
CALLED = "rests_on = 'call'"
UNENDED = "kind = 'effect' AND status IN ('pending', 'resting')"
FAILED = "status = 'failed'"
KEPT = "verdict = 'pending'"


def upgrade() -> None:
    """Create the table, and what is new of the others."""
    for counter in ("kept", "effects"):
        op.add_column(
            "executions", sa.Column(counter, sa.Integer(), nullable=False, server_default="0")
        )
    op.add_column("frames", sa.Column("timers", sa.Text()))
    op.add_column("frames", sa.Column("effect", sa.Text()))
    _index("frames_called", "frames", ["execution", "id"], CALLED)
    _index("frames_unended_effects", "frames", ["execution", "id"], UNENDED)
    _index("frames_failed_effects", "frames", ["execution"], FAILED)
    _calls()


def _calls() -> None:
    op.create_table(
        "calls",
        sa.Column("execution", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("call_id", BYTEWISE, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("arrived_at", Moment(), nullable=False),
        sa.Column("decided_at", Moment()),
        sa.Column("call", sa.Text(), nullable=False),
        sa.Column("at", BYTEWISE),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("verdict", BYTEWISE, nullable=False),
        sa.Column("input", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text()),
        sa.PrimaryKeyConstraint("execution", "call_id", name="calls_pkey"),
    )
    op.create_index("calls_number", "calls", ["execution", "number", "call_id"], unique=False)
    _index("calls_kept", "calls", ["execution", "number"], KEPT)
    _index("calls_waiting", "calls", ["arrived_at"], KEPT)


def _index(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(
        name,
        table,
        columns,
        unique=False,
        postgresql_where=sa.text(where),
        sqlite_where=sa.text(where),
    )
