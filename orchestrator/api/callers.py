"""Those who call executions: their calls are made, and their verdicts looked up, together."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from orchestrator.api.gathering import Gathering
from orchestrator.asl.limits import Limits
from orchestrator.execution.call import Call
from orchestrator.service import CallRequest, Made, Orchestrator, Undecided

LANES: Final = 2
"""Transactions at once of calls: while one waits for the database, the other is prepared."""

GRACE_SECONDS: Final = 4.0
"""How long calls may take once the server ends: it leaves requests alone for a little longer."""
ENDING: Final = "the server ends, and does not know yet what became of the call"


class Callers:
    """Lives in the event loop of its door."""

    def __init__(self, service: Orchestrator, limits: Limits) -> None:
        most = limits.group_transitions
        self._pool = ThreadPoolExecutor(2 * LANES, thread_name_prefix="orchestrator calls")
        self.make: Gathering[CallRequest, Made] = Gathering(
            service.calls.call_many,
            self._pool,
            lanes=LANES,
            most=most,
            concerns=lambda call: (call.machine, call.execution),
        )
        self.look: Gathering[tuple[int, str], Call] = Gathering(
            service.calls.verdicts, self._pool, lanes=LANES, most=most
        )

    def leave(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let everybody go in a while who still waits then: the server ends."""
        loop.call_later(GRACE_SECONDS, self.make.give_up, Undecided(ENDING))
        loop.call_later(GRACE_SECONDS, self.look.give_up, Undecided(ENDING))

    def close(self) -> None:
        """Take no more calls."""
        self._pool.shutdown(wait=False)
