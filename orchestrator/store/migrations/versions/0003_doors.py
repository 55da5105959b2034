"""What AWS's door knows of machines, activities, tokens, and executions that start others."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from orchestrator.store.moment import Moment

revision = "0003"
down_revision = "0002"

BYTEWISE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
UNTOLD = "told = false AND ended_at IS NOT NULL"


def upgrade() -> None:
    """Create the tables, and what is new of the others."""
    _machines()
    _executions()
    op.create_table(
        "activities",
        sa.Column("name", BYTEWISE, nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="activities_pkey"),
    )
    op.create_table(
        "secrets",
        sa.Column("name", BYTEWISE, nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="secrets_pkey"),
    )
    op.create_table(
        "orphans",
        sa.Column("parent", BYTEWISE, nullable=False),
        sa.Column("since", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("parent", name="orphans_pkey"),
    )


def _machines() -> None:
    op.add_column(
        "machines", sa.Column("status", BYTEWISE, nullable=False, server_default="ACTIVE")
    )
    op.add_column(
        "machines", sa.Column("type", BYTEWISE, nullable=False, server_default="STANDARD")
    )
    op.add_column("revisions", sa.Column("uid", sa.Text()))
    op.add_column("revisions", sa.Column("settings", sa.Text()))


def _executions() -> None:
    op.add_column("executions", sa.Column("told", sa.Boolean()))
    op.add_column("executions", sa.Column("parent", BYTEWISE))
    op.add_column("executions", sa.Column("origin", sa.Text()))
    op.create_index(
        "executions_parent",
        "executions",
        ["parent"],
        unique=False,
        postgresql_where=sa.text("parent IS NOT NULL"),
        sqlite_where=sa.text("parent IS NOT NULL"),
    )
    op.create_index(
        "executions_untold",
        "executions",
        ["id"],
        unique=False,
        postgresql_where=sa.text(UNTOLD),
        sqlite_where=sa.text(UNTOLD),
    )
