"""A stored history as lines that someone reads who has never seen one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from orchestrator.cli.printing import plain
from orchestrator.execution.history import Detail, HistoryEvent
from orchestrator.execution.payload import Payload

LONGEST_DOCUMENT: Final = 96
UNDOING: Final = "Compensation"
"""With what the events of undoing begin."""


@dataclass(slots=True)
class StateLine:
    """One entry of a state: a row of the live table."""

    name: str
    type: str
    entered_at: datetime
    iteration: int | None = None
    """Of the innermost Map around it."""
    said: str = "runs"
    attempts: int = 0
    left_at: datetime | None = None

    @property
    def title(self) -> str:
        """The name, and which iteration it is of."""
        return self.name if self.iteration is None else f"{self.name} [{self.iteration}]"


@dataclass(slots=True)
class Story:
    """Follows a history event by event."""

    started_at: datetime | None = None
    states: list[StateLine] = field(default_factory=list)
    _state_of: dict[int, StateLine] = field(default_factory=dict)
    _iteration_of: dict[int, int] = field(default_factory=dict)
    """Which iteration an event began."""

    def tell(self, events: Iterable[HistoryEvent]) -> Iterator[str]:
        """Take in events and say, line by line, what happened."""
        for event in events:
            self.started_at = self.started_at or event.at
            seconds = (event.at - self.started_at).total_seconds()
            said = self._take(event)
            if said:
                yield f"{seconds:8.2f} s  {said}"

    def _take(self, event: HistoryEvent) -> str | None:
        if event.type.endswith("StateEntered"):
            return self._entered(event)
        if event.type == "MapIterationStarted":
            self._iteration_of[event.id] = int(str(event.details["index"]))
            return None
        line = self._line(event)
        if line is None:
            return _execution(event)
        self._state_of[event.id] = line
        if event.type.startswith(UNDOING):
            return self._undone(event, line)
        if event.type.endswith("StateExited"):
            line.left_at = event.at
            if line.type == "Wait":
                line.said = "waited"
            elif line.said == "runs":
                line.said = "done"
            return None
        said = self._work(event, line)
        if said is None:
            return _execution(event)
        line.said = said
        return f"{line.title:<24} {said}"

    def _line(self, event: HistoryEvent) -> StateLine | None:
        """The state that an event is of; what forks or undoes leaves behind an event of another."""
        if event.type == f"{UNDOING}Scheduled":
            return self._state_of.get(int(str(event.details["undoes"])))
        found = self._state_of.get(event.previous_id)
        if event.type.endswith("StateExited"):
            name, kind = plain(str(event.details["name"])), event.type.removesuffix("StateExited")
            if found is not None and (found.name, found.type) == (name, kind):
                return found
            for line in reversed(self.states):
                if (line.name, line.type, line.left_at) == (name, kind, None):
                    return line
        return found

    def _entered(self, event: HistoryEvent) -> str:
        name, kind = plain(str(event.details["name"])), event.type.removesuffix("StateEntered")
        line = StateLine(name, kind, event.at, self._iteration(event.previous_id))
        self.states.append(line)
        self._state_of[event.id] = line
        if kind == "Wait":
            line.said = "waits"
        return f"{line.title:<24} {_entering(kind)}"

    def _iteration(self, previous: int) -> int | None:
        begun = self._iteration_of.get(previous)
        line = self._state_of.get(previous)
        return begun if begun is not None or line is None else line.iteration

    def _work(self, event: HistoryEvent, line: StateLine) -> str | None:
        kind = event.type.removeprefix("LambdaFunction").removeprefix("Task")
        if kind == "Scheduled":
            line.attempts += 1
            again = "" if line.attempts == 1 else f" (attempt {line.attempts})"
            return f"asks {_resource(event)}{again}"
        if kind == "Started":
            return None if line.attempts else "runs"
        if kind == "Succeeded":
            return f"answered {_document(event.details.get('output'))}"
        if kind in {"Failed", "TimedOut"}:
            return f"failed: {_error(event)}"
        return None

    @staticmethod
    def _undone(event: HistoryEvent, line: StateLine) -> str | None:
        """What becomes of the compensation of a state."""
        match event.type.removeprefix(UNDOING):
            case "Scheduled":
                return f"{line.title:<24} undoing asks {_resource(event)}"
            case "Succeeded":
                line.said = "undone"
                return f"{line.title:<24} is undone: {_document(event.details.get('output'))}"
            case "Failed":
                return f"{line.title:<24} undoing failed: {_error(event)}"
            case "Skipped":
                return f"{line.title:<24} is not undone: it was skipped"
            case _:
                return None


def _entering(kind: str) -> str:
    return {
        "Task": "begins",
        "Choice": "chooses",
        "Wait": "waits",
        "Pass": "passes on",
        "Succeed": "is reached: success",
        "Fail": "is reached: failure",
        "Map": "begins, once per item",
        "Parallel": "begins, all branches at once",
        "Compensate": "undoes what was done, newest first",
    }.get(kind, kind)


def _execution(event: HistoryEvent) -> str | None:
    if event.type == "ExecutionStarted":
        return f"{'(start)':<24} input {_document(event.details.get('input'))}"
    if event.type == "ExecutionSucceeded":
        return f"{'(end)':<24} SUCCEEDED {_document(event.details.get('output'))}"
    status = _UNSUCCESSFUL.get(event.type)
    return None if status is None else f"{'(end)':<24} {status} {_error(event)}".rstrip()


_UNSUCCESSFUL: Final = {
    "ExecutionFailed": "FAILED",
    "ExecutionTimedOut": "TIMED_OUT",
    "ExecutionAborted": "ABORTED",
}


def _resource(event: HistoryEvent) -> str:
    kind, resource = event.details.get("resourceType"), event.details.get("resource")
    return f"{kind}:{resource}" if kind else str(resource)


def _error(event: HistoryEvent) -> str:
    error, cause = event.details.get("error"), event.details.get("cause")
    return plain(f"{error or ''}{': ' if error and cause else ''}{cause or ''}")


def _document(detail: Detail | None) -> str:
    text = detail.text if isinstance(detail, Payload) else str(detail or "")
    return text if len(text) <= LONGEST_DOCUMENT else text[: LONGEST_DOCUMENT - 1] + "…"
