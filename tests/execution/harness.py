"""A world in memory: a store of dictionaries, scripted handlers, and a clock that jumps.

It drives `begin` and `decide` only, hands them no more than a store would, and checks with every
decision that it could be stored: nothing twice, nothing unknown, no gap in the history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from orchestrator.asl import document
from orchestrator.asl.definition import parse
from orchestrator.asl.document import Json
from orchestrator.asl.limits import DEFAULT, Limits
from orchestrator.asl.machine import Machine
from orchestrator.execution import call as execution_call
from orchestrator.execution.compensation import Compensation, Key, Wanted
from orchestrator.execution.decide import begin, decide
from orchestrator.execution.decision import (
    Around,
    Decision,
    FrameUpdate,
    Missing,
    Stale,
    View,
)
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
    lineage,
    parent_id,
)
from orchestrator.execution.history import HistoryEvent, decode, encode
from orchestrator.execution.payload import Payload
from orchestrator.verify import Record, verify

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
LEASE = timedelta(seconds=30)


class _Activities(dict[str, bool]):
    """Every activity is there, but for those that are named so."""

    def __contains__(self, _name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> bool:
        return not name.startswith("deleted")


AROUND = Around(activities=_Activities())


@dataclass(frozen=True)
class Returned:
    value: Json
    after_seconds: float = 0.0


@dataclass(frozen=True)
class Raised:
    error: str
    cause: str | None = None
    after_seconds: float = 0.0


@dataclass(frozen=True)
class Lost:
    """The worker dies."""


@dataclass(frozen=True)
class Hung:
    """The handler never reports, while its worker lives."""


Outcome = Returned | Raised | Lost | Hung


@dataclass(frozen=True)
class Call:
    """What a handler is called with."""

    frame: str
    state: str
    resource: str
    input: Json
    attempt: int
    delivery: int
    key: str


Handler = Callable[[Call], Outcome]


def echo(call: Call) -> Outcome:
    return Returned(call.input)


def machine_of(definition: Json | str, limits: Limits = DEFAULT) -> Machine:
    text = definition if isinstance(definition, str) else document.write(definition)
    parsed = parse(text, limits)
    assert parsed.machine is not None, [str(finding) for finding in parsed.findings]
    return parsed.machine


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
    now: datetime = field(default=START, init=False)
    execution: Execution = field(init=False)
    frames: dict[str, Frame] = field(default_factory=dict, init=False)
    forks: dict[str, Fork] = field(default_factory=dict, init=False)
    history: list[HistoryEvent] = field(default_factory=list, init=False)
    decisions: list[Decision] = field(default_factory=list, init=False)
    calls: list[Call] = field(default_factory=list, init=False)
    missing: list[Missing] = field(default_factory=list, init=False)
    input: Payload = field(init=False)
    output: Payload | None = field(default=None, init=False)
    reports: list[tuple[datetime, int, Event]] = field(default_factory=list, init=False)
    asked: dict[str, execution_call.Call] = field(default_factory=dict, init=False)
    """The calls on record, by id."""
    compensations: dict[Key, Compensation] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.machine = machine_of(self.definition, self.limits)

    # ------------------------------------------------------------------------------- the outside

    def start(self, given: Json = None) -> World:
        self.input = Payload.parse(document.write({} if given is None else given))
        self.execution = Execution(
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
        self.commit(
            begin(
                self.machine,
                self.execution,
                Scope(),
                self.input,
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
                    view = self.read_more(view, decided)
                case Decision():
                    self.commit(decided)
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

    # ---------------------------------------------------------------------------------- the store

    def view(self, frame_id: str) -> View:
        line = [one for one in lineage(frame_id) if one in self.frames]
        return View(
            execution=self.execution,
            scope=Scope(),
            frames={one: self.frames[one] for one in line},
            forks={one: self.forks[one] for one in line if one in self.forks},
            input=self.input if self.machine.needs_execution_input else None,
        )

    def read_more(self, view: View, missing: Missing) -> View:
        found = dict(view.frames)
        for one in missing.frames:
            if one in self.frames:
                found[one] = self.frames[one]
        for prefix in missing.below:
            found |= {n: f for n, f in self.frames.items() if n.startswith(prefix)}
        for one in missing.effects:
            found |= {n: f for n, f in self.unended().items() if n.startswith(f"{one}!")}
        below = view.below | frozenset(missing.below)
        if missing.all_frames:
            found |= {n: f for n, f in self.frames.items() if "!" not in n and n[:1] != "~"}
            below |= {fork.prefix for fork in self.forks.values()}
        waiting = {
            prefix: any(f.rests_on is RestsOn.CALL for f in self.tree(prefix).values())
            for prefix in missing.waiting
        }
        return replace(
            view,
            frames=found,
            forks={one: self.forks[one] for one in found if one in self.forks},
            below=below,
            calls=self.kept() if missing.calls else view.calls,
            effects=view.effects | frozenset(missing.effects),
            waiting={**view.waiting, **waiting},
            looked_for=view.looked_for | frozenset(missing.frames),
            compensations={
                **view.compensations,
                **{wanted: self.undoable(wanted) for wanted in missing.compensations},
            },
        )

    def undoable(self, wanted: Wanted) -> tuple[Compensation, ...]:
        if wanted.number is not None:
            found = self.compensations.get(wanted.number)
            return () if found is None else (found,)
        there = sorted(
            (one for one in self.compensations.values() if one.is_open),
            key=lambda one: one.order,
            reverse=True,
        )
        there = [one for one in there if wanted.stretch.holds(one.number)]
        if wanted.every:
            return tuple(there)
        before = wanted.before
        return tuple(one for one in there if before is None or one.order < before)[:1]

    def tree(self, prefix: str = "") -> dict[str, Frame]:
        """Return the frames of the tree under a prefix: no effects, nothing that undoes."""
        return {
            n: f
            for n, f in self.frames.items()
            if n.startswith(prefix) and "!" not in n and "~" not in n
            if not n or f.status is not FrameStatus.CANCELLED
        }

    def effects(self) -> dict[str, Frame]:
        return {n: f for n, f in self.frames.items() if "!" in n}

    def unended(self) -> dict[str, Frame]:
        going = (FrameStatus.PENDING, FrameStatus.RESTING)
        return {n: f for n, f in self.effects().items() if f.status in going}

    def kept(self) -> tuple[execution_call.Call, ...]:
        kept = [c for c in self.asked.values() if c.verdict is execution_call.Verdict.PENDING]
        return tuple(sorted(kept, key=lambda one: one.number))

    def commit(self, decision: Decision) -> None:
        """Store a decision, as far as it can be stored."""
        before, after = self.execution, decision.execution
        assert decision.seen_version == before.version
        self.decisions.append(decision)
        self.record_calls(decision)
        if not decision.moves:
            assert after == before
            assert not decision.inserted + decision.updated + decision.history
            return
        assert after.version == before.version + 1
        self.record(decision)
        self.execution = after
        if decision.ends and before.ended_at is None:
            assert all("!" in frame.id for frame in decision.inserted)
            assert not decision.forks_inserted
            self.output = decision.output
            self.frames = self.effects()
            self.forks.clear()
        for update in decision.kept:
            self.check_seen(update)
            self.frames[update.frame.id] = update.frame
        self.remove(decision)
        self.undo(decision)
        for fork in decision.forks_inserted:
            assert fork.frame not in self.forks
            self.forks[fork.frame] = fork
        for fork in decision.forks_updated:
            assert self.forks[fork.frame].entry == fork.entry
            self.forks[fork.frame] = fork
        for frame in decision.inserted:
            assert frame.id not in self.frames, frame.id
            self.frames[frame.id] = frame
        for update in decision.updated:
            self.check_seen(update)
            self.frames[update.frame.id] = update.frame
        self.check()

    def check_seen(self, update: FrameUpdate) -> None:
        old = self.frames[update.frame.id]
        token = old.task.token if old.task else None
        deliveries = old.task.deliveries if old.task else 0
        seen = update.seen
        assert (seen.token, seen.deliveries, seen.wake_at) == (token, deliveries, old.wake_at)

    def undo(self, decision: Decision) -> None:
        for mark in decision.marked:
            there = self.compensations[mark.number]
            self.compensations[mark.number] = replace(there, status=mark.status)
        for stretch in decision.dropped:
            self.compensations = {
                number: one
                for number, one in self.compensations.items()
                if not (one.is_open and stretch.holds(number))
            }
        for one in decision.registered:
            self.compensations[one.number] = one

    def remove(self, decision: Decision) -> None:
        for frame, entry in decision.forks_removed:
            assert self.forks.pop(frame).entry == entry
        for frame, _ in () if decision.ends else decision.gone:
            self.frames.pop(frame)
        for prefix in decision.removed:
            gone = {
                n
                for n, f in self.frames.items()
                if n.startswith(prefix) and "!" not in n and f.status is not FrameStatus.CANCELLED
            }
            self.frames = {n: f for n, f in self.frames.items() if n not in gone}
            self.forks = {n: f for n, f in self.forks.items() if not n.startswith(prefix)}

    def record(self, decision: Decision) -> None:
        for event in decode(encode(decision.history)):
            assert event.id == len(self.history) + 1
            assert event.previous_id < event.id
            assert not self.history or event.at >= self.history[-1].at
            self.history.append(event)
        assert decision.execution.next_event_id == len(self.history) + 1
        assert decision.execution.last_event_at >= self.history[-1].at
        assert encode(decision.history).isascii()

    def check(self) -> None:
        """Check that the frames agree with each other, and that something wakes each."""
        assert self.execution.frames == len(self.tree())
        assert self.execution.effects == len(self.unended())
        assert self.execution.kept == len(self.kept())
        self.check_effects()
        for frame in self.frames.values():
            self.check_undoing(frame)
        for frame in self.tree().values():
            if frame.id:
                assert parent_id(frame.id) in self.forks
            if frame.status is FrameStatus.RESTING:
                called = frame.rests_on is RestsOn.CALL
                undone = frame.rests_on is RestsOn.UNDOING
                assert frame.task or frame.wake_at or frame.fork is not None or called or undone
                assert called or not frame.timers
                assert (frame.fork is not None) == (frame.id in self.forks)
            elif frame.status is not FrameStatus.CANCELLED:
                assert frame.wake_at is None
                assert frame.task is None
        for fork in self.forks.values():
            assert (
                fork.admitted - fork.succeeded - fork.failed > 0 or self.frames[fork.frame].wake_at
            )

    def check_undoing(self, frame: Frame) -> None:
        """Check that what rests on undoing is undone, and what undoes has something to do."""
        if "~" not in frame.id:
            if frame.rests_on is RestsOn.UNDOING and frame.status is FrameStatus.RESTING:
                assert any(n.startswith(f"{frame.id}~") for n in self.frames), frame.id
            return
        owner, _, own = frame.id.partition("~")
        if frame.status is not FrameStatus.CANCELLED:
            assert owner in self.frames, frame.id
            assert "/" not in own or parent_id(frame.id) in self.forks
        assert frame.undo is not None
        if frame.status is FrameStatus.RESTING and frame.rests_on is not RestsOn.CHILDREN:
            doing = self.compensations[frame.undo.number]
            waits = frame.rests_on is RestsOn.UNDOING
            assert doing.status.value == ("doubtful" if waits else "running")

    def check_effects(self) -> None:
        """Check that of each frame one turn of effects is on, and those behind it wait."""
        for frame in self.unended().values():
            owner = frame.id.partition("!")[0]
            first = min(f.entry for n, f in self.unended().items() if n.startswith(f"{owner}!"))
            assert (frame.status is FrameStatus.RESTING) == (frame.entry == first), frame.id

    def record_calls(self, decision: Decision) -> None:
        for one in decision.calls_inserted:
            assert one.id not in self.asked
            assert decision.execution.version >= one.number
            self.asked[one.id] = one
        for one in decision.calls_decided:
            assert self.asked[one.id].verdict is execution_call.Verdict.PENDING
            assert one.verdict is not execution_call.Verdict.PENDING
            self.asked[one.id] = one

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


def states(**named: Any) -> dict[str, Any]:
    """Return a definition that starts at the first of the states."""
    return {"StartAt": next(iter(named)), "States": dict(named)}


def task(**fields: Any) -> dict[str, Any]:
    """Return a Task for Celery that ends unless it says where to go."""
    end = {} if "Next" in fields else {"End": True}
    return {"Type": "Task", "Resource": "celery:work", **end, **fields}


def mapping(processor: Any, **fields: Any) -> dict[str, Any]:
    """Return a Map that ends unless it says where to go."""
    end = {} if "Next" in fields else {"End": True}
    return {"Type": "Map", "ItemProcessor": processor, **end, **fields}


def parallel(*branches: Any, **fields: Any) -> dict[str, Any]:
    """Return a Parallel that ends unless it says where to go."""
    end = {} if "Next" in fields else {"End": True}
    return {"Type": "Parallel", "Branches": list(branches), **end, **fields}


def script(*outcomes: Outcome) -> Handler:
    """Return a handler that gives these outcomes in turn, and the last one ever after."""
    left = list(outcomes)

    def handle(_: Call) -> Outcome:
        return left.pop(0) if len(left) > 1 else left[0]

    return handle


PASS: dict[str, Any] = {"Type": "Pass", "End": True}
