"""What whoever looks for faults asks of the database; it only reads."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.execution.frame import ExecutionStatus
from orchestrator.store import checkup, schema, undecided, worker
from orchestrator.store.database import Database
from orchestrator.store.values import Checkup, TrailRow, Undecided, WaitingResource, WorkerRow


class Records:
    """The records of one database."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    def check_ups(self, status: ExecutionStatus, after: int, limit: int) -> list[Checkup]:
        """Return what is on record of a page of executions, without their documents.

        Those that run come by rising id behind `after`, those that have ended by falling id
        before it.
        """
        return checkup.check_ups(self._database(), status, after, limit)

    def check_up(self, execution_id: int) -> Checkup | None:
        """Return what is on record of one execution, without its documents."""
        return checkup.check_up(self._database(), execution_id)

    def waiting(self) -> list[WaitingResource]:
        """Return, per announced queue, the resources of tasks that have been ready longest."""
        return checkup.waiting(self._database())

    def workers(self) -> list[WorkerRow]:
        """Return all processes that beat, and those that did so lately."""
        return worker.worker_list(self._database())

    def left_to_operators(self, limit: int) -> list[Undecided]:
        """Return the events that were tried as often as may be, oldest first."""
        return undecided.left_to_operators(self._database(), limit)

    def trail(self, execution_id: int) -> list[TrailRow]:
        """Return what operators did to an execution, in order."""
        return undecided.trail_of(self._database(), execution_id)

    def schema(self) -> str:
        """Return the name of the schema of the database, which is this release's."""
        self._database()
        return schema.newest()
