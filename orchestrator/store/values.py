"""What the store answers, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

from orchestrator.execution.decision import View
from orchestrator.execution.events import Event, TaskLost
from orchestrator.execution.frame import Execution, ExecutionStatus, Fork, Frame, Parent, Task
from orchestrator.execution.payload import Payload


@dataclass(frozen=True, slots=True)
class Committed:
    """The decision stands in the database."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The decision could not be written, and would not be if it were tried again as it is."""

    exception: Exception


@dataclass(frozen=True, slots=True)
class Started:
    """What a start has found: an execution of its own, or the one that has the name already."""

    id: int
    created: bool
    same_input: bool
    status: ExecutionStatus
    started_at: datetime | None = field(default=None, compare=False)
    parent: Parent | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Claim:
    """A task that is this worker's until its lease is over, with all that its handler needs."""

    execution: int
    machine: str
    execution_name: str
    worker: str
    claimed_at: datetime
    row: Frame
    """The frame as the claim has left it."""
    task: Task
    """The task that it rests on."""
    progress: Payload | None = None
    """What an earlier delivery of the same attempt has reported."""
    view: View | None = None
    """What its result will find if nothing else comes first; None: to be read then."""

    @property
    def frame(self) -> str:
        """The id of the frame."""
        return self.row.id

    @property
    def state(self) -> str:
        """The state in which the frame stands."""
        return self.row.state or ""

    @property
    def token(self) -> str:
        """The token of the attempt."""
        return self.task.token

    @property
    def delivery(self) -> int:
        """The number of this delivery, 1 for the first."""
        return self.task.deliveries

    @property
    def resource(self) -> str:
        """The name under which the handler is registered."""
        return self.task.resource

    @property
    def key(self) -> str:
        """The key under which the handler acts on the world."""
        return self.task.key

    @property
    def attempt(self) -> int:
        """The number of the attempt, 1 for the first."""
        return self.task.attempt

    @property
    def arguments(self) -> Payload:
        """What the handler is called with."""
        return self.task.arguments

    @property
    def undoes(self) -> str | None:
        """The key of the task that it undoes; None if it undoes none."""
        return None if self.row.undo is None else self.row.undo.undoes

    @property
    def at_most_once(self) -> bool:
        """Whether nobody may claim it again."""
        return self.task.at_most_once

    @property
    def heartbeat_seconds(self) -> int | None:
        """How often the handler must report, if it must."""
        return self.task.heartbeat_seconds

    @property
    def timeout_at(self) -> datetime | None:
        """When its time is over."""
        return self.row.timeout_at


@dataclass(frozen=True, slots=True)
class Lapses:
    """Leases that were over: tasks that are ready again, per queue, and those that may not be."""

    given_back: Mapping[str, int]
    lost: tuple[TaskLost, ...]


CallPlace: TypeAlias = "tuple[int, str]"
"""Where a call stands in the list of an execution's: its number and its id."""

FIRST_CALL: Final[CallPlace] = (-1, "")
"""Before all calls."""


@dataclass(frozen=True, slots=True)
class ReadyQueue:
    """A queue with tasks that wait to be claimed; `rows` is counted up to a limit."""

    queue: str
    rows: int
    oldest_ready_at: datetime


@dataclass(frozen=True, slots=True)
class Unserved:
    """A resource for which tasks wait and no worker has announced itself."""

    resource: str
    rows: int
    oldest_ready_at: datetime


@dataclass(frozen=True, slots=True)
class Announcement:
    """How a worker serves a resource."""

    queue: str
    at_most_once: bool = False


@dataclass(frozen=True, slots=True)
class ActivityRow:
    """An activity: a queue of tasks for workers that poll."""

    name: str
    created_at: datetime


class MachineStatus(StrEnum):
    """What a machine may be: one that is DELETED leaves its row, for its executions."""

    ACTIVE = "ACTIVE"
    DELETING = "DELETING"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class MachineWish:
    """What a machine is to be: `settings` is JSON text that only doors read."""

    name: str
    text: str
    type: str = "STANDARD"
    settings: str | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """A text of a machine; `number` counts per machine, `id` is the revision's everywhere."""

    id: int
    machine: str
    number: int
    created_at: datetime
    text: str
    uid: str | None = None
    """The name that AWS's door gives it; the first one of a machine has none."""
    settings: str | None = None
    created: bool = False
    """Whether it is new: the newest revision was another."""


@dataclass(frozen=True, slots=True)
class MachineRow:
    """A machine and its newest revision."""

    name: str
    revision: int
    number: int
    created_at: datetime
    updated_at: datetime
    status: MachineStatus = MachineStatus.ACTIVE
    type: str = "STANDARD"


class WorkerKind(StrEnum):
    """What a process is that beats."""

    WORKER = "worker"
    """Announces what it serves, and claims unless children do so for it."""
    CHILD = "child"
    """Of a worker's pool: claims."""
    SCHEDULER = "scheduler"


@dataclass(frozen=True, slots=True)
class Report:
    """How a process is, told with each beat."""

    kind: WorkerKind
    slots: int = 1
    given_up: int = 0
    """Slots whose handlers hang."""
    failed_bells: int = 0
    serves: Mapping[str, str] | None = None
    """Queues by resource, of a process that announces."""
    unhealthy: str | None = None
    """What is wrong with it, if it knows."""


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A process as its beats show it."""

    id: str
    kind: WorkerKind
    level: int
    started_at: datetime
    beat_at: datetime
    died_at: datetime | None
    silent: bool
    """Whether its last beat is old; it may be held up, or dead."""
    locked: bool
    """Whether it holds a lock that tells when it is dead."""
    slots: int
    given_up: int
    failed_bells: int
    serves: Mapping[str, str]
    unhealthy: str | None

    @property
    def lives(self) -> bool:
        """Whether it was heard of just now."""
        return self.died_at is None and not self.silent


@dataclass(frozen=True, slots=True)
class Undecided:
    """An event that could not be decided, kept for its next try."""

    execution: int
    frame: str
    entry: int
    """0: it is the deadline of the whole execution."""
    event: Event
    error: str
    """Why it could not be decided the last time."""
    strikes: int
    stored_at: datetime
    try_at: datetime


@dataclass(frozen=True, slots=True)
class TrailRow:
    """An operator's act."""

    at: datetime
    who: str
    what: str
    execution: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class FrameSummary:
    """Where a frame stands, without its documents; texts as they are in its row."""

    id: str
    status: str
    state: str | None
    entry: int
    rests_on: str | None
    fork: int | None
    wake_at: datetime | None
    ready_at: datetime | None
    claimed_by: str | None
    lease_until: datetime | None
    resource: str | None
    has_timers: bool


@dataclass(frozen=True, slots=True)
class HistorySummary:
    """How far a history goes, and where it first has a gap."""

    last_id: int
    gap_at: int | None
    """The first id of the row that does not follow the one before it."""
    last_type: str
    """The type of the last event; empty if it cannot be read."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """What is on record of an execution, without its documents."""

    execution: Execution
    revision_is_there: bool
    frames: tuple[FrameSummary, ...]
    forks: tuple[Fork, ...]
    kept: frozenset[tuple[str, int]]
    """(frame, entry) of the events that could not be decided."""
    documents: frozenset[str]
    history: HistorySummary | None
    effects: tuple[FrameSummary, ...] = ()
    """Those that have not ended; they outlive the execution."""
    kept_calls: int = 0
    """How many calls have no verdict yet."""


@dataclass(frozen=True, slots=True)
class WaitingResource:
    """A resource whose tasks wait in a queue; `rows` is counted up to a limit."""

    queue: str
    resource: str
    rows: int
    oldest_ready_at: datetime
