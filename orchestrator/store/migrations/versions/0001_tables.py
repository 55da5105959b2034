"""The tables of the first release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from orchestrator.store.moment import Moment

revision = "0001"
down_revision = None

BYTEWISE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
SURROGATE_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    _documents()
    _executions()
    _forks()
    _frames()
    _history()
    _machines()
    _resources()
    _revisions()


def _documents() -> None:
    op.create_table(
        "documents",
        sa.Column("execution", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("what", BYTEWISE, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("execution", "what", name="documents_pkey"),
    )


def _executions() -> None:
    op.create_table(
        "executions",
        sa.Column("id", SURROGATE_ID, autoincrement=False, nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("next_event_id", sa.BigInteger(), nullable=False),
        sa.Column("frames", sa.Integer(), nullable=False),
        sa.Column("started_at", Moment(), nullable=False),
        sa.Column("last_event_at", Moment(), nullable=False),
        sa.Column("deadline_at", Moment()),
        sa.Column("ended_at", Moment()),
        sa.Column("machine", BYTEWISE, nullable=False),
        sa.Column("name", BYTEWISE, nullable=False),
        sa.Column("status", BYTEWISE, nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("final_state", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.Column("cause", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="executions_pkey"),
        sa.UniqueConstraint("machine", "name", name="executions_machine_name"),
        postgresql_with={"fillfactor": 80},
    )
    op.create_index(
        "executions_deadline_at",
        "executions",
        ["deadline_at"],
        unique=False,
        postgresql_where=sa.text("phase = 'open'"),
        sqlite_where=sa.text("phase = 'open'"),
    )
    op.create_index("executions_machine_id", "executions", ["machine", "id"], unique=False)
    op.create_index("executions_status_id", "executions", ["status", "id"], unique=False)


def _forks() -> None:
    op.create_table(
        "forks",
        sa.Column("execution", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("entry", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("admitted", sa.Integer(), nullable=False),
        sa.Column("succeeded", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("max_concurrency", sa.Integer(), nullable=False),
        sa.Column("tolerated_count", sa.Integer(), nullable=False),
        sa.Column("tolerated_percentage", sa.Float(), nullable=False),
        sa.Column("frame", BYTEWISE, nullable=False),
        sa.PrimaryKeyConstraint("execution", "frame", "entry", name="forks_pkey"),
        postgresql_with={"fillfactor": 80},
    )


def _frames() -> None:
    op.create_table(
        "frames",
        sa.Column("execution", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("entry", sa.BigInteger(), nullable=False),
        sa.Column("last_event", sa.BigInteger(), nullable=False),
        sa.Column("fork", sa.BigInteger()),
        sa.Column("entered_at", Moment()),
        sa.Column("wake_at", Moment()),
        sa.Column("timeout_at", Moment()),
        sa.Column("ready_at", Moment()),
        sa.Column("lease_until", Moment()),
        sa.Column("heartbeat_seconds", sa.Integer()),
        sa.Column("attempt", sa.Integer()),
        sa.Column("deliveries", sa.Integer()),
        sa.Column("level", sa.SmallInteger(), nullable=False),
        sa.Column("at_most_once", sa.Boolean()),
        sa.Column("id", BYTEWISE, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("status", BYTEWISE, nullable=False),
        sa.Column("rests_on", sa.Text()),
        sa.Column("state", sa.Text()),
        sa.Column("retries", sa.Text()),
        sa.Column("resource", BYTEWISE),
        sa.Column("queue", BYTEWISE),
        sa.Column("token", sa.Text()),
        sa.Column("key", sa.Text()),
        sa.Column("claimed_by", BYTEWISE),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text()),
        sa.Column("item", sa.Text()),
        sa.Column("progress", sa.Text()),
        sa.PrimaryKeyConstraint("execution", "id", name="frames_pkey"),
        postgresql_with={"fillfactor": 80},
    )
    op.create_index(
        "frames_claimed_by",
        "frames",
        ["claimed_by"],
        unique=False,
        postgresql_where=sa.text("claimed_by IS NOT NULL"),
        sqlite_where=sa.text("claimed_by IS NOT NULL"),
    )
    op.create_index(
        "frames_ready",
        "frames",
        ["queue", "ready_at"],
        unique=False,
        postgresql_where=sa.text("status = 'resting' AND rests_on = 'task' AND claimed_by IS NULL"),
        sqlite_where=sa.text("status = 'resting' AND rests_on = 'task' AND claimed_by IS NULL"),
    )
    op.create_index(
        "frames_unserved",
        "frames",
        ["resource", "ready_at"],
        unique=False,
        postgresql_where=sa.text(
            "status = 'resting' AND rests_on = 'task' AND claimed_by IS NULL AND queue IS NULL"
        ),
        sqlite_where=sa.text(
            "status = 'resting' AND rests_on = 'task' AND claimed_by IS NULL AND queue IS NULL"
        ),
    )
    op.create_index(
        "frames_wake_at",
        "frames",
        ["wake_at"],
        unique=False,
        postgresql_where=sa.text("wake_at IS NOT NULL"),
        sqlite_where=sa.text("wake_at IS NOT NULL"),
    )


def _history() -> None:
    op.create_table(
        "history",
        sa.Column("execution", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_id", sa.BigInteger(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("execution", "first_id", name="history_pkey"),
    )


def _machines() -> None:
    op.create_table(
        "machines",
        sa.Column("name", BYTEWISE, nullable=False),
        sa.Column("revision", sa.BigInteger()),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("updated_at", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="machines_pkey"),
    )


def _resources() -> None:
    op.create_table(
        "resources",
        sa.Column("name", BYTEWISE, nullable=False),
        sa.Column("queue", BYTEWISE, nullable=False),
        sa.Column("at_most_once", sa.Boolean(), nullable=False),
        sa.Column("announced_by", sa.Text(), nullable=False),
        sa.Column("last_seen", Moment(), nullable=False),
        sa.Column("previous_queue", BYTEWISE),
        sa.PrimaryKeyConstraint("name", name="resources_pkey"),
    )


def _revisions() -> None:
    op.create_table(
        "revisions",
        sa.Column("id", SURROGATE_ID, autoincrement=True, nullable=False),
        sa.Column("machine", BYTEWISE, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("level", sa.SmallInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="revisions_pkey"),
        sa.UniqueConstraint("machine", "number", name="revisions_machine_number"),
    )
