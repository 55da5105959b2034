"""Executions that others have started and wait for: their ends are told, orphans are stopped.

No transaction touches two executions. The end of a child stands in its own row until its parent
has taken it in; a parent that stops waiting leaves a note here, in its own transaction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlalchemy import Float, bindparam, delete, select, update

from orchestrator.execution.frame import Execution, Phase
from orchestrator.store.database import Database
from orchestrator.store.moment import current_moment, later
from orchestrator.store.rows import EXECUTION_COLUMNS, read_execution
from orchestrator.store.tables import UNTOLD, executions, orphans

KEPT_SECONDS: Final = 300.0
"""How long a note is kept of a child that may only be about to start."""

_UNTOLD: Final = (
    select(*EXECUTION_COLUMNS).where(UNTOLD).order_by(executions.c.id).limit(bindparam("most"))
)
_TELL: Final = update(executions).where(executions.c.id == bindparam("at_id")).values(told=True)
_ORPHANS: Final = (
    select(*EXECUTION_COLUMNS)
    .join(orphans, orphans.c.parent == executions.c.parent)
    .where(executions.c.ended_at.is_(None), executions.c.phase == Phase.OPEN.value)
    .limit(bindparam("most"))
)
_FORGET: Final = delete(orphans).where(
    orphans.c.since <= later(current_moment(), -bindparam("kept", type_=Float()))
)
_ANY_ORPHAN: Final = select(orphans.c.parent).limit(1)


class Children:
    """The children of the executions of one database."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    def untold(self, limit: int) -> list[Execution]:
        """Return children that have ended and whose parents have not heard of it."""
        with self._database().reading() as connection:
            return [read_execution(row) for row in connection.execute(_UNTOLD, {"most": limit})]

    def told(self, execution: int) -> None:
        """Note that a parent has heard of the end of its child."""
        with self._database().claiming() as connection:
            connection.execute(_TELL, {"at_id": execution})

    def orphaned(self, limit: int) -> list[Execution]:
        """Return children that run on although nobody waits for them any more."""
        database = self._database()
        with database.reading() as connection:
            if connection.execute(_ANY_ORPHAN).first() is None:
                return []
            found = [read_execution(row) for row in connection.execute(_ORPHANS, {"most": limit})]
        if not found:
            with database.claiming() as connection:
                connection.execute(_FORGET, {"kept": KEPT_SECONDS})
        return found
