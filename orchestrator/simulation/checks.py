"""What must hold for every execution, however much went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from orchestrator.asl.document import Json
from orchestrator.asl.machine import Machine
from orchestrator.asl.states import Map, Wait
from orchestrator.asl.states import Task as TaskState
from orchestrator.execution.frame import Execution, Frame, Phase, is_effect
from orchestrator.execution.history import HistoryEvent
from orchestrator.execution.payload import Payload
from orchestrator.simulation.case import Case, Manner
from orchestrator.simulation.ledger import Run
from orchestrator.simulation.sometimes import Sometimes

_ENDS: Final = {
    "ExecutionSucceeded": "SUCCEEDED",
    "ExecutionFailed": "FAILED",
    "ExecutionTimedOut": "TIMED_OUT",
    "ExecutionAborted": "ABORTED",
}
_LOST: Final = frozenset(
    {"Task.WorkerLost", "Task.DeliveriesSpent", "Lambda.Unknown", "Lambda.ServiceException"}
)
_CLOSES: Final = ("Succeeded", "Failed", "TimedOut")
_FAMILIES: Final = ("Task", "LambdaFunction", "Activity")


@dataclass(frozen=True, slots=True)
class Story:
    """All that is known of an execution once it has ended."""

    execution: Execution
    machine: Machine
    case: Case
    history: Sequence[HistoryEvent]
    output: Payload | None
    frames: Sequence[Frame]
    runs: Sequence[Run]
    undoable: frozenset[tuple[str, int]]
    """Frames and entries whose work could be undone: what is heard of cancelled ones counts too."""
    jumped_back: bool
    """Whether the clock has jumped back: a task may have been claimed before it was scheduled."""

    def disorder(self) -> list[str]:
        """Return what is wrong with the order of the history; nothing else can be told then."""
        return [*_numbering(self.history)]

    def faults(self) -> Iterator[str]:
        """Yield everything that must not be, of a history that is in order."""
        yield from self._endings()
        yield from self._exits()
        yield from self._attempts()
        yield from self._moments()
        yield from self._maps()
        yield from self._effects()

    def event(self, event_id: int) -> HistoryEvent:
        """Return an event by its id."""
        return self.history[event_id - 1]

    def entered(self, event: HistoryEvent, name: str | None = None) -> HistoryEvent | None:
        """Return the entry of the state to which an event belongs, or of the one of that name."""
        while event.previous_id:
            event = self.event(event.previous_id)
            if event.type.endswith("StateEntered") and name in (None, event.details["name"]):
                return event
        return None

    # -- agreement -------------------------------------------------------------------------------

    def _endings(self) -> Iterator[str]:
        execution, last = self.execution, self.history[-1]
        types = [event.type for event in self.history if event.type.startswith("Execution")]
        if len(types) != 2 or types[0] != self.history[0].type != "ExecutionStarted":  # noqa: PLR2004
            yield f"it starts and ends by {types}"
        if _ENDS.get(last.type) != execution.status.value:
            yield f"its last event is {last.type}, its status {execution.status}"
        if execution.phase is not Phase.ENDED or execution.ended_at is None:
            yield f"it is in phase {execution.phase} and ended at {execution.ended_at}"
        if execution.next_event_id != len(self.history) + 1:
            yield f"its next event would be {execution.next_event_id}"
        if self.frames:
            yield f"it has {len(self.frames)} frames left"
        told = (last.details.get("error"), last.details.get("cause"))
        if told != (execution.error, execution.cause):
            yield f"its history ends with {told}"
        if _value(last.details.get("output")) != (self.output and self.output.value):
            yield "its history ends with another output"

    def _exits(self) -> Iterator[str]:
        left: Counter[int] = Counter()
        for event in self.history:
            if event.type.endswith("StateExited"):
                entry = self.entered(event, str(event.details["name"]))
                if entry is None:
                    yield f"event {event.id} leaves a state that was not entered"
                else:
                    left[entry.id] += 1
        for entry_id, times in left.items():
            if times > 1:
                yield f"the entry {entry_id} is left {times} times"

    def _attempts(self) -> Iterator[str]:
        followed: Counter[int] = Counter()
        for event in self.history:
            if event.type in _REPORTS:
                followed[event.previous_id] += 1
        for event_id, times in followed.items():
            if times > 1:
                yield f"the attempt at event {event_id} ends {times} times"

    # -- moments ---------------------------------------------------------------------------------

    def _moments(self) -> Iterator[str]:
        for event in self.history:
            if event.type == "WaitStateExited":
                yield from self._waited(event)
            elif event.type in ("TaskTimedOut", "LambdaFunctionTimedOut"):
                yield from self._timed_out(event)
            elif event.type in ("TaskScheduled", "LambdaFunctionScheduled"):
                yield from self._paused(event)
            elif event.type == "ExecutionTimedOut":
                seconds = self.machine.timeout_seconds or 0
                if event.at < self.history[0].at + timedelta(seconds=seconds):
                    yield "it timed out early"

    def _waited(self, event: HistoryEvent) -> Iterator[str]:
        entry = self.entered(event)
        state = self.machine.state(str(event.details["name"]))
        if entry is None or not isinstance(state, Wait):
            yield f"event {event.id} leaves no Wait"
            return
        seconds = _whole(state.seconds)
        given = _value(entry.details["input"])
        if state.seconds_path is not None and isinstance(given, dict):
            seconds = _whole(given.get("n"))
        if event.at < entry.at + timedelta(seconds=seconds):
            yield f"the Wait at event {entry.id} ended early"

    def _timed_out(self, event: HistoryEvent) -> Iterator[str]:
        scheduled = self._scheduled(event)
        entry = self.entered(event)
        if entry is None:
            return
        state = self.machine.state(str(entry.details["name"]))
        if not isinstance(state, TaskState):
            return
        given = [_whole(s) for s in (state.timeout_seconds, state.heartbeat_seconds) if s]
        if self.jumped_back:
            return
        if not given or event.at < scheduled.at + timedelta(seconds=min(given)):
            yield f"the Task at event {scheduled.id} timed out early"

    def _paused(self, event: HistoryEvent) -> Iterator[str]:
        before = self.event(event.previous_id)
        entry = self.entered(event)
        if before is entry or entry is None:
            return
        state = self.machine.state(str(entry.details["name"]))
        if isinstance(state, TaskState):
            pauses = [r.interval_seconds for r in state.retry if not r.full_jitter]
            if len(pauses) == len(state.retry) and pauses:
                early = before.at + timedelta(seconds=min(pauses))
                if event.at < early:
                    yield f"the retry at event {event.id} came early"

    def _scheduled(self, event: HistoryEvent) -> HistoryEvent:
        while not event.type.endswith("Scheduled"):
            event = self.event(event.previous_id)
        return event

    # -- forks -----------------------------------------------------------------------------------

    def _maps(self) -> Iterator[str]:
        open_now: Counter[str] = Counter()
        for event in self.history:
            if event.type == "MapIterationStarted":
                name = str(event.details["name"])
                open_now[name] += 1
                state = self.machine.state(name)
                limit = _whole(state.max_concurrency) if isinstance(state, Map) else 0
                if limit and open_now[name] > limit * self._maps_at_once(name):
                    yield f"{open_now[name]} iterations of {name} run at event {event.id}"
            elif event.type.startswith("MapIteration"):
                open_now[str(event.details["name"])] -= 1

    def _maps_at_once(self, name: str) -> int:
        """Return how often a Map was entered: at most so many of it are open at once."""
        return sum(
            event.type == "MapStateEntered" and event.details["name"] == name
            for event in self.history
        )

    # -- effects ---------------------------------------------------------------------------------

    def _effects(self) -> Iterator[str]:
        counted: Counter[int] = Counter()
        for event in self.history:
            if event.type in _SUCCESSES:
                result = _value(event.details.get("output"))
                number = result.get("run") if isinstance(result, dict) else None
                counted[number if isinstance(number, int) else 0] += 1
        for run in self.runs:
            if is_effect(run.claim.frame):
                continue
            times = counted.pop(run.number, 0)
            if times > 1:
                yield f"the result of run {run.number} counts {times} times"
            heard = (run.claim.frame, run.claim.row.entry) in self.undoable
            if run.committed and run.succeeds and times == 0 and not (self.is_full or heard):
                yield f"the result of run {run.number} was acknowledged and is lost"
            if run.refused and times:
                yield f"the result of run {run.number} was refused and counts"
        if counted:
            yield f"results of nobody: {dict(counted)}"

    @property
    def is_full(self) -> bool:
        """Whether the history had no room for what happened last."""
        return len(self.history) == self.case.limits.history_events

    # -- what the model does not know ------------------------------------------------------------

    def accidents(self) -> bool:
        """Tell whether something that no case foresees has decided the outcome."""
        for event in self.history:
            entry = self.entered(event)
            if entry is None or not event.type.startswith(_FAMILIES):
                continue
            manner = self.case.manners.get(str(entry.details["name"]))
            if event.details.get("error") in _LOST and manner is not Manner.DEADLY:
                return manner is not Manner.SUICIDAL or not self._is_once(entry)
            late = event.type.endswith("TimedOut")
            if late and manner not in (Manner.HANGING, Manner.SILENT):
                return True
        return self.execution.status.value in ("ABORTED", "TIMED_OUT")

    def _is_once(self, entry: HistoryEvent) -> bool:
        state = self.machine.state(str(entry.details["name"]))
        return isinstance(state, TaskState) and state.resource.text.endswith(":once")

    # -- what is counted -------------------------------------------------------------------------

    def sometimes(self) -> Iterator[Sometimes]:
        """Yield what has happened in it."""
        for event in self.history:
            yield from _told_by(event)
            before = self.event(event.previous_id or 1)
            if event.type == "MapIterationStarted" and before.type != _FORK_OPENED:
                yield Sometimes.MAP_BY_INDEX
            elif event.type == "TaskScheduled" and not before.type.endswith("Entered"):
                yield Sometimes.RETRIED
            elif event.type == "TaskStateExited":
                if before.type.endswith(("Failed", "TimedOut")):
                    yield Sometimes.CAUGHT
                if before.details.get("error") in _LOST:
                    yield Sometimes.LOSS_CAUGHT
            elif event.type == "MapStateSucceeded" and self._tolerated(event):
                yield Sometimes.TOLERATED

    def _tolerated(self, event: HistoryEvent) -> bool:
        return any(one.type == "MapIterationFailed" for one in self.history[: event.id])


_FORK_OPENED: Final = "MapStateStarted"
_SUCCESSES: Final = frozenset(f"{family}Succeeded" for family in (*_FAMILIES, "Compensation"))
_REPORTS: Final = frozenset(f"{family}{end}" for family in _FAMILIES for end in _CLOSES)


def _told_by(event: HistoryEvent) -> Iterator[Sometimes]:
    error = event.details.get("error")
    if event.type.endswith("StateAborted"):
        yield Sometimes.BRANCH_ABORTED
    if event.type in ("TaskTimedOut", "LambdaFunctionTimedOut"):
        yield Sometimes.TIMER_WON
    if event.type == "ExecutionTimedOut":
        yield Sometimes.DEADLINE
    if event.type == _FORK_OPENED:
        length = event.details["length"]
        if isinstance(length, int) and length > 8:  # noqa: PLR2004  # the engine's SMALL_FORK
            yield Sometimes.CROWDED
    if event.type == "TaskFailed" and error == "Task.DeliveriesSpent":
        yield Sometimes.DELIVERIES_SPENT
    if event.type == "TaskFailed" and error == "Task.WorkerLost":
        yield Sometimes.ONCE_LOST
    if event.type == "TaskFailed" and error == "Task.InvalidResult":
        yield Sometimes.NOT_JSON


def _numbering(history: Sequence[HistoryEvent]) -> Iterator[str]:
    at: datetime | None = None
    for place, event in enumerate(history, 1):
        if event.id != place:
            yield f"event {event.id} stands at place {place}"
        if not 0 <= event.previous_id < event.id:
            yield f"event {event.id} follows event {event.previous_id}"
        if at is not None and event.at < at:
            yield f"event {event.id} happened before the one before it"
        at = event.at


def _whole(number: object) -> int:
    """Return a number that a definition or a document gives; these machines compute none."""
    return number if isinstance(number, int) else 0


def _value(detail: object) -> Json:
    return detail.value if isinstance(detail, Payload) else None
