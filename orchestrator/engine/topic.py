"""Topics by which processes tell each other what may be looked for: work that no broker carries.

Tasks of activities are polled through the API; tasks that the engine serves are claimed by
schedulers; ends are waited for by callers and by the executions that started them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Final

from orchestrator.engine.bell import Bell
from orchestrator.execution.decision import Decision
from orchestrator.execution.frame import Execution
from orchestrator.execution.served import ACTIVITY
from orchestrator.store import Store, StoreUnavailable

ENGINE_QUEUE: Final = "engine"
"""The queue, and the topic, of the tasks that the engine serves."""
CHILDREN: Final = "children"
"""The topic of executions that have ended and were started by others, or run without them."""
CALL: Final = "call:"
"""What the topic of a verdict begins with; the ids of execution and call follow."""
ENDED: Final = "ended:"
"""What the topic of the end of an execution begins with; its id follows."""

SOON: Final = "soon"
"""The topic of moments that are set for now, or for sooner than schedulers look by themselves."""
SOON_WITHIN: Final = timedelta(seconds=0.3)


def topic_of_call(execution: int, call_id: str) -> str:
    """Where it is told that a call which was kept has its verdict."""
    return f"{CALL}{execution}:{call_id}"


def topics_of_calls(decision: Decision) -> list[str]:
    """Who is to hear that kept calls have their verdicts."""
    return [topic_of_call(decision.execution.id, call.id) for call in decision.calls_decided]


def topics_of_end(execution: Execution) -> list[str]:
    """Who is to hear that an execution has ended."""
    told = [f"{ENDED}{execution.id}"] if execution.is_express else []
    return told if execution.parent is None else [*told, CHILDREN]


def tell(store: Store, topics: Collection[str]) -> None:
    """Tell topics; while the database is away nobody hears, and sweeps find it later."""
    try:
        if topics:
            store.tell(topics)
    except StoreUnavailable:
        return


class TellingBell:
    """Rings for the queues of workers, and tells of those that no worker hears."""

    def __init__(self, bell: Bell, store: Store) -> None:
        self._bell = bell
        self._store = store

    @property
    def failures(self) -> int:
        """How many bells could not be rung."""
        return int(getattr(self._bell, "failures", 0))

    def ring(self, queues: Mapping[str, int]) -> None:
        """Announce so many more ready tasks per queue."""
        polled = {one for one in queues if one == ENGINE_QUEUE or one.startswith(ACTIVITY)}
        if polled:
            tell(self._store, polled)
        rest = {queue: count for queue, count in queues.items() if queue not in polled}
        if rest:
            self._bell.ring(rest)
