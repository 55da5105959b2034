"""Those who call executions: their calls are made, and their verdicts looked up, together."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from orchestrator.api.gathering import Gathering
from orchestrator.asl.limits import Limits
from orchestrator.execution.call import Call
from orchestrator.service import CallRequest, Made, Orchestrator

LANES: Final = 2
"""Transactions at once of calls: while one waits for the database, the other is prepared."""


class Callers:
    """Lives in the event loop of its door."""

    def __init__(self, service: Orchestrator, limits: Limits) -> None:
        most = limits.group_transitions
        self._pool = ThreadPoolExecutor(2 * LANES, thread_name_prefix="orchestrator calls")
        self.make: Gathering[CallRequest, Made] = Gathering(
            service.calls.call_many, self._pool, lanes=LANES, most=most
        )
        self.look: Gathering[tuple[int, str], Call] = Gathering(
            service.calls.verdicts, self._pool, lanes=LANES, most=most
        )

    def close(self) -> None:
        """Take no more calls."""
        self._pool.shutdown(wait=False)
