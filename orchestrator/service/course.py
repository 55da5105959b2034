"""The course of an execution: its visits to states, with their attempts, read from its history.

Each event names the one before it in its thread, so that a visit collects what happened in it,
whatever other threads did meanwhile. What a history leaves out (its middle, if that was not read)
is left out here as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from orchestrator.execution.frame import Frame
from orchestrator.execution.history import Detail, HistoryEvent
from orchestrator.execution.payload import Payload


class Outcome(StrEnum):
    """What became of a visit, an attempt or an iteration."""

    OPEN = "open"
    DONE = "done"
    FAILED = "failed"
    CAUGHT = "caught"
    """It failed, and a Catcher led on."""
    CANCELLED = "cancelled"


@dataclass(slots=True)
class Attempt:
    """One attempt of the work of a state: wanted, begun, ended."""

    resource: str
    wanted_at: datetime
    begun_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: Outcome = Outcome.OPEN
    error: str | None = None
    cause: str | None = None
    arguments: Payload | None = None
    output: Payload | None = None
    worker: str | None = None


@dataclass(slots=True)
class Visit:
    """One visit to a state, from its StateEntered to its StateExited."""

    event: int
    """The id of the first event that was read of it."""
    state: str
    kind: str
    entered_at: datetime
    parent: Visit | None = None
    """The visit to the Parallel or Map around it."""
    iteration: int | None = None
    """Of the innermost Map around it."""
    left_at: datetime | None = None
    outcome: Outcome = Outcome.OPEN
    input: Payload | None = None
    output: Payload | None = None
    assigned: Mapping[str, Payload] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    undone: list[Attempt] = field(default_factory=list)
    """The attempts to undo it."""
    notes: list[Note] = field(default_factory=list)
    total: int | None = None
    """Of a Map: how many iterations it has."""
    error: str | None = None
    cause: str | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """The states around it and itself, outermost first."""
        return (*(() if self.parent is None else self.parent.path), self.state)


@dataclass(frozen=True, slots=True)
class Note:
    """Something that happened in a visit and is no attempt: a call, a timer, an effect."""

    at: datetime
    kind: str
    """call, timer, effect."""
    text: str
    event: int


@dataclass(slots=True)
class Iteration:
    """An iteration of a Map."""

    index: int
    of: Visit
    begun_at: datetime
    event: int
    ended_at: datetime | None = None
    outcome: Outcome = Outcome.OPEN


@dataclass(slots=True)
class Course:
    """What an execution went through, in order."""

    visits: list[Visit] = field(default_factory=list)
    iterations: list[Iteration] = field(default_factory=list)
    started_at: datetime | None = None
    ended_at: datetime | None = None
    _of: dict[int, Visit] = field(default_factory=dict)
    _in: dict[int, Iteration] = field(default_factory=dict)
    """The iteration in which an event lies."""

    def read(self, events: Iterable[HistoryEvent]) -> Course:
        """Take in events, in order of their ids, and return itself."""
        for event in events:
            self.started_at = self.started_at or event.at
            self._take(event)
        for visit in self.visits:
            if visit.outcome is Outcome.OPEN and self.ended_at is not None:
                self._cut(visit)
        return self

    def claimed(self, frames: Iterable[Frame]) -> None:
        """Note who runs the attempts that have not ended: history tells of them when they end."""
        workers = {
            frame.entry: frame.task.claimed_by
            for frame in frames
            if frame.task is not None and frame.task.claimed_by is not None
        }
        for visit in self.visits if workers else ():
            if visit.event in workers and visit.attempts:
                visit.attempts[-1].worker = workers[visit.event]

    def last(self, state: str) -> Visit | None:
        """The last visit to a state."""
        return next((visit for visit in reversed(self.visits) if visit.state == state), None)

    def of(self, state: str) -> list[Visit]:
        """All visits to a state."""
        return [visit for visit in self.visits if visit.state == state]

    # -- events ----------------------------------------------------------------------------------

    def _take(self, event: HistoryEvent) -> None:
        before = self._in.get(event.previous_id)
        if before is not None:
            self._in[event.id] = before
        if event.type.endswith("StateEntered"):
            self._enter(event)
        elif event.type.endswith("StateExited"):
            self._leave(event)
        elif event.type.startswith("MapIteration"):
            self._iterate(event)
        elif event.type in _ENDS:
            self.ended_at = event.at
            self._end(event)
        elif event.type.startswith("Compensation"):
            self._undo(event)
        else:
            visit = self._of.get(event.previous_id)
            if visit is not None:
                self._of[event.id] = visit
                _happens(visit, event)

    def _undo(self, event: HistoryEvent) -> None:
        """Note what undoes a visit: the event names its first event, and its state."""
        undoes = event.details.get("undoes")
        found = self._of.get(undoes) if isinstance(undoes, int) else None
        visit = found or self.last(str(event.details.get("name", "")))
        if visit is not None:
            what = event.type.removeprefix("Compensation")
            if what == "Skipped" and visit.undone:
                visit.undone[-1].ended_at = event.at
                visit.undone[-1].outcome = Outcome.CANCELLED
            else:
                _attempt(visit.undone, event, what)

    def _enter(self, event: HistoryEvent) -> None:
        around = self._of.get(event.previous_id)
        inside = self._in.get(event.previous_id)
        parent = around if around is None or around.left_at is None else around.parent
        visit = Visit(
            event.id,
            str(event.details.get("name", "")),
            event.type.removesuffix("StateEntered"),
            event.at,
            parent,
            None if inside is None else inside.index,
            input=_payload(event.details.get("input")),
        )
        self.visits.append(visit)
        self._of[event.id] = visit

    def _leave(self, event: HistoryEvent) -> None:
        name = str(event.details.get("name", ""))
        visit = self._of.get(event.previous_id)
        if visit is None or visit.state != name or visit.left_at is not None:
            visit = next(
                (one for one in reversed(self.visits) if one.state == name and not one.left_at),
                None,
            )
        if visit is None:  # its beginning was not read
            kind = event.type.removesuffix("StateExited")
            visit = Visit(event.id, name, kind, event.at)
            self.visits.append(visit)
        visit.left_at = event.at
        visit.output = _payload(event.details.get("output"))
        assigned = event.details.get("assignedVariables")
        if isinstance(assigned, Mapping):
            visit.assigned = {
                key: value for key, value in assigned.items() if isinstance(value, Payload)
            }
        failed = visit.error is not None or (
            bool(visit.attempts) and visit.attempts[-1].outcome is Outcome.FAILED
        )
        visit.outcome = Outcome.CAUGHT if failed else Outcome.DONE
        self._of[event.id] = visit
        outer = self._in.get(visit.event)  # a Map is left behind the last event of an iteration
        if outer is None:
            self._in.pop(event.id, None)
        else:
            self._in[event.id] = outer

    def _iterate(self, event: HistoryEvent) -> None:
        what = event.type.removeprefix("MapIteration")
        index = int(str(event.details.get("index", 0)))
        if what == "Started":
            around = self._of.get(event.previous_id)
            if around is None:
                return
            found = Iteration(index, around, event.at, event.id)
            self.iterations.append(found)
            self._in[event.id] = found
            self._of[event.id] = around
            return
        inside = self._in.get(event.previous_id)
        if inside is not None:
            inside.ended_at = event.at
            inside.outcome = _OUTCOMES.get(what, Outcome.DONE)
            self._of[event.id] = inside.of

    def _end(self, event: HistoryEvent) -> None:
        visit = self._of.get(event.previous_id)
        if visit is None or visit.left_at is not None:
            return
        visit.left_at = event.at
        visit.error = _text(event.details.get("error")) or visit.error
        visit.cause = _text(event.details.get("cause")) or visit.cause
        visit.outcome = {
            "ExecutionSucceeded": Outcome.DONE,
            "ExecutionAborted": Outcome.CANCELLED,
        }.get(event.type, Outcome.FAILED)

    def _cut(self, visit: Visit) -> None:
        """End a visit that the end of the execution has found open."""
        visit.left_at = visit.left_at or self.ended_at
        failed = visit.error is not None or (
            bool(visit.attempts) and visit.attempts[-1].outcome is Outcome.FAILED
        )
        visit.outcome = Outcome.FAILED if failed else Outcome.CANCELLED
        for attempt in visit.attempts:
            if attempt.outcome is Outcome.OPEN:
                attempt.outcome, attempt.ended_at = Outcome.CANCELLED, self.ended_at


_ENDS: Final = frozenset(
    {"ExecutionSucceeded", "ExecutionFailed", "ExecutionTimedOut", "ExecutionAborted"}
)
_OUTCOMES: Final = {
    "Succeeded": Outcome.DONE,
    "Failed": Outcome.FAILED,
    "Aborted": Outcome.CANCELLED,
}
_FAMILIES: Final = ("LambdaFunction", "Activity", "Task")


def _happens(visit: Visit, event: HistoryEvent) -> None:
    """Note what an event inside a visit says of it."""
    kind = event.type
    if kind.endswith("StateAborted"):
        visit.left_at, visit.outcome = event.at, Outcome.CANCELLED
        for attempt in visit.attempts:
            if attempt.outcome is Outcome.OPEN:
                attempt.ended_at, attempt.outcome = event.at, Outcome.CANCELLED
    elif kind in ("MapStateStarted", "ParallelStateStarted"):
        length = event.details.get("length")
        visit.total = length if isinstance(length, int) else None
    elif kind.endswith("StateFailed") or kind == "EvaluationFailed":
        visit.error = _text(event.details.get("error")) or visit.error or "failed"
        visit.cause = _text(event.details.get("cause")) or visit.cause
    elif kind in _NOTES:
        visit.notes.append(Note(event.at, _NOTES[kind], _note(event), event.id))
    else:
        family = next((one for one in _FAMILIES if kind.startswith(one)), None)
        if family is not None:
            _attempt(visit.attempts, event, kind.removeprefix(family))


_NOTES: Final = {"CallAccepted": "call", "TimerFired": "timer", "EffectScheduled": "effect"}


def _note(event: HistoryEvent) -> str:
    details = event.details
    match event.type:
        case "CallAccepted":
            return _text(details.get("call")) or _text(details.get("name")) or "a call"
        case "TimerFired":
            following = _text(details.get("next"))
            place = f"timer {details.get('timer', '')}".strip()
            return f"{place} → {following}" if following else place
        case _:
            return _text(details.get("resource")) or "an effect"


def _attempt(attempts: list[Attempt], event: HistoryEvent, what: str) -> None:
    details = event.details
    if what == "Scheduled":
        arguments = _payload(details.get("parameters")) or _payload(details.get("input"))
        attempts.append(Attempt(_resource(details), event.at, arguments=arguments))
        return
    if not attempts:
        return
    attempt = attempts[-1]
    if what == "Started":
        attempt.begun_at = event.at
        attempt.worker = _text(details.get("workerName"))
    elif what == "Succeeded":
        attempt.ended_at, attempt.outcome = event.at, Outcome.DONE
        attempt.output = _payload(details.get("output"))
    elif what in ("Failed", "TimedOut", "ScheduleFailed", "StartFailed", "SubmitFailed"):
        attempt.ended_at, attempt.outcome = event.at, Outcome.FAILED
        attempt.error, attempt.cause = _text(details.get("error")), _text(details.get("cause"))


def _resource(details: Mapping[str, Detail]) -> str:
    kind, name = details.get("resourceType"), details.get("resource")
    return f"{kind}:{name}" if kind else str(name or "")


def _payload(detail: Detail | None) -> Payload | None:
    return detail if isinstance(detail, Payload) else None


def _text(detail: Detail | None) -> str | None:
    match detail:
        case None:
            return None
        case Payload():
            return detail.text
        case _:
            return str(detail)
