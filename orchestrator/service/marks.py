"""What has become of each state of an execution, for people: from its history and its frames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.asl.machine import Machine
from orchestrator.asl.states import Fail
from orchestrator.drawing import Mark
from orchestrator.execution.frame import (
    Execution,
    ExecutionStatus,
    Frame,
    FrameKind,
    FrameStatus,
    Phase,
    RestsOn,
)
from orchestrator.execution.history import HistoryEvent

MOST_EVENTS: Final = 4_000
"""How many of the newest events are read: what came to pass before is left uncoloured."""
MOST_FRAMES: Final = 1_000

_ENTERED, _EXITED = "StateEntered", "StateExited"
_FORK_EVENT: Final = re.compile("(Map|Parallel)State[A-Z][a-z]+")


@dataclass(slots=True)
class _Entry:
    """One entry of a state; `mark` None: it is open."""

    name: str
    failed: bool = False
    mark: Mark | None = None


class _Reading:
    """Follows events in their order; one whose beginning was not read is passed over."""

    def __init__(self, machine: Machine) -> None:
        self.entries: list[_Entry] = []
        self._machine = machine
        self._of: dict[int, _Entry] = {}
        self._last = 0

    def take(self, event: HistoryEvent) -> None:
        if event.id > self._last + 1:
            self._skip()
        self._last = event.id
        if event.type.startswith("Compensation"):
            self._undo(event)
        else:
            self._go_on(event)

    def _skip(self) -> None:
        """Take it that what was open was left in what was not read; if not, a frame says so."""
        for entry in self.entries:
            entry.mark = entry.mark or Mark.DONE

    def _undo(self, event: HistoryEvent) -> None:
        if event.type == "CompensationSucceeded":
            entry = self._newest(str(event.details["name"]))
            if entry is not None:
                entry.mark = Mark.COMPENSATED

    def _newest(self, name: str | None) -> _Entry | None:
        return next((one for one in reversed(self.entries) if one.name == name), None)

    def _go_on(self, event: HistoryEvent) -> None:
        if event.type.endswith(_ENTERED):
            entry = _Entry(str(event.details["name"]))
            self.entries.append(entry)
            self._of[event.id] = entry
            return
        found = self._entry(event)
        if found is None:
            return
        self._of[event.id] = found
        if event.type.startswith("MapIteration") or event.type.endswith("StateAborted"):
            return  # it names what came before it, and not what it is of
        ended = event.type.endswith(("Failed", "TimedOut"))
        if event.type.endswith(_EXITED):
            found.mark = Mark.CAUGHT if found.failed else Mark.DONE
        elif ended:
            found.failed = True
        elif event.type.endswith(("Scheduled", "StateStarted")):
            found.failed = False
        if _FORK_EVENT.fullmatch(event.type) and (ended or found.mark is not None):
            self._close(found)

    def _entry(self, event: HistoryEvent) -> _Entry | None:
        """Return what an event is of: a fork's own events may follow those of its children."""
        before = self._of.get(event.previous_id)
        if before is None or event.type.startswith("Execution"):
            return None
        fork = _FORK_EVENT.fullmatch(event.type)
        if fork is None:
            return before
        name: str | None = str(event.details.get("name", before.name))
        while name is not None and type(self._machine.state(name)).__name__ != fork[1]:
            name = self._machine.around(name)
        return self._newest(name)

    def _close(self, fork: _Entry) -> None:
        """End what is open in a fork that has ended."""
        for entry in reversed(self.entries):
            if entry is fork:
                break
            if entry.mark is None and self._inside(entry.name, fork.name):
                entry.mark = Mark.FAILED if entry.failed else Mark.CANCELLED

    def _inside(self, name: str, fork: str) -> bool:
        around = self._machine.around(name)
        while around is not None and around != fork:
            around = self._machine.around(around)
        return around is not None


def marks(
    machine: Machine,
    execution: Execution,
    events: Iterable[HistoryEvent],
    frames: Sequence[Frame],
) -> Mapping[str, Mark]:
    """Return the mark of each state that was entered, by its name.

    `events` are in order of id. Where a state was entered more than once, a frame that stands in
    it decides, else its last entry.
    """
    reading = _Reading(machine)
    for event in events:
        reading.take(event)
    found: dict[str, Mark] = {}
    for entry in reading.entries:
        found[entry.name] = entry.mark or _open(machine, execution, entry)
    if execution.phase is not Phase.ENDED:
        for frame in frames:
            mark = _standing(frame)
            if frame.state is not None and mark is not None:
                found[frame.state] = mark
    return found


def _open(machine: Machine, execution: Execution, entry: _Entry) -> Mark:
    """Return the mark of a state that was entered and not left."""
    if entry.failed or isinstance(machine.state(entry.name), Fail):
        return Mark.FAILED
    if execution.status is ExecutionStatus.RUNNING:
        return Mark.RUNNING
    return Mark.DONE if execution.status is ExecutionStatus.SUCCEEDED else Mark.CANCELLED


def _standing(frame: Frame) -> Mark | None:
    """Return the mark of the state in which a frame stands; None: what it did there tells it."""
    undoes = frame.kind is FrameKind.UNDO
    if undoes and frame.status is FrameStatus.FAILED:
        return Mark.BLOCKED
    match frame.rests_on:
        case RestsOn.CHILDREN:
            return None if undoes else Mark.RUNNING
        case RestsOn.TASK if frame.task is not None and frame.task.claimed_by is not None:
            return Mark.RUNNING
        case RestsOn.TASK | RestsOn.CLOCK | RestsOn.CALL | RestsOn.CALLBACK | RestsOn.EXECUTION:
            return Mark.WAITING
        case RestsOn.UNDOING | None:
            return None
