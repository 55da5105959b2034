"""What the world hears of a commit, and only after it: bells, moments set, news for who waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from orchestrator import crashpoint
from orchestrator.engine.bell import Bell
from orchestrator.engine.inline import Prepared
from orchestrator.engine.route import Routes
from orchestrator.engine.topic import SOON, SOON_WITHIN, tell, topics_of_calls, topics_of_end
from orchestrator.execution.commands import RingBell, TellCalls, TellEnd, WakeAt
from orchestrator.store import Store


class Announcer:
    """Tells the world what one process has committed."""

    def __init__(
        self, store: Store, bell: Bell, routes: Routes, wake: Callable[[datetime], None]
    ) -> None:
        self._store = store
        self._bell = bell
        self._routes = routes
        self._wake = wake

    def announce(self, committed: Iterable[Prepared]) -> None:
        """Let the world hear of what is committed now."""
        crashpoint.reach("committed")
        queues: dict[str, int] = {}
        topics: set[str] = set()
        for prepared in committed:
            self._hear(prepared, queues, topics)
        if queues:
            self._bell.ring(queues)
        tell(self._store, topics)

    def _hear(self, prepared: Prepared, queues: dict[str, int], topics: set[str]) -> None:
        claimed = None if prepared.claim is None else prepared.claim.resource
        for command in prepared.decision.commands:
            match command:
                case RingBell(resource) if resource == claimed:
                    claimed = None  # its worker has it already
                case RingBell(resource):
                    queue = self._routes.queue(resource)
                    if queue is not None:
                        queues[queue] = queues.get(queue, 0) + 1
                case WakeAt(at):
                    self._wake(at)
                    if at <= self._store.now() + SOON_WITHIN:
                        topics.add(SOON)
                case TellCalls():
                    topics.update(topics_of_calls(prepared.decision))
                case TellEnd():
                    topics.update(topics_of_end(prepared.decision.execution))
