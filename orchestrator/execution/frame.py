"""Where one thread of an execution stands, and what an execution and a fork are.

Values only. Nothing here decides, reads a clock or knows a database.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from orchestrator.execution.compensation import Terms, Undoing
from orchestrator.execution.payload import Payload
from orchestrator.execution.setback import Setback

LEVEL = 1
"""The format number of what this release stores; it reads LEVEL and LEVEL - 1."""


class ExecutionStatus(StrEnum):
    """The status of an execution, as AWS spells it."""

    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    TIMED_OUT = "TIMED_OUT"
    ABORTED = "ABORTED"


class Phase(StrEnum):
    """How far an execution has come."""

    OPEN = "open"
    UNDOING = "undoing"
    ENDED = "ended"


class FrameKind(StrEnum):
    """What a frame is a thread of."""

    ROOT = "root"
    CHILD = "child"
    EFFECT = "effect"
    """Work that follows a transition; outside the tree, and it survives the execution's end."""
    UNDO = "undo"
    """It undoes what a frame has done, newest first."""


class FrameStatus(StrEnum):
    """Whether a frame has begun (pending: not yet), rests, or has ended and waits to be joined."""

    PENDING = "pending"
    RESTING = "resting"
    ENDED = "ended"
    FAILED = "failed"
    """Of an effect or a compensation: it has failed for good, and somebody should look at it."""
    CANCELLED = "cancelled"
    """It is no more part of the tree, and what its handler still reports tells what to undo."""


class RestsOn(StrEnum):
    """The one thing that a resting frame rests on."""

    TASK = "task"
    CLOCK = "clock"
    CHILDREN = "children"
    CALL = "call"
    """It stands in an Await: a call, or a timer, takes it on."""
    CALLBACK = "callback"
    """Its task's handler has returned; the task ends when somebody sends its token."""
    EXECUTION = "execution"
    """Its task has started another execution; the task ends with it."""
    UNDOING = "undoing"
    """Other frames undo what it has done, or it waits for what a cancelled handler reports."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The region and account that ARNs carry."""

    region: str = "us-east-1"
    account: str = "000000000000"

    @property
    def role_arn(self) -> str:
        """The ARN of the role that histories and context objects name; nobody assumes it."""
        return f"arn:aws:iam::{self.account}:role/orchestrator"

    def machine_arn(self, machine: str) -> str:
        """The ARN of a machine."""
        return f"arn:aws:states:{self.region}:{self.account}:stateMachine:{machine}"

    def execution_arn(self, machine: str, name: str) -> str:
        """The ARN of an execution."""
        kind = "express" if ":" in name else "execution"
        return f"arn:aws:states:{self.region}:{self.account}:{kind}:{machine}:{name}"

    def activity_arn(self, name: str) -> str:
        """The ARN of an activity."""
        return f"arn:aws:states:{self.region}:{self.account}:activity:{name}"


@dataclass(frozen=True, slots=True)
class Parent:
    """The attempt of a task of another execution that waits for this one to end."""

    execution: int
    frame: str
    token: str

    def __str__(self) -> str:
        """As it is stored and looked up."""
        return f"{self.execution}:{self.token}:{self.frame}"

    @classmethod
    def parse(cls, text: str) -> Parent:
        """Read what `str` has written."""
        execution, token, frame = text.split(":", 2)
        return cls(int(execution), frame, token)


@dataclass(frozen=True, slots=True)
class Origin:
    """What came along with a start and only its door asks for again."""

    trace_header: str | None = None
    test_case: str | None = None
    """Which answers of a mock configuration its tasks get; only where one is served."""


NO_ORIGIN = Origin()


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of a machine. Moments are aware UTC."""

    id: int
    machine: str
    revision: int
    name: str
    status: ExecutionStatus
    phase: Phase
    version: int
    """Bumped by every transition; a decision holds only for the version it saw."""
    next_event_id: int
    started_at: datetime
    last_event_at: datetime
    deadline_at: datetime | None = None
    ended_at: datetime | None = None
    final_state: str | None = None
    """The state in which the root frame ended."""
    error: str | None = None
    cause: str | None = None
    outcome: ExecutionStatus | None = None
    """With what it will end, while it undoes what was done."""
    undoing: Undoing = Undoing.NONE
    frames: int = 1
    """How many frames it has, the root included; effects are not counted."""
    kept: int = 0
    """How many calls wait for their verdict."""
    effects: int = 0
    """How many effects have not ended."""
    strikes: int = 0
    """How often its events could not be decided; the store counts, no decision changes it."""
    parent: Parent | None = None
    """Who waits for its end."""
    origin: Origin = NO_ORIGIN

    @property
    def is_express(self) -> bool:
        """Tell whether its machine is of type EXPRESS: its stored name is `NAME:UUID`."""
        return ":" in self.name

    @property
    def given_name(self) -> str:
        """The name under which it was started."""
        return self.name.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Task:
    """One attempt of the work a frame rests on.

    The last five fields belong to claims, never to decisions.
    """

    resource: str
    """What a worker announces that it serves: `celery:NAME`, `lambda:NAME`, an ARN."""
    token: str
    """Random, one per attempt."""
    attempt: int
    """1 for the first."""
    key: str
    """The idempotency key under which the handler acts on the world, a UUID."""
    arguments: Payload
    ready_at: datetime
    heartbeat_seconds: int | None = None
    queue: str | None = None
    """None while no worker serves the resource; filled in by the engine, which knows."""
    claimed_by: str | None = None
    lease_until: datetime | None = None
    deliveries: int = 0
    at_most_once: bool = False
    """Set by the claim, from the handler's delivery mode."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How often the present entry of a state has been tried again."""

    counts: tuple[int, ...] = ()
    """One count per Retrier, in their order; shorter means zeros."""
    total: int = 0
    reported: int = 0
    """Attempts that reported a failure (not: time limit, lost worker); part of the key."""
    silent: int | None = None
    """What `reported` was at the last attempt that was claimed and never reported; None: none."""


@dataclass(frozen=True, slots=True)
class Timer:
    """An entry of After that has not fired: its place in the list, and its moment."""

    place: int
    at: datetime


@dataclass(frozen=True, slots=True)
class EffectNote:
    """What an effect's frame knows of itself: where its definition stands, how it failed last.

    `worker`, `begun_at` and `ended_at` are those of its last attempt that is over, as far as known.
    """

    pointer: str
    error: str | None = None
    cause: str | None = None
    worker: str | None = None
    begun_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class UndoNote:
    """What a frame knows that undoes, or that was cancelled and may have something to undo.

    `scope` and `floor` say what it undoes: what the frame of that id, and those under it, have done
    from that event on. `event` and `place` are those of the compensation that it runs, or whose
    fate its handler decides; 0: none.
    """

    scope: str
    floor: int = 0
    event: int = 0
    place: int = 0
    pointer: str = ""
    undoes: str | None = None
    terms: Terms | None = None
    error: str | None = None
    cause: str | None = None

    @property
    def number(self) -> tuple[str, int, int]:
        """What its compensation is found by."""
        return self.scope, self.event, self.place


@dataclass(frozen=True, slots=True)
class Pause:
    """Why a frame rests on undoing, or on the end of a child that is stopped.

    `setback`: what its state has met, which goes on then; None: a Compensate state.
    """

    setback: Setback | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """One thread of control.

    Ids: root `""`, a child `PARENT/E.I` (E: the event that opened the fork, I: the index), an
    effect `FRAME!E` (E: its EffectScheduled), what undoes `FRAME~E` (E: the next event when it
    began), and its children like any others `FRAME~E/E.I`.
    """

    id: str
    kind: FrameKind
    status: FrameStatus
    state: str | None
    """The state it stands in; None while pending."""
    entry: int
    """The id of the StateEntered event; 0 while pending. Of an effect: its turn, which is the first
    EffectScheduled of those that run side by side."""
    last_event: int
    """The id that the frame's next event names as its previousEventId."""
    input: Payload
    """The raw input of the state; of a pending child what it begins with; of an ended one its
    output (an error output, if it failed and the fork tolerates that)."""
    entered_at: datetime | None = None
    rests_on: RestsOn | None = None
    retries: Retries = field(default_factory=Retries)
    task: Task | None = None
    wake_at: datetime | None = None
    """The earliest of its moments."""
    timeout_at: datetime | None = None
    """The time limit of the task."""
    item: Payload | None = None
    """Of a Map iteration: the item, for `Map.Item.Value`."""
    variables: Payload | None = None
    """What its states have assigned, by name; None while they have assigned nothing."""
    fork: int | None = None
    """While it rests on children: the E of their ids."""
    timers: tuple[Timer, ...] = ()
    """While it rests on a call: those that have not fired, by moment, then by place."""
    effect: EffectNote | None = None
    undo: UndoNote | None = None
    pause: Pause | None = None
    level: int = LEVEL

    @property
    def index(self) -> int:
        """The place of a child among its siblings."""
        return int(self.id.rsplit(".", 1)[1])


def parent_id(frame_id: str) -> str:
    """Return the id of the frame that opened the fork to which a child belongs."""
    return frame_id.rsplit("/", 1)[0]


def lineage(frame_id: str) -> tuple[str, ...]:
    """Return the ids of a frame's ancestors and itself, root first.

    `/5.0/9.1` gives `""`, `/5.0`, `/5.0/9.1`; `/5.0~7/9.1` gives `""`, `/5.0`, `/5.0~7`,
    `/5.0~7/9.1`. An effect stands alone.
    """
    if is_effect(frame_id):
        return (frame_id,)
    if is_undo(frame_id):
        owner = undone_by(frame_id)
        parts = frame_id[len(owner) :].split("/")
        inner = tuple(owner + "/".join(parts[: n + 1]) for n in range(len(parts)))
        return (*lineage(owner), *inner)
    parts = frame_id.split("/")
    return tuple("/".join(parts[: n + 1]) for n in range(len(parts)))


def is_effect(frame_id: str) -> bool:
    """Tell whether an id is that of an effect."""
    return "!" in frame_id


def is_undo(frame_id: str) -> bool:
    """Tell whether an id is that of a frame that undoes."""
    return "~" in frame_id


def undone_by(frame_id: str) -> str:
    """Return the id of the frame that rests until a frame that undoes has ended."""
    return frame_id.partition("~")[0]


@dataclass(frozen=True, slots=True)
class Fork:
    """The tally of a running Parallel or Map."""

    frame: str
    """The id of the frame that rests on these children."""
    entry: int
    """The E of the children's ids."""
    total: int
    admitted: int
    succeeded: int = 0
    failed: int = 0
    max_concurrency: int = 0
    """0: no limit."""
    tolerated_count: int = 0
    tolerated_percentage: float = 0.0

    @property
    def prefix(self) -> str:
        """What the ids of all children begin with."""
        return f"{self.frame}/{self.entry}."
