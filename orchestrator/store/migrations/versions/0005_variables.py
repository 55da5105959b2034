"""Variables stand in the frames whose states have assigned them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column."""
    op.add_column("frames", sa.Column("variables", sa.Text()))
