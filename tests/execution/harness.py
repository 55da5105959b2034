"""A world in memory: a store of dictionaries, scripted handlers, and a clock that jumps.

It drives `begin` and `decide` only, hands them no more than a store would, and checks with every
decision that it could be stored: nothing twice, nothing unknown, no gap in the history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from orchestrator.asl import document
from orchestrator.asl.document import Json
from orchestrator.asl.limits import DEFAULT, Limits
from orchestrator.asl.machine import Machine
from orchestrator.execution import call as execution_call
from orchestrator.execution.compensation import Compensation, Key
from orchestrator.execution.decide import begin, decide
from orchestrator.execution.decision import Decision, Missing, Stale, View
from orchestrator.execution.evaluate import Evaluate, evaluate_here
from orchestrator.execution.events import (
    CallArrived,
    DeadlinePassed,
    Event,
    MomentDue,
    StopRequested,
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
    FrameStatus,
    Phase,
    RestsOn,
    Scope,
)
from orchestrator.execution.history import HistoryEvent
from orchestrator.execution.payload import Payload
from orchestrator.verify import Record, verify
from tests.execution.definitions import machine_of
from tests.execution.memory import AROUND, Memory
from tests.execution.outcomes import Call, Handler, Hung, Lost, Outcome, Raised, Returned, echo

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
LEASE = timedelta(seconds=30)


class StuckError(Exception):
    """Nothing will ever wake the execution."""


@dataclass
class World:
    definition: Json | str
    handler: Handler = echo
    limits: Limits = DEFAULT
    at_most_once: bool = False
    name: str = "run"
    number: int = 1
    served: bool = True
    """Whether any worker claims what is ready."""
    evaluate: Evaluate = evaluate_here

    machine: Machine = field(init=False)
    memory: Memory = field(init=False)
    now: datetime = field(default=START, init=False)
    calls: list[Call] = field(default_factory=list, init=False)
    missing: list[Missing] = field(default_factory=list, init=False)
    reports: list[tuple[datetime, int, Event]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.machine = machine_of(self.definition, self.limits)

    # ------------------------------------------------------------------------------- the outside

    def start(self, given: Json = None) -> World:
        payload = Payload.parse(document.write({} if given is None else given))
        execution = Execution(
            id=self.number,
            machine="machine",
            revision=1,
            name=self.name,
            status=ExecutionStatus.RUNNING,
            phase=Phase.OPEN,
            version=0,
            next_event_id=1,
            started_at=self.now,
            last_event_at=self.now,
        )
        self.memory = Memory(self.machine, execution, payload)
        self.memory.commit(
            begin(
                self.machine,
                execution,
                Scope(),
                payload,
                self.now,
                self.bits(),
                self.limits,
                self.evaluate,
                around=AROUND,
            )
        )
        return self

    def run(self, given: Json = None, *, most: int = 100_000) -> World:
        self.start(given)
        return self.finish(most=most)

    def finish(self, *, most: int = 100_000) -> World:
        for _ in range(most):
            if self.execution.ended_at is not None:
                return self
            self.step()
        raise StuckError("it goes on for ever")

    def step(self) -> None:
        """Let the next thing happen that will happen."""
        if self.served:
            self.claim()
        event = self.next_event()
        if event is None:
            raise StuckError(f"nothing wakes {sorted(self.frames)}")
        self.tell(event)
        if not isinstance(event, MomentDue):
            assert isinstance(self.tell(event), Stale), "no event counts twice"

    def tell(self, event: Event) -> Decision | Stale:
        """Hand an event to `decide`, as the engine does, and store what is decided."""
        view = replace(self.view(frame_of(event)), around=AROUND)
        for _ in range(10):
            decided = decide(
                self.machine, view, event, self.now, self.bits(), self.limits, self.evaluate
            )
            match decided:
                case Missing():
                    self.missing.append(decided)
                    view = self.memory.read_more(view, decided)
                case Decision():
                    self.memory.commit(decided)
                    return decided
                case Stale():
                    return decided
        raise StuckError("the decision is never satisfied")

    def stop(self, error: str | None = None, cause: str | None = None) -> World:
        self.tell(StopRequested(self.number, error, cause))
        return self

    # --------------------------------------------------------------------------------- happenings

    def claim(self) -> None:
        for frame in list(self.frames.values()):
            task = frame.task
            ready = frame.rests_on is RestsOn.TASK
            if ready and task and task.claimed_by is None and task.ready_at <= self.now:
                self.claim_one(frame)

    def claim_one(self, frame: Frame) -> Frame:
        task = frame.task
        assert task is not None
        claimed = replace(
            task,
            claimed_by="worker",
            deliveries=task.deliveries + 1,
            at_most_once=self.at_most_once,
            lease_until=self.now + LEASE,
        )
        moments = [frame.timeout_at] if frame.timeout_at else []
        if task.heartbeat_seconds is not None:
            moments.append(self.now + timedelta(seconds=task.heartbeat_seconds))
        frame = replace(frame, task=claimed, wake_at=min(moments, default=None))
        self.frames[frame.id] = frame
        call = Call(
            frame.id,
            frame.state or "",
            task.resource,
            task.arguments.value,
            task.attempt,
            claimed.deliveries,
            task.key,
        )
        self.calls.append(call)
        self.schedule(frame, self.handler(call))
        return frame

    def schedule(self, frame: Frame, outcome: Outcome) -> None:
        task = frame.task
        assert task is not None
        event: Event
        seconds = 0.0
        match outcome:
            case Returned(value, seconds):
                event = TaskSucceeded(
                    self.number,
                    frame.id,
                    task.token,
                    task.deliveries,
                    "worker",
                    Payload.of(value),
                    self.now,
                )
            case Raised(error, cause, seconds):
                event = TaskFailed(
                    self.number,
                    frame.id,
                    task.token,
                    task.deliveries,
                    "worker",
                    error,
                    cause,
                    self.now,
                )
            case Lost():
                seconds = LEASE.total_seconds()
                event = TaskLost(self.number, frame.id, task.token, task.deliveries)
            case Hung():
                return
        at = self.now + timedelta(seconds=seconds)
        self.reports.append((at, len(self.calls), event))

    def next_event(self) -> Event | None:
        """Return what happens next, and let the clock jump there."""
        while True:
            found = min(self.happenings(), key=lambda one: one[:2], default=None)
            if found is None:
                return None
            at, _, event = found
            self.now = max(self.now, at)
            self.reports = [report for report in self.reports if report is not found]
            if isinstance(event, TaskLost) and self.deliver_again(event):
                continue
            return event

    def happenings(self) -> Iterator[tuple[datetime, int, Event]]:
        yield from self.reports
        for frame in list(self.frames.values()):
            if frame.wake_at is not None:
                due = MomentDue(self.number, frame.id, frame.entry, frame.wake_at)
                yield frame.wake_at, 1_000_000, due
        if self.execution.deadline_at is not None and self.execution.phase is Phase.OPEN:
            deadline = self.execution.deadline_at
            yield deadline, 2_000_000, DeadlinePassed(self.number, deadline)

    def deliver_again(self, lost: TaskLost) -> bool:
        frame = self.frames.get(lost.frame)
        task = frame.task if frame is not None else None
        if frame is None or task is None or task.token != lost.token:
            return True
        if frame.status is FrameStatus.CANCELLED:
            return False
        if task.at_most_once or task.deliveries >= self.limits.deliveries:
            return False
        given_back = replace(task, claimed_by=None, lease_until=None)
        self.frames[frame.id] = replace(frame, task=given_back, wake_at=frame.timeout_at)
        self.claim()
        return True

    def bits(self) -> bytes:
        return sha256(f"{len(self.decisions)}/{self.number}".encode()).digest()

    # -------------------------------------------------------------------------------------- calls

    def call(
        self, name: str, given: Json = None, call_id: str | None = None, at: str | None = None
    ) -> dict[str, Any]:
        """Call the execution; what the caller is told."""
        number = call_id or f"c{len(self.asked) + 1}"
        payload = Payload.of({} if given is None else given)
        arriving = execution_call.Call(
            id=number,
            name=name,
            input=payload,
            digest=execution_call.digest(name, payload, at),
            arrived_at=self.now,
            at=at,
        )
        decided = self.tell(CallArrived(self.number, arriving))
        assert isinstance(decided, Decision)
        self.verify()
        return self.verdict(number)

    def verify(self) -> None:
        """Have the history read once more, by somebody who has not written it."""
        frames = list(self.frames.values())
        record = Record(self.execution, self.input, self.output, self.history, frames)
        assert verify(self.machine, record) == ()

    def verdict(self, call_id: str) -> dict[str, Any]:
        """What the caller of that call is told now, but for its id."""
        said = document.read(self.asked[call_id].said)
        assert isinstance(said, dict)
        assert said.pop("callId") == call_id
        return said

    def wait(self, seconds: float) -> World:
        """Let happen what happens within so many seconds."""
        until = self.now + timedelta(seconds=seconds)
        while True:
            self.claim()
            soonest = min((at for at, _, _ in self.happenings()), default=None)
            if soonest is None or soonest > until:
                break
            event = self.next_event()
            if event is not None:
                self.tell(event)
        self.now = max(self.now, until)
        return self

    # ------------------------------------------------------------------------------------ looking

    @property
    def execution(self) -> Execution:
        return self.memory.execution

    @property
    def frames(self) -> dict[str, Frame]:
        return self.memory.frames

    @property
    def forks(self) -> dict[str, Fork]:
        return self.memory.forks

    @property
    def history(self) -> list[HistoryEvent]:
        return self.memory.history

    @property
    def decisions(self) -> list[Decision]:
        return self.memory.decisions

    @property
    def input(self) -> Payload:
        return self.memory.input

    @property
    def output(self) -> Payload | None:
        return self.memory.output

    @property
    def compensations(self) -> dict[Key, Compensation]:
        return self.memory.compensations

    @property
    def asked(self) -> dict[str, execution_call.Call]:
        return self.memory.asked

    def view(self, frame_id: str) -> View:
        return self.memory.view(frame_id)

    def tree(self) -> dict[str, Frame]:
        return self.memory.tree()

    def effects(self) -> dict[str, Frame]:
        return self.memory.effects()

    @property
    def status(self) -> str:
        return self.execution.status.value

    @property
    def result(self) -> Json:
        assert self.output is not None, (self.execution.error, self.execution.cause)
        return self.output.value

    @property
    def error(self) -> str | None:
        return self.execution.error

    @property
    def cause(self) -> str | None:
        return self.execution.cause

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.history]

    @property
    def seconds(self) -> float:
        return (self.now - START).total_seconds()

    def the(self, event_type: str) -> HistoryEvent:
        (event,) = (event for event in self.history if event.type == event_type)
        return event

    def only_frame(self) -> Frame:
        (frame,) = self.tree().values()
        return frame
