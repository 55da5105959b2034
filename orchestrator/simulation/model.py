"""How an execution ends where nothing goes wrong: `begin` and `decide` over dictionaries.

No store, no engine, no faults: handlers answer as their case says, and the clock jumps to whatever
happens next. What the real thing comes to is compared with this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final, TypeAlias

from orchestrator.asl.document import Json
from orchestrator.asl.machine import Machine
from orchestrator.execution.decide import begin, decide
from orchestrator.execution.decision import Decision, Missing, Stale, View
from orchestrator.execution.events import (
    DeadlinePassed,
    Event,
    MomentDue,
    TaskFailed,
    TaskLost,
    TaskSucceeded,
    frame_of,
)
from orchestrator.execution.frame import (
    Execution,
    ExecutionStatus,
    Fork,
    Frame,
    Phase,
    Scope,
    Task,
    lineage,
)
from orchestrator.execution.payload import Payload
from orchestrator.handlers import INVALID_RESULT
from orchestrator.simulation.case import (
    AT_MOST_ONCE,
    Babbles,
    Case,
    Hangs,
    Kills,
    Raises,
    Returns,
    without_runs,
)

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
LEASE: Final = timedelta(seconds=10)
MOST_STEPS: Final = 20_000

_Happening: TypeAlias = "tuple[datetime, int, Event]"


class EndlessModel(Exception):
    """The execution does not end even where nothing goes wrong."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How an execution has ended, without what differs from run to run."""

    status: ExecutionStatus
    error: str | None
    cause: str | None
    output: Json

    @classmethod
    def of(cls, execution: Execution, output: Payload | None) -> Ending:
        """Read the ending from an execution."""
        return cls(
            execution.status,
            execution.error,
            execution.cause,
            None if output is None else without_runs(output.value),
        )


class Model:
    """One execution."""

    def __init__(self, case: Case, machine: Machine) -> None:
        self._case = case
        self._machine = machine
        self._now = START
        self._frames: dict[str, Frame] = {}
        self._forks: dict[str, Fork] = {}
        self._reports: list[_Happening] = []
        self._output: Payload | None = None
        self._input = Payload.of(case.input)
        self._execution = Execution(
            id=1,
            machine="machine",
            revision=1,
            name="model",
            status=ExecutionStatus.RUNNING,
            phase=Phase.OPEN,
            version=0,
            next_event_id=1,
            started_at=START,
            last_event_at=START,
        )

    def ending(self) -> Ending:
        """Run it to its end; raises EndlessModel."""
        self._keep(
            begin(
                self._machine,
                self._execution,
                Scope(),
                self._input,
                self._now,
                self._bits(),
                self._case.limits,
            )
        )
        for _ in range(MOST_STEPS):
            if self._execution.ended_at is not None:
                return Ending.of(self._execution, self._output)
            self._claim()
            happening = min(self._happenings(), key=lambda one: one[:2], default=None)
            if happening is None:
                break
            self._reports = [one for one in self._reports if one is not happening]
            self._now = max(self._now, happening[0])
            self._tell(happening[2])
        raise EndlessModel

    def _bits(self) -> bytes:
        return sha256(str(self._execution.version).encode()).digest()

    # -- what happens ----------------------------------------------------------------------------

    def _claim(self) -> None:
        for frame in list(self._frames.values()):
            task = frame.task
            if task is not None and task.claimed_by is None:
                self._run(frame, task)

    def _run(self, frame: Frame, task: Task) -> None:
        task = replace(
            task,
            claimed_by="worker",
            deliveries=task.deliveries + 1,
            at_most_once=task.resource in AT_MOST_ONCE,
        )
        moments = [frame.timeout_at] if frame.timeout_at else []
        if task.heartbeat_seconds is not None and not self._reports_in_time(frame, task):
            moments.append(self._now + timedelta(seconds=task.heartbeat_seconds))
        frame = replace(frame, task=task, wake_at=min(moments, default=None))
        self._frames[frame.id] = frame
        self._schedule(frame, task)

    def _reports_in_time(self, frame: Frame, task: Task) -> bool:
        deed = self._deed(frame, task)
        silent = isinstance(deed, Returns) and deed.seconds >= (task.heartbeat_seconds or 0)
        return not silent and not isinstance(deed, Hangs)

    def _deed(self, frame: Frame, task: Task) -> Returns | Raises | Babbles | Hangs | Kills:
        return self._case.deed(
            frame.state or "", task.arguments.value, task.attempt, task.deliveries
        )

    def _schedule(self, frame: Frame, task: Task) -> None:
        at = (1, frame.id, task.token, task.deliveries)
        deed = self._deed(frame, task)
        event: Event
        match deed:
            case Returns(_, value):
                event = TaskSucceeded(*at, "worker", Payload.of(value), self._now)
            case Raises(_, error):
                event = TaskFailed(*at, "worker", error, "why", self._now)
            case Babbles():
                event = TaskFailed(*at, "worker", INVALID_RESULT, "$: object", self._now)
            case Kills():
                event = TaskLost(*at)
            case Hangs():
                return
        due = self._now + timedelta(seconds=deed.seconds)
        if isinstance(deed, Kills):
            due += LEASE
        self._reports.append((due, self._execution.version, event))

    def _happenings(self) -> Iterator[_Happening]:
        yield from self._reports
        for frame in self._frames.values():
            if frame.wake_at is not None:
                yield frame.wake_at, 10**9, MomentDue(1, frame.id, frame.entry, frame.wake_at)
        deadline = self._execution.deadline_at
        if deadline is not None:
            yield deadline, 2 * 10**9, DeadlinePassed(1, deadline)

    def _given_back(self, event: Event) -> bool:
        """Give a lost task back if it may be delivered again."""
        frame = self._frames.get(frame_of(event))
        if not isinstance(event, TaskLost) or frame is None or frame.task is None:
            return False
        task = frame.task
        if task.token != event.token or task.at_most_once:
            return False
        if task.deliveries >= self._case.limits.deliveries:
            return False
        back = replace(task, claimed_by=None)
        self._frames[frame.id] = replace(frame, task=back, wake_at=frame.timeout_at)
        return True

    # -- what is decided -------------------------------------------------------------------------

    def _tell(self, event: Event) -> None:
        if self._given_back(event):
            return
        line = [one for one in lineage(frame_of(event)) if one in self._frames]
        view = View(
            self._execution,
            Scope(),
            frames={one: self._frames[one] for one in line},
            forks={one: self._forks[one] for one in line if one in self._forks},
            input=self._input,
        )
        while True:
            decided = decide(self._machine, view, event, self._now, self._bits(), self._case.limits)
            match decided:
                case Missing():
                    view = self._more(view, decided)
                case Decision():
                    self._keep(decided)
                    return
                case Stale():
                    return

    def _more(self, view: View, missing: Missing) -> View:
        frames = dict(view.frames) | {one: self._frames[one] for one in missing.frames}
        for prefix in missing.below:
            frames |= {one: frame for one, frame in self._frames.items() if one.startswith(prefix)}
        return replace(view, frames=frames, below=view.below | frozenset(missing.below))

    def _keep(self, decision: Decision) -> None:
        self._execution = decision.execution
        if decision.ends:
            self._output = decision.output
            return
        for frame, _ in decision.forks_removed:
            self._forks.pop(frame, None)
        gone = decision.removed
        self._frames = {one: f for one, f in self._frames.items() if not one.startswith(gone)}
        self._forks = {one: f for one, f in self._forks.items() if not one.startswith(gone)}
        self._forks |= {one.frame: one for one in decision.forks_inserted + decision.forks_updated}
        self._frames |= {frame.id: frame for frame in decision.inserted}
        self._frames |= {change.frame.id: change.frame for change in decision.updated}
