"""When bells are rung: what they announce is there by then."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.engine import Engine, Start
from orchestrator.execution.events import TaskSucceeded
from orchestrator.execution.payload import Payload
from orchestrator.store import Announcement, Claim, Store

TWO_TASKS = """{"StartAt": "A", "States": {
    "A": {"Type": "Task", "Resource": "celery:work", "Next": "B"},
    "B": {"Type": "Task", "Resource": "celery:work", "End": true}}}"""


class Impatient:
    """A bell whose hearer looks at once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.found: list[Claim] = []
        self.rung = 0

    def ring(self, queues: Mapping[str, int]) -> None:
        self.rung += sum(queues.values())
        self.found += self._store.claim("worker", list(queues), ["celery:work"], limit=10)


def test_a_bell_is_rung_for_what_is_there(database_url: str) -> None:
    store = Store(database_url)
    store.announce("worker", {"celery:work": Announcement("queue")})
    bell = Impatient(store)
    engine = Engine(store, bell)
    revision = store.machines.put("machine", TWO_TASKS)
    engine.start(Start("machine", revision.id, "run", Payload.parse("{}")))
    assert (bell.rung, len(bell.found)) == (1, 1)

    (claim,) = bell.found
    engine.handle_many(
        [
            TaskSucceeded(
                claim.execution,
                claim.frame,
                claim.token,
                claim.delivery,
                claim.worker,
                Payload.parse("{}"),
                store.now(),
            )
        ]
    )

    assert (bell.rung, len(bell.found)) == (2, 2)
    assert bell.found[1].state == "B"
    store.dispose()
