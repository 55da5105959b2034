"""What whoever looks at many things asks of the database; it only reads, and never all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orchestrator.execution.call import Call
from orchestrator.store import listing
from orchestrator.store.database import Database
from orchestrator.store.listing import Listed, Page, Sought, Waiting
from orchestrator.store.values import Revision


class Lists:
    """The lists of one database."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    def executions(self, sought: Sought, limit: int) -> Page:
        """Return a page of the executions sought, newest first."""
        return listing.executions_page(self._database(), sought, limit)

    def named(self, machines: Sequence[str], prefix: str, limit: int) -> list[Listed]:
        """Return executions of these machines whose names begin with a text."""
        return listing.named(self._database(), machines, prefix, limit)

    def versions(self, ids: Sequence[int]) -> dict[int, str]:
        """Return, by id, what changes when anything of an execution changes."""
        return listing.versions(self._database(), ids)

    def newest_calls(self, execution_id: int, limit: int) -> list[Call]:
        """Return the calls of an execution, the last ones first."""
        return listing.newest_calls(self._database(), execution_id, limit)

    def ageing(self, limit: int) -> list[Waiting]:
        """Return the frames that have waited longest for what no worker does."""
        return listing.ageing(self._database(), limit)

    def revisions(self, machine: str, below: int, limit: int) -> list[Revision]:
        """Return revisions of a machine below a number, newest first."""
        return listing.revision_list(self._database(), machine, below, limit)
