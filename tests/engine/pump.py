"""Runs executions in one thread: every statement can be counted, nothing depends on time.

The parts are the real ones; the pump is worker and scheduler in turn. Handlers hand on what they
get, unless the test gives another function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from sqlalchemy import Connection
from sqlalchemy import Engine as Connections
from sqlalchemy import event as sqlalchemy_event

from orchestrator.asl.limits import DEFAULT, Limits
from orchestrator.engine import Engine, Silence, Surroundings
from orchestrator.execution.events import TaskSucceeded
from orchestrator.execution.payload import Payload
from orchestrator.service import Orchestrator
from orchestrator.store import Announcement, Claim, Store

RESOURCE, QUEUE, WORKER = "celery:noop", "noops", "pump"
CLAIMED_TOGETHER = 16
NO_HURRY = Surroundings(monotonic=lambda: 0.0)
"""How much one lock decides is a matter of numbers, on a slow machine as on a fast one."""


@dataclass
class Counted:
    """What the database was asked meanwhile."""

    statements: int = 0
    rows: int = 0
    """Rows inserted, updated, deleted."""


@contextmanager
def counting() -> Iterator[Counted]:
    """Count the statements of this process, and the rows that they write."""
    counted = Counted()

    def after(  # as SQLAlchemy calls it
        _connection: Connection, cursor: Any, text: str, _values: Any, _context: Any, _many: bool
    ) -> None:
        counted.statements += 1
        if not text.lstrip().startswith("SELECT"):
            counted.rows += max(0, cursor.rowcount)

    sqlalchemy_event.listen(Connections, "after_cursor_execute", after)
    try:
        yield counted
    finally:
        sqlalchemy_event.remove(Connections, "after_cursor_execute", after)


@dataclass
class Pump:
    """One process's parts over a database, worked by hand."""

    url: str
    limits: Limits = DEFAULT
    handle: Callable[[Claim], Payload] = lambda claim: claim.arguments
    turns: int = 0
    """How often something was due or ready."""
    store: Store = field(init=False)
    engine: Engine = field(init=False)
    service: Orchestrator = field(init=False)

    def __post_init__(self) -> None:
        self.store = Store(self.url, limits=self.limits)
        self.engine = Engine(self.store, Silence(), limits=self.limits, surroundings=NO_HURRY)
        self.service = Orchestrator(self.store, self.engine, limits=self.limits)
        self.store.announce(WORKER, {RESOURCE: Announcement(QUEUE, at_most_once=False)})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.dispose()

    def start(self, definition: str, text: str = "{}", name: str = "one") -> str:
        """Start an execution of a definition; its address."""
        self.service.deploy("machine", definition)
        return self.service.start_execution("machine", name, text).address

    def turn(self) -> bool:
        """Handle what is due and run what is ready, once; False if nothing was."""
        due = self.store.due(100)
        if due:
            self.engine.handle_many(due)
        claims = self.store.claim(WORKER, [QUEUE], {RESOURCE}, limit=CLAIMED_TOGETHER)
        if claims:
            self.engine.handle_many([self._result(claim) for claim in claims])
        self.turns += 1
        return bool(due or claims)

    def run(self, address: str, most_turns: int = 100_000) -> None:
        """Go on until an execution has ended."""
        for _ in range(most_turns):
            if not self.turn() or self.turns % 8 == 0:
                ended = self.service.describe_execution(address).execution.ended_at
                if ended is not None:
                    return
        raise AssertionError(f"{address} did not end within {most_turns} turns")

    def _result(self, claim: Claim) -> TaskSucceeded:
        return TaskSucceeded(
            claim.execution,
            claim.frame,
            claim.token,
            claim.delivery,
            claim.worker,
            self.handle(claim),
            claim.claimed_at,
        )
