"""What whoever looks at many things asks of the database; it only reads, and never all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from orchestrator.execution.call import Call
from orchestrator.execution.frame import Fork
from orchestrator.store import listing, resting
from orchestrator.store.database import Database
from orchestrator.store.listing import Child, Listed, Page, Sought
from orchestrator.store.resting import RunningTask, Waiting
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

    def forks(self, execution_id: int, limit: int) -> list[Fork]:
        """Return the tallies of the running Parallels and Maps of an execution."""
        return listing.fork_list(self._database(), execution_id, limit)

    def children(self, execution_id: int, fork: Fork, limit: int) -> list[Child]:
        """Return how the children of a fork stand that are there, by id."""
        return listing.children(self._database(), execution_id, fork.prefix, limit)

    def before(self, queue: str, ready_at: datetime, limit: int) -> int:
        """Count the tasks of a queue that were ready before a moment, up to a limit."""
        return resting.before(self._database(), queue, ready_at, limit)

    def ageing(self, limit: int) -> list[Waiting]:
        """Return frames of the oldest executions that wait for no worker, longest first."""
        return resting.ageing(self._database(), limit)

    def claimed(self, limit: int) -> list[RunningTask]:
        """Return the tasks that are claimed, by worker."""
        return resting.claimed(self._database(), limit)

    def running(self, machine: str, limit: int) -> int:
        """Count the executions of a machine that run, up to a limit."""
        return listing.running(self._database(), machine, limit)

    def revisions(self, machine: str, below: int, limit: int) -> list[Revision]:
        """Return revisions of a machine below a number, newest first."""
        return listing.revision_list(self._database(), machine, below, limit)
