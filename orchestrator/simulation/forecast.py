"""What must have been undone, and in which order: foretold from what was done.

A second reading of what undoing means. It knows the history, the definition, and in which frames
handlers ran; of how the engine undoes it knows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Final

from orchestrator.asl.machine import Machine
from orchestrator.asl.states import Map, Parallel, Task
from orchestrator.execution.compensation import Undoing
from orchestrator.execution.frame import Execution, ExecutionStatus
from orchestrator.execution.history import HistoryEvent

LOST: Final = frozenset({"Task.WorkerLost", "Task.DeliveriesSpent", "Lambda.ServiceException"})
"""Not Lambda.Unknown: the functions of these machines run at least once, so it is a bad result."""
_OF_TASKS: Final = ("Task", "LambdaFunction")
_OVER: Final = ("CompensationSucceeded", "CompensationSkipped")


class Fate(StrEnum):
    """Whether something is undone."""

    SURELY = "it is undone"
    NEVER = "it is not undone"
    PERHAPS = "it may be undone"


class Forecast:
    """What becomes of what one execution has done; `frames`: where the handlers of entries ran."""

    def __init__(
        self,
        machine: Machine,
        execution: Execution,
        history: Sequence[HistoryEvent],
        frames: dict[int, str],
    ) -> None:
        self._machine = machine
        self._execution = execution
        self._history = history
        self._handlers = frames

    @cached_property
    def _frames(self) -> dict[int, str]:
        """Where the entries of Tasks stood, and those of the forks around them."""
        forks = {fork: frame for entry in self._handlers for fork, _, frame in self._around(entry)}
        return forks | self._handlers

    def faults(self) -> Iterator[str]:
        """Yield what is otherwise than foretold."""
        yield from self._field()
        yield from self._order()
        for entry in self._frames:
            fate = self._fate(entry)
            if fate is not Fate.PERHAPS and (fate is Fate.SURELY) != (entry in self._undone):
                yield f"the entry {entry} of {self._name(entry)}: {fate}, should it be foretold"

    def _field(self) -> Iterator[str]:
        found = self._execution.undoing
        begun = any(event.type.startswith("Compensation") for event in self._history)
        if found in (Undoing.RUNNING, Undoing.BLOCKED) or (begun and found is Undoing.NONE):
            yield f"its compensation is {found} at the end"

    # -- what was undone -------------------------------------------------------------------------

    @cached_property
    def _begun(self) -> dict[int, int]:
        """When the undoing of an entry was scheduled first."""
        found: dict[int, int] = {}
        for event in self._history:
            if event.type == "CompensationScheduled":
                found.setdefault(_number(event.details["undoes"]), event.id)
        return found

    @cached_property
    def _undone(self) -> dict[int, int]:
        """When the undoing of an entry was over."""
        return {_number(e.details["undoes"]): e.id for e in self._history if e.type in _OVER}

    def _order(self) -> Iterator[str]:
        """What stands in one thread is undone newest first."""
        for newer, over in self._undone.items():
            for older, begun in self._begun.items():
                if older < newer < begun < over and self._follow(older, newer):
                    yield f"the entry {older} was undone before {newer}, which is newer"

    def _follow(self, older: int, newer: int) -> bool:
        """Tell whether two entries are known to be none of threads side by side."""
        if older not in self._frames or newer not in self._frames:
            return False
        one, other = (self._frames[entry].split("/") for entry in (older, newer))
        differing = next(((a, b) for a, b in zip(one, other, strict=False) if a != b), None)
        return differing is None or differing[0].split(".")[0] != differing[1].split(".")[0]

    # -- what is to be undone --------------------------------------------------------------------

    def _fate(self, entry: int) -> Fate:
        """What becomes of what was done in one entry."""
        done = self._done(entry)
        if done is Fate.NEVER:
            return Fate.NEVER
        dropped = self._dropped(entry)
        if dropped is not None:
            late = self._begun.get(entry, 0) > dropped
            return Fate.NEVER if late else Fate.PERHAPS
        if self._execution.undoing is Undoing.ABANDONED:
            return Fate.PERHAPS
        if self._execution.status is not ExecutionStatus.SUCCEEDED:
            return done
        return self._on_the_way(entry, done)

    def _on_the_way(self, entry: int, done: Fate) -> Fate:
        """What was undone before the execution has succeeded all the same."""
        fates = {self._caught(entry)}
        for fork, start, _ in self._forks(entry):
            fates |= {self._retried(fork, start), self._caught(fork)}
        if Fate.SURELY in fates:
            return done
        return Fate.PERHAPS if Fate.PERHAPS in fates else Fate.NEVER

    def _done(self, entry: int) -> Fate:
        """Whether what was done has become something that can be undone."""
        state = self._machine.state(self._name(entry))
        if not isinstance(state, Task | Parallel | Map) or state.compensate is None:
            return Fate.NEVER
        if not isinstance(state, Task):
            well = entry in self._exits and not self._was_caught(entry)
            return Fate.SURELY if well else Fate.NEVER
        events = self._events.get(entry, [])
        if any(event.type.endswith("Succeeded") for event in events):
            return Fate.NEVER if state.pivot else Fate.SURELY
        silent = any(
            before.type.endswith("Started")
            and (event.type.endswith("TimedOut") or event.details.get("error") in LOST)
            for before, event in pairwise(events)
        )
        if events and events[-1].type.endswith("Scheduled"):
            return Fate.PERHAPS  # cancelled: what its handler has reported is nowhere told
        return Fate.SURELY if silent and state.compensate_unknown else Fate.NEVER

    @cached_property
    def _events(self) -> dict[int, list[HistoryEvent]]:
        """The events of the attempts of each entry."""
        found: dict[int, list[HistoryEvent]] = {}
        for event in self._history:
            if event.type.startswith(_OF_TASKS) and not event.type.startswith("TaskState"):
                entry = self._before(event, None)
                if entry is not None:
                    found.setdefault(entry, []).append(event)
        return found

    def _dropped(self, entry: int) -> int | None:
        """When an entry was dropped: by a pivot, or by what undoes a fork around it."""
        for event in self._history[entry:]:
            if event.type.startswith(_OF_TASKS) and event.type.endswith("Succeeded"):
                by = self._before(event, None)
                state = None if by is None else self._machine.state(self._name(by))
                if isinstance(state, Task) and state.pivot:
                    return event.id
        replaced = [
            self._exits[fork]
            for fork, start, _ in self._forks(entry)
            if self._done(fork) is Fate.SURELY and self._retried(fork, start) is not Fate.SURELY
        ]
        return min(replaced, default=None)

    def _forks(self, entry: int) -> Iterator[tuple[int, int, str]]:
        """Yield the forks around an entry, be it that of a fork itself."""
        if entry in self._handlers:
            yield from self._around(entry)
            return
        inner = next(one for one in self._handlers if entry in {f for f, _, _ in self._around(one)})
        passed = False
        for fork in self._around(inner):
            if passed:
                yield fork
            passed = passed or fork[0] == entry

    # -- forks -----------------------------------------------------------------------------------

    def _around(self, entry: int) -> Iterator[tuple[int, int, str]]:
        """Yield the forks around an entry, innermost first: entry, start and frame of each."""
        name: str | None = self._name(entry)
        parts = self._handlers.get(entry, "").split("/")
        for depth in range(len(parts) - 1, 0, -1):
            name = None if name is None else self._machine.around(name)
            start = int(parts[depth].split(".")[0])
            fork = None if name is None else self._before(self._history[start - 1], name)
            if fork is None:
                return
            yield fork, start, "/".join(parts[:depth])

    @cached_property
    def _exits(self) -> dict[int, int]:
        """When an entry was left."""
        found = {}
        for event in self._history:
            if event.type.endswith("StateExited"):
                entry = self._before(event, str(event.details["name"]))
                if entry is not None:
                    found[entry] = event.id
        return found

    @cached_property
    def _starts(self) -> dict[int, int]:
        """Of which entry an attempt of a fork was, if a handler ran in it."""
        return {start: fork for entry in self._handlers for fork, start, _ in self._around(entry)}

    def _retried(self, fork: int, start: int) -> Fate:
        """Whether an attempt of a fork was not its last, so that all in it was undone."""
        what, name = self._history[start - 1].type, self._name(fork)
        later = [
            event.id
            for event in self._history[start:]
            if event.type == what and self._before(event, name) == fork
            if not self._history[event.previous_id - 1].type.endswith("StateEntered")
        ]
        if fork in {self._starts.get(one) for one in later}:
            return Fate.SURELY
        return Fate.PERHAPS if any(one not in self._starts for one in later) else Fate.NEVER

    def _caught(self, entry: int) -> Fate:
        """Whether an entry has failed, and a Catcher has had undone what it had done."""
        if not self._was_caught(entry):
            return Fate.NEVER
        state = self._machine.state(self._name(entry))
        catchers = state.catch if isinstance(state, Task | Parallel | Map) else ()
        undoing = {catcher.compensate for catcher in catchers}
        if len(undoing) > 1:
            return Fate.PERHAPS
        return Fate.SURELY if True in undoing else Fate.NEVER

    def _was_caught(self, entry: int) -> bool:
        left = self._exits.get(entry)
        if left is None:
            return False
        if not isinstance(self._machine.state(self._name(entry)), Task):
            # It is left at once when it is joined, whatever it has tolerated.
            return not self._history[left - 2].type.endswith("StateSucceeded")
        before = self._history[self._history[left - 1].previous_id - 1]
        return before.type.endswith(("Failed", "TimedOut"))

    # -- reading ---------------------------------------------------------------------------------

    def _name(self, entry: int) -> str:
        return str(self._history[entry - 1].details["name"])

    def _before(self, event: HistoryEvent, name: str | None) -> int | None:
        """Find the entry to which an event leads back, or the one of the state of that name."""
        while event.previous_id:
            event = self._history[event.previous_id - 1]
            if event.type.endswith("StateEntered") and name in (None, event.details["name"]):
                return event.id
        return None


def _number(detail: object) -> int:
    return detail if isinstance(detail, int) else 0
