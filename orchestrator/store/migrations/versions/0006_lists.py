"""Lists of executions of one machine by status, and of what rests by age."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

AGEING = "rests_on IN ('call', 'callback', 'clock', 'execution')"


def upgrade() -> None:
    """Create the indexes."""
    op.create_index(
        "executions_machine_status_id", "executions", ["machine", "status", "id"], unique=False
    )
    op.create_index(
        "frames_ageing",
        "frames",
        ["execution", "id"],
        unique=False,
        postgresql_where=sa.text(AGEING),
        sqlite_where=sa.text(AGEING),
    )
