"""What `decide` reads and what it answers: values that the store reads and writes.

Rules of ignorance: nothing here knows a database, a broker or a clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from orchestrator.execution.call import Call
from orchestrator.execution.commands import Command
from orchestrator.execution.compensation import Compensation, Mark, Stretch, Wanted
from orchestrator.execution.frame import Execution, Fork, Frame, Scope
from orchestrator.execution.history import HistoryEvent
from orchestrator.execution.payload import Payload


@dataclass(frozen=True, slots=True)
class Around:
    """What a decision asks of the world around its execution."""

    activities: Mapping[str, bool] = field(default_factory=dict)
    """Whether activities are there, by name, as far as it was asked."""
    mocked: frozenset[str] = frozenset()
    """The states whose tasks get the answers of a mock configuration."""


NOTHING_AROUND = Around()


@dataclass(frozen=True, slots=True)
class View:
    """What a decision may look at: the execution, a frame with its ancestors, their forks.

    And what it asked for. `frames` maps ids to frames; `below` holds the prefixes (`FRAME/E.`)
    under which *every* frame is loaded.
    `input` is the execution's input where the machine needs it (`Machine.needs_execution_input`).
    """

    execution: Execution
    scope: Scope
    frames: Mapping[str, Frame]
    forks: Mapping[str, Fork]
    """By the id of the frame that rests on the fork."""
    below: frozenset[str] = frozenset()
    input: Payload | None = None
    calls: tuple[Call, ...] | None = None
    """The kept calls in their order; None: not read, which matters only if there are some."""
    effects: frozenset[str] = frozenset()
    """The frames whose effects that have not ended are all among `frames`."""
    waiting: Mapping[str, bool] = field(default_factory=dict)
    """By prefix: whether some frame under it rests on a call."""
    around: Around = NOTHING_AROUND
    compensations: Mapping[Wanted, tuple[Compensation, ...]] = field(default_factory=dict)
    """What was found of what can be undone, by what was asked."""
    looked_for: frozenset[str] = frozenset()
    """Single frames that were asked for, whether they are there or not."""


@dataclass(frozen=True, slots=True)
class Missing:
    """The decision needs more than the view holds: read it and decide again."""

    frames: tuple[str, ...] = ()
    """Ids of single frames (pending children to be admitted)."""
    below: tuple[str, ...] = ()
    """Prefixes `FRAME/E.`: all frames under them (a join, a cancelled fork)."""
    all_frames: bool = False
    """Every frame of the execution (it ends while several are open)."""
    calls: bool = False
    """The kept calls."""
    effects: tuple[str, ...] = ()
    """Frames: their effects that have not ended."""
    waiting: tuple[str, ...] = ()
    """Prefixes `FRAME/E.`: whether some frame under them rests on a call."""
    activities: tuple[str, ...] = ()
    """Names of activities that may or may not be there."""
    compensations: tuple[Wanted, ...] = ()
    """Compensations."""


@dataclass(frozen=True, slots=True)
class Stale:
    """The event answers something that is no longer asked; nothing changes."""

    reason: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a frame; a claim, a heartbeat or a lapse in between makes it stale."""

    token: str | None
    deliveries: int
    wake_at: datetime | None

    @classmethod
    def of(cls, frame: Frame) -> Seen:
        """Return what there is to be seen of a frame."""
        task = frame.task
        if task is None:
            return cls(None, 0, frame.wake_at)
        return cls(task.token, task.deliveries, frame.wake_at)


@dataclass(frozen=True, slots=True)
class FrameUpdate:
    """A frame as it stands now, and what was seen of it before."""

    frame: Frame
    seen: Seen


@dataclass(frozen=True, slots=True)
class Decision:
    """One transition of one execution, to be committed as a whole or not at all."""

    seen_version: int
    """0: the execution is new."""
    execution: Execution
    """As it stands afterwards; its version is `seen_version + 1`, or the same where nothing of it
    changes: a call is refused."""
    inserted: tuple[Frame, ...] = ()
    updated: tuple[FrameUpdate, ...] = ()
    kept: tuple[FrameUpdate, ...] = ()
    """Frames that are cancelled and stay, even under a prefix that goes."""
    removed: tuple[str, ...] = ()
    """Prefixes `FRAME/E.`: every frame whose id begins so goes, and the forks below them; effects
    stay. Applied before `inserted`."""
    gone: tuple[tuple[str, Seen], ...] = ()
    """Frames on which it was decided and that go with what has ended, as they were seen."""
    forks_inserted: tuple[Fork, ...] = ()
    forks_updated: tuple[Fork, ...] = ()
    forks_removed: tuple[tuple[str, int], ...] = ()
    """(frame, entry) of forks that are over."""
    history: tuple[HistoryEvent, ...] = ()
    input: Payload | None = None
    """Of a new execution."""
    output: Payload | None = None
    """Of an execution that has succeeded."""
    calls_inserted: tuple[Call, ...] = ()
    calls_decided: tuple[Call, ...] = ()
    """Kept calls that have their verdict now."""
    registered: tuple[Compensation, ...] = ()
    """Compensations that are new or have changed, in place of what stood there."""
    marked: tuple[Mark, ...] = ()
    """Compensations that have come to another status, those that are registered aside."""
    dropped: tuple[Stretch, ...] = ()
    """Where what is open goes. Applied before `registered`."""
    commands: tuple[Command, ...] = field(default=())
    orphans: tuple[str, ...] = ()
    """Of executions that it has started and waits for no more: what they have as their parent."""
    leaves_children: bool = False
    """Whether frames that go with it may wait for executions, too."""

    @property
    def ends(self) -> bool:
        """Whether the execution has ended: all its frames and forks go, but for effects."""
        return self.execution.ended_at is not None

    @property
    def moves(self) -> bool:
        """Whether the execution is another afterwards."""
        return self.execution.version != self.seen_version
