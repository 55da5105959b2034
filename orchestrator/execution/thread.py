"""A frame on the move: what a transition changes in place and turns into a frozen frame at its end.

Knows how a frame goes, rests and ends. Knows no machine, no history and no other frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from orchestrator.execution.frame import (
    Fork,
    Frame,
    FrameKind,
    FrameStatus,
    Pause,
    RestsOn,
    Retries,
    Task,
    Timer,
    UndoNote,
    is_undo,
)
from orchestrator.execution.payload import Payload
from orchestrator.execution.setback import Setback

_NO_RETRIES = Retries()


class Thread:
    """One thread of control while it is followed; `before` is the frame it was read from."""

    __slots__ = (
        "before",
        "changed",
        "entered_at",
        "entry",
        "fork",
        "gone",
        "id",
        "input",
        "item",
        "last_event",
        "next_state",
        "pause",
        "previous",
        "rests_on",
        "result",
        "retries",
        "setback",
        "state",
        "status",
        "task",
        "timeout_at",
        "timers",
        "undo",
        "variables",
        "wake_at",
    )

    def __init__(self, id: str, given: Payload, *, item: Payload | None = None) -> None:  # noqa: A002  # the word for it
        self.id = id
        self.before: Frame | None = None
        self.changed = False
        self.gone = False
        self.status = FrameStatus.PENDING
        self.state: str | None = None
        self.next_state: str | None = None
        """The state to be entered next, while it moves."""
        self.entry = 0
        self.entered_at: datetime | None = None
        self.last_event = 0
        self.previous: int | None = None
        """The event before its entry, while it is known."""
        self.input = given
        self.item = item
        self.rests_on: RestsOn | None = None
        self.retries = _NO_RETRIES
        self.task: Task | None = None
        self.wake_at: datetime | None = None
        self.timeout_at: datetime | None = None
        self.timers: tuple[Timer, ...] = ()
        self.fork: int | None = None
        self.variables: Payload | None = None
        self.undo: UndoNote | None = None
        self.pause: Pause | None = None
        self.setback: Setback | None = None
        """What it ended with, when it failed."""
        self.result: Payload | None = None
        """The outputs of its children, once they are joined."""

    @classmethod
    def of(cls, frame: Frame) -> Thread:
        """Return the frame as something that moves."""
        thread = cls(frame.id, frame.input, item=frame.item)
        thread.before = frame
        thread.status = frame.status
        thread.state = frame.state
        thread.entry = frame.entry
        thread.entered_at = frame.entered_at
        thread.last_event = frame.last_event
        thread.rests_on = frame.rests_on
        thread.retries = frame.retries
        thread.task = frame.task
        thread.wake_at = frame.wake_at
        thread.timeout_at = frame.timeout_at
        thread.timers = frame.timers
        thread.fork = frame.fork
        thread.variables = frame.variables
        thread.undo = frame.undo
        thread.pause = frame.pause
        return thread

    @property
    def index(self) -> int:
        """The place of a child among its siblings."""
        return int(self.id.rsplit(".", 1)[1])

    def go(self, state: str, given: Payload) -> None:
        """Leave what it rests on; the state is to be entered with that input."""
        self._leave()
        self.status = FrameStatus.RESTING
        self.next_state = state
        self.input = given

    def stand(self, state: str, entry: int, now: datetime) -> None:
        """Stand in a state that it has just entered."""
        self.next_state = None
        self.state = state
        self.previous = self.last_event
        self.entry = self.last_event = entry
        self.entered_at = now
        self.retries = _NO_RETRIES

    def rest_on_task(self, task: Task, timeout_at: datetime | None) -> None:
        """Rest until a handler has reported, or the time limit has passed."""
        self._leave()
        self.rests_on = RestsOn.TASK
        self.task = task
        self.wake_at = self.timeout_at = timeout_at

    def rest_on_answer(self, rests_on: RestsOn, wake_at: datetime | None) -> None:
        """Rest until the task, which its handler has begun, is ended from outside."""
        self.changed = True
        self.rests_on = rests_on
        self.wake_at = wake_at
        if self.task is not None:
            self.task = replace(self.task, claimed_by=None, lease_until=None)

    def outwait(self, pause: Pause) -> None:
        """Rest on without a limit until the execution has ended that its task has started."""
        self.changed = True
        self.wake_at = self.timeout_at = None
        self.pause = pause

    def rest_on_clock(self, wake_at: datetime) -> None:
        """Rest until a moment."""
        self._leave()
        self.rests_on = RestsOn.CLOCK
        self.wake_at = wake_at

    def rest_on_call(self, timers: tuple[Timer, ...]) -> None:
        """Rest until a call or a timer takes it on."""
        self._leave()
        self.rests_on = RestsOn.CALL
        self.set_timers(timers)

    def set_timers(self, timers: tuple[Timer, ...]) -> None:
        """Have these timers left."""
        self.changed = True
        self.timers = timers
        self.wake_at = min((timer.at for timer in timers), default=None)

    def rest_on_children(self, fork: int) -> None:
        """Rest until the children of a fork have ended."""
        self._leave()
        self.rests_on = RestsOn.CHILDREN
        self.fork = fork

    def rest_on_undoing(self, pause: Pause | None) -> None:
        """Rest until other frames have undone something."""
        self._leave()
        self.status = FrameStatus.RESTING
        self.rests_on = RestsOn.UNDOING
        self.pause = pause

    def rest_no_more(self) -> None:
        """Be about to go on: what it rested on is over."""
        self._leave()

    def cancel(self, note: UndoNote) -> None:
        """Be no more part of the tree; its handler goes on, and its report is heard."""
        self.changed = True
        self.status = FrameStatus.CANCELLED
        self.undo = note

    def vanish(self) -> None:
        """Be no more, if it is as it was seen; or else nothing of this transition holds."""
        self.changed = True
        self.gone = True

    def block(self) -> None:
        """Stand until an operator does something about it."""
        self._leave()
        self.status = FrameStatus.FAILED

    def wake(self, wake_at: datetime | None) -> None:
        """Set when it must be looked at, whatever it rests on."""
        if self.wake_at != wake_at:
            self.changed = True
            self.wake_at = wake_at

    def succeed(self, output: Payload) -> None:
        """End with an output."""
        self._leave()
        self.status = FrameStatus.ENDED
        self.input = output

    def fail(self, setback: Setback) -> None:
        """End with a failure."""
        self._leave()
        self.status = FrameStatus.ENDED
        self.setback = setback

    def _leave(self) -> None:
        self.changed = True
        self.rests_on = None
        self.task = None
        self.wake_at = None
        self.timeout_at = None
        self.timers = ()
        self.fork = None
        self.pause = None

    def frame(self) -> Frame:
        """Return the frame as it stands now."""
        return Frame(
            id=self.id,
            kind=self._kind,
            status=self.status,
            state=self.state,
            entry=self.entry,
            last_event=self.last_event,
            input=self.input,
            entered_at=self.entered_at,
            rests_on=self.rests_on,
            retries=self.retries,
            task=self.task,
            wake_at=self.wake_at,
            timeout_at=self.timeout_at,
            timers=self.timers,
            item=self.item,
            variables=self.variables,
            fork=self.fork,
            undo=self.undo,
            pause=self.pause,
        )

    @property
    def _kind(self) -> FrameKind:
        if is_undo(self.id):
            return FrameKind.UNDO
        return FrameKind.CHILD if self.id else FrameKind.ROOT


class Tally:
    """A fork on the move, with the children that this transition has in hand."""

    __slots__ = (
        "admitted",
        "changed",
        "closed",
        "coming",
        "failed",
        "fork",
        "fresh",
        "succeeded",
        "threads",
    )

    def __init__(self, fork: Fork, *, fresh: bool) -> None:
        self.fork = fork
        self.fresh = fresh
        """Whether this transition opened it: then nothing of it is stored."""
        self.changed = fresh
        self.closed = False
        self.admitted = fork.admitted
        self.succeeded = fork.succeeded
        self.failed = fork.failed
        self.threads: list[Thread] = []
        self.coming: Iterator[Thread] | None = None
        """Children that become frames only when they begin; None: they are stored, pending."""

    @property
    def open(self) -> int:
        """How many children have begun and not ended."""
        return self.admitted - self.succeeded - self.failed

    @property
    def complete(self) -> bool:
        """Whether every child has ended."""
        return self.succeeded + self.failed == self.fork.total

    @property
    def admits(self) -> bool:
        """Whether a child may begin now."""
        most = self.fork.max_concurrency
        return self.admitted < self.fork.total and (most == 0 or self.open < most)

    @property
    def too_many_failed(self) -> bool:
        """Whether the children that failed are more than it tolerates."""
        fork = self.fork
        return (
            self.failed > fork.tolerated_count
            or self.failed * 100 > fork.tolerated_percentage * fork.total
        )

    @property
    def tolerant(self) -> bool:
        """Whether it tolerates any failure at all."""
        return self.fork.tolerated_count > 0 and self.fork.tolerated_percentage > 0

    def value(self) -> Fork:
        """Return the fork as it stands now."""
        fork = self.fork
        return Fork(
            frame=fork.frame,
            entry=fork.entry,
            total=fork.total,
            admitted=self.admitted,
            succeeded=self.succeeded,
            failed=self.failed,
            max_concurrency=fork.max_concurrency,
            tolerated_count=fork.tolerated_count,
            tolerated_percentage=fork.tolerated_percentage,
        )
