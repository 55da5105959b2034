"""What is looked at: lists of executions, one execution with all that explains it, what waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from orchestrator.asl import definition
from orchestrator.asl.limits import Limits
from orchestrator.asl.machine import Machine
from orchestrator.drawing import Mark
from orchestrator.engine import ENGINE_QUEUE, Engine, UnreadableRevision, first_id
from orchestrator.execution.call import Call
from orchestrator.execution.compensation import CompensationStatus
from orchestrator.execution.frame import (
    Execution,
    ExecutionStatus,
    Fork,
    Frame,
    RestsOn,
    Scope,
)
from orchestrator.execution.history import HistoryEvent
from orchestrator.execution.payload import Payload
from orchestrator.service.activities import ACTIVITY
from orchestrator.service.calls import Calls, Waits
from orchestrator.service.compensations import Undoable, compensation_id
from orchestrator.service.marks import marks
from orchestrator.service.reasons import MOST_COUNTED, Place, Reason, reason
from orchestrator.store import (
    Child,
    Listed,
    MachineRow,
    Page,
    ReadyQueue,
    Revision,
    RunningTask,
    Sought,
    Store,
    TrailRow,
    Unserved,
    WorkerRow,
)
from orchestrator.store import Waiting as WaitingRow

PAGE: Final = 50
MOST_FRAMES: Final = 200
MOST_FORKS: Final = 100
MOST_STRIPS: Final = 5
MOST_CHILDREN: Final = 10_000
MOST_REASONS: Final = 10
MOST_CALLS: Final = 100
MOST_NUMBER: Final = 2**31 - 1
MOST_WAITING: Final = 5_000
MOST_RUNNING: Final = 500
MOST_EFFECTS: Final = 200
OF_ROOT_UNDOING: Final = "~"
"""Behind this id come the frames that undo what the root frame has done."""
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
    strips: Mapping[str, tuple[Child, ...]]
    """How the iterations of running Maps stand, by the frame that rests on them."""
    reasons: tuple[Reason, ...]
    waits: tuple[Waits, ...]
    calls: tuple[Call, ...]
    """Newest first."""
    effects: tuple[Frame, ...]
    undoables: tuple[Undoable, ...]
    """What was registered to be undone, in order of doing."""
    marks: Mapping[str, Mark]
    """What has become of each state."""
    trail: tuple[TrailRow, ...]
    events: tuple[HistoryEvent, ...]
    skipped: int
    """How many events in the middle were not read."""
    now: datetime
    seen: str
    """What `Views.versions` says of it while nothing has changed."""

    @property
    def address(self) -> str:
        """MACHINE:NAME."""
        return f"{self.execution.machine}:{self.execution.name}"


@dataclass(frozen=True, slots=True)
class MachineSummary:
    """A machine, and how many of its executions run, counted up to MOST_COUNTED."""

    row: MachineRow
    running: int


class Views:
    """Looks for those who look; everything is bounded."""

    def __init__(  # what it looks with
        self,
        store: Store,
        engine: Engine,
        limits: Limits,
        scope: Scope,
        calls: Calls,
        find: Callable[[str], Execution],
    ) -> None:
        self._store = store
        self._engine = engine
        self._limits = limits
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

    def agrees(self, address: str, wanted: Wanted) -> bool:
        """Tell whether an execution is one of those wanted, wherever the page begins and ends."""
        machine, _, name = address.partition(":")
        if wanted.machine not in (None, machine) or not name.startswith(wanted.name):
            return False
        if not (wanted.status or wanted.state or wanted.since or wanted.until):
            return True
        found = self._store.lists.named([machine], name, 1)
        return bool(found) and found[0].execution.name == name and _agrees(found[0], wanted)

    def machine_names(self) -> list[str]:
        """The names of machines, in their order."""
        return [row.name for row in self._store.machines.page(limit=MOST_MACHINES)]

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

    # -- machines --------------------------------------------------------------------------------

    def machines(self, after: str) -> tuple[list[MachineSummary], bool]:
        """A page of machines behind a name, each with how many of its executions run."""
        rows = self._store.machines.page(after, PAGE + 1)
        found = [
            MachineSummary(row, self._store.lists.running(row.name, MOST_COUNTED))
            for row in rows[:PAGE]
        ]
        return found, len(rows) > PAGE

    def revisions(self, machine: str, limit: int) -> list[Revision]:
        """The newest revisions of a machine."""
        return self._store.lists.revisions(machine, MOST_NUMBER, limit)

    def parse(self, text: str) -> Machine | None:
        """The machine of a text; None if it has errors."""
        return definition.parse(text, self._limits).machine

    # -- what operators look at ------------------------------------------------------------------

    most_waiting: Final = MOST_WAITING

    def waiting(self) -> list[WaitingRow]:
        """The frames that have waited longest for what no worker does."""
        return self._store.lists.ageing(MOST_WAITING)

    def workers(self) -> list[WorkerRow]:
        """All processes that beat, and those that did so lately."""
        return self._store.records.workers()

    def running(self) -> list[RunningTask]:
        """The tasks that workers have claimed, by worker."""
        return self._store.lists.claimed(MOST_RUNNING)

    def queues(self) -> list[ReadyQueue]:
        """The queues with tasks that wait, and since when the oldest does."""
        return self._store.ready()

    def unserved(self) -> list[Unserved]:
        """The resources that tasks wait for and no worker serves."""
        return self._store.unserved()

    def lag_seconds(self) -> float:
        """How long the moment that is most overdue has been so."""
        earliest = self._store.next_moment()
        if earliest is None:
            return 0.0
        return max(0.0, (self._store.now() - earliest).total_seconds())

    # -- one execution ---------------------------------------------------------------------------

    def execution(self, address: str) -> Look:
        """One execution with all that explains it; raises ExecutionDoesNotExist."""
        store = self._store
        seen = store.lists.versions([self._find(address).id])
        run = self._find(address)
        events, skipped = self._events(run)
        frames = tuple(store.frames_page(run.id, None, MOST_FRAMES))
        forks = tuple(store.lists.forks(run.id, MOST_FORKS))
        machine = self.machine_of(run.revision)
        undoables = self._undoables(run, frames)
        blocked = {
            one.compensation.state: Mark.BLOCKED
            for one in undoables
            if one.compensation.status is CompensationStatus.BLOCKED
        }
        return Look(
            execution=run,
            arn=self._scope.execution_arn(run.machine, run.name),
            machine=machine,
            revision=store.machines.revision(run.revision),
            input=store.read_input(run.id),
            output=store.output(run.id),
            frames=frames,
            waits=tuple(self._calls.waits(run, None, MOST_FRAMES)),
            forks=forks,
            strips=self._strips(run, forks),
            reasons=self._reasons(run, frames, forks),
            calls=tuple(store.lists.newest_calls(run.id, MOST_CALLS)),
            effects=tuple(store.effects(run.id)[:MOST_EFFECTS]),
            undoables=undoables,
            marks={} if machine is None else {**marks(machine, run, events, frames), **blocked},
            trail=tuple(store.records.trail(run.id)),
            events=tuple(events),
            skipped=skipped,
            now=store.now(),
            seen=seen.get(run.id, ""),
        )

    def _undoables(self, run: Execution, frames: Sequence[Frame]) -> tuple[Undoable, ...]:
        """What can be undone or has been, with what was met on the way."""
        undoing = self._store.frames_page(run.id, OF_ROOT_UNDOING, MOST_EFFECTS)
        notes = {
            frame.undo.number: frame.undo for frame in (*frames, *undoing) if frame.undo is not None
        }
        found = []
        for one in self._store.compensations(run.id, MOST_EFFECTS):
            note = notes.get(one.number)
            error, cause = (None, None) if note is None else (note.error, note.cause)
            found.append(Undoable(compensation_id(one.number), one, error, cause))
        return tuple(found)

    def _strips(self, run: Execution, forks: Sequence[Fork]) -> dict[str, tuple[Child, ...]]:
        return {
            fork.frame: tuple(self._store.lists.children(run.id, fork, MOST_CHILDREN))
            for fork in forks[:MOST_STRIPS]
        }

    def _reasons(
        self, run: Execution, frames: Sequence[Frame], forks: Sequence[Fork]
    ) -> tuple[Reason, ...]:
        machine = self.machine_of(run.revision)
        if machine is None or run.ended_at is not None:
            return ()
        waits = {one.frame: one for one in self._calls.waits(run, None, MOST_FRAMES)}
        by_frame = {fork.frame: fork for fork in forks}
        found: list[Reason] = []
        for frame in frames:
            place = self._place(frame)
            places = {} if place is None else {frame.id: place}
            why = reason(machine, frame, waits.get(frame.id), by_frame, places)
            found += [] if why is None else [why]
            if len(found) >= MOST_REASONS:
                break
        return tuple(found)

    def _place(self, frame: Frame) -> Place | None:
        """Where the task of a frame stands that nobody has claimed."""
        task = frame.task
        if frame.rests_on is not RestsOn.TASK or task is None or task.claimed_by is not None:
            return None
        workers = sum(
            task.resource in one.serves for one in self._store.records.workers() if one.lives
        )
        if task.queue is None:
            return Place(0, 0)
        # What the engine serves, and activities, are served by nobody who announces it.
        if task.queue == ENGINE_QUEUE or task.queue.startswith(ACTIVITY):
            workers = 1
        return Place(self._store.lists.before(task.queue, task.ready_at, MOST_COUNTED), workers)

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
