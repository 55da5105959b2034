"""What is looked at: lists of executions, one execution with all that explains it, what waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from orchestrator.asl.machine import Machine
from orchestrator.engine import Engine, UnreadableRevision, first_id
from orchestrator.execution.call import Call
from orchestrator.execution.frame import Execution, ExecutionStatus, Fork, Frame, Scope
from orchestrator.execution.history import HistoryEvent
from orchestrator.execution.payload import Payload
from orchestrator.service.calls import Calls, Waits
from orchestrator.store import Listed, Page, Revision, Sought, Store, TrailRow

PAGE: Final = 50
MOST_FRAMES: Final = 200
MOST_CALLS: Final = 100
MOST_EFFECTS: Final = 200
MOST_MACHINES: Final = 500
EVENTS_READ: Final = 1_000
"""Of a longer history the first and the last so many events are read."""
RECENT: Final = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for in the list of executions; what is None or empty does not matter.

    `before` and `after` are ids of executions: where the page ends, or begins.
    """

    machine: str | None = None
    status: ExecutionStatus | None = None
    state: str | None = None
    name: str = ""
    """What the name begins with: then in order of machine and name."""
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """One execution with all that explains it, as far as it is bounded."""

    execution: Execution
    arn: str
    machine: Machine | None
    """None: this release does not understand its definition."""
    revision: Revision
    input: Payload
    output: Payload | None
    frames: tuple[Frame, ...]
    forks: tuple[Fork, ...]
    waits: tuple[Waits, ...]
    calls: tuple[Call, ...]
    """Newest first."""
    effects: tuple[Frame, ...]
    trail: tuple[TrailRow, ...]
    events: tuple[HistoryEvent, ...]
    skipped: int
    """How many events in the middle were not read."""
    now: datetime

    @property
    def address(self) -> str:
        """MACHINE:NAME."""
        return f"{self.execution.machine}:{self.execution.name}"


class Views:
    """Looks for those who look; everything is bounded."""

    def __init__(  # what it looks with
        self,
        store: Store,
        engine: Engine,
        scope: Scope,
        calls: Calls,
        find: Callable[[str], Execution],
    ) -> None:
        self._store = store
        self._engine = engine
        self._scope = scope
        self._calls = calls
        self._find = find

    # -- lists -----------------------------------------------------------------------------------

    def now(self) -> datetime:
        """The database's time."""
        return self._store.now()

    def executions(self, wanted: Wanted) -> Page:
        """A page of executions: newest first, or by name where a name is looked for."""
        if wanted.name:
            return self._named(wanted)
        sought = Sought(
            machine=wanted.machine,
            status=wanted.status,
            state=wanted.state,
            first=0 if wanted.since is None else first_id(wanted.since),
            before=wanted.before,
            after=wanted.after,
        )
        if wanted.until is not None:
            sought = replace(sought, last=first_id(wanted.until))
        return self._store.lists.executions(sought, PAGE)

    def _named(self, wanted: Wanted) -> Page:
        machines: Sequence[str] = [wanted.machine] if wanted.machine else self.machine_names()
        found = self._store.lists.named(machines, wanted.name, PAGE + 1)
        rows = tuple(one for one in found[:PAGE] if _agrees(one, wanted))
        return Page(rows, len(found) > PAGE)

    def machine_names(self) -> list[str]:
        """The names of machines, in their order."""
        return [row.name for row in self._store.machines(limit=MOST_MACHINES)]

    def recent_inputs(self, machine: str) -> list[tuple[str, Payload]]:
        """The inputs of a machine's last executions, each once, with the execution's name."""
        page = self._store.lists.executions(Sought(machine=machine), RECENT)
        found: dict[str, tuple[str, Payload]] = {}
        for row in page.rows:
            given = self._store.read_input(row.execution.id)
            found.setdefault(given.text, (row.execution.given_name, given))
        return list(found.values())

    def versions(self, ids: Sequence[int]) -> dict[int, str]:
        """What changes when anything of an execution changes, by its id."""
        return self._store.lists.versions(ids)

    # -- one execution ---------------------------------------------------------------------------

    def execution(self, address: str) -> Look:
        """One execution with all that explains it; raises ExecutionDoesNotExist."""
        run = self._find(address)
        events, skipped = self._events(run)
        store = self._store
        return Look(
            execution=run,
            arn=self._scope.execution_arn(run.machine, run.name),
            machine=self.machine_of(run.revision),
            revision=store.revision_row(run.revision),
            input=store.read_input(run.id),
            output=store.output(run.id),
            frames=tuple(store.frames_page(run.id, None, MOST_FRAMES)),
            forks=(),
            waits=tuple(self._calls.waits(run, None, MOST_FRAMES)),
            calls=tuple(store.lists.newest_calls(run.id, MOST_CALLS)),
            effects=tuple(store.effects(run.id)[:MOST_EFFECTS]),
            trail=tuple(store.records.trail(run.id)),
            events=tuple(events),
            skipped=skipped,
            now=store.now(),
        )

    def machine_of(self, revision: int) -> Machine | None:
        """The machine of a revision; None if this release does not understand it."""
        try:
            return self._engine.machine(revision)
        except UnreadableRevision:
            return None

    def _events(self, run: Execution) -> tuple[list[HistoryEvent], int]:
        last = run.next_event_id - 1
        if last <= 2 * EVENTS_READ:
            return self._store.history(run.id, 0, 2 * EVENTS_READ), 0
        head = self._store.history(run.id, 0, EVENTS_READ)
        tail = self._store.history(run.id, last - EVENTS_READ, EVENTS_READ)
        return [*head, *tail], last - 2 * EVENTS_READ


def _agrees(row: Listed, wanted: Wanted) -> bool:
    """Whether what was found by its name agrees with the rest of what is wanted."""
    run = row.execution
    return (
        (wanted.status is None or run.status is wanted.status)
        and (wanted.state is None or row.state == wanted.state)
        and (wanted.since is None or run.started_at >= wanted.since)
        and (wanted.until is None or run.started_at < wanted.until)
    )


__all__ = ["Look", "Page", "Views", "Wanted"]
