"""Locks that die with their processes: whose life is over holds none."""

from __future__ import annotations

from orchestrator.simulation.world import Process


class Lives:
    """Who holds the lock of which worker; a process that is frozen holds it still."""

    def __init__(self) -> None:
        self._holders: dict[str, tuple[Process, int]] = {}

    def born(self, name: str, process: Process) -> None:
        """Note the name under which a process claims in its present life."""
        self._holders[name] = (process, process.life)

    def take(self, worker: str) -> bool:
        """Hold the lock of a worker: its process does so as long as it lives."""
        return worker in self._holders

    def is_free(self, worker: str) -> bool:
        """Tell whether the life of a worker is over."""
        if worker not in self._holders:
            return True
        process, life = self._holders[worker]
        return process.life != life or not process.alive

    def drop(self, worker: str) -> None:
        """Let the lock of a worker go."""
        self._holders.pop(worker, None)
