"""Machines that are being deleted: their executions are stopped, then they are gone."""

from __future__ import annotations

from typing import Final

from orchestrator.engine.engine import Engine
from orchestrator.execution.events import StopRequested
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.store import MachineStatus, Store

BATCH: Final = 100


class Deletion:
    """Goes on with deletions, batch by batch, whoever began them."""

    def __init__(self, store: Store, engine: Engine) -> None:
        self._store = store
        self._engine = engine

    def tick(self) -> None:
        """Go on with every machine that is being deleted."""
        for name in self._store.machines.deleting():
            self.go_on(name)

    def go_on(self, name: str) -> None:
        """Stop a batch of a machine's executions; without any, the machine is gone."""
        runs = self._store.list_executions(name, ExecutionStatus.RUNNING, BATCH)
        if runs:
            self._engine.handle_many([StopRequested(run.id, None, None) for run in runs])
        if len(runs) < BATCH:
            self._store.machines.set_status(name, MachineStatus.DELETING, MachineStatus.DELETED)
