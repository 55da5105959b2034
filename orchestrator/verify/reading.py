"""A history read event by event: each must be one that the definition allows where it stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from orchestrator.asl.machine import Machine
from orchestrator.asl.states import Await, Map, Parallel
from orchestrator.execution.history import Detail, HistoryEvent
from orchestrator.execution.payload import Payload
from orchestrator.verify.legal import following, may_end, may_retry, start_of, state_of
from orchestrator.verify.thread import Attempt, Fork, Thread
from orchestrator.verify.undoing import PREFIX, Undoing

ENDS: Final = {
    "ExecutionSucceeded": "SUCCEEDED",
    "ExecutionFailed": "FAILED",
    "ExecutionTimedOut": "TIMED_OUT",
    "ExecutionAborted": "ABORTED",
}
"""The events that end a history, and the status that they mean."""

_STATE: Final = re.compile(
    "(?P<kind>[A-Z][A-Za-z]*?)State(?P<what>Entered|Exited|Started|Succeeded|Failed|Aborted)"
)
_TASK: Final = re.compile(
    "(Task|LambdaFunction|Activity)(?P<what>Scheduled|Started|Submitted|Succeeded|Failed|TimedOut)"
)
_ITERATION: Final = re.compile("MapIteration(?P<what>Started|Succeeded|Failed|Aborted)")

_RUNS: Final = (Attempt.STARTED,)
_BEFORE: Final = {
    "Started": (Attempt.SCHEDULED,),
    "Submitted": _RUNS,
    "Succeeded": _RUNS,
    "Failed": (Attempt.SCHEDULED, Attempt.STARTED),
    "TimedOut": (Attempt.SCHEDULED, Attempt.STARTED),
}
_AFTER: Final = {
    "Started": Attempt.STARTED,
    "Submitted": Attempt.STARTED,
    "Succeeded": Attempt.SUCCEEDED,
    "Failed": Attempt.FAILED,
    "TimedOut": Attempt.FAILED,
}


class Wrong(Exception):
    """An event that may not stand where it does; the text says why."""


class Reading:
    """One history, as far as it was read."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.root = Thread()
        self.threads: list[Thread] = [self.root]
        self._owner: dict[int, Thread] = {0: self.root}
        self._types: dict[int, str] = {}
        self._forks: dict[int, Fork] = {}
        self._entered_after: dict[tuple[int, str], Thread] = {}
        self.end: HistoryEvent | None = None
        self._undoing = Undoing(machine)

    def take(self, event: HistoryEvent) -> None:
        """Read the next event; raises Wrong."""
        if self.end is not None:
            raise Wrong("the execution had ended")
        if event.previous_id >= event.id or event.previous_id not in self._owner:
            raise Wrong(f"there is no event {event.previous_id} before it")
        self._types[event.id] = event.type
        if event.type.startswith(PREFIX):
            self._owner[event.id] = self.root  # what undoes is no part of the tree
            if (wrong := self._undoing.take(event)) is not None:
                raise Wrong(wrong)
            return
        self._owner[event.id] = self._owner[event.previous_id]  # even if it is wrong
        thread = self._read(event)
        if thread.gone:
            raise Wrong("its fork had ended")
        self._owner[event.id] = thread

    def _read(self, event: HistoryEvent) -> Thread:
        if event.type in ENDS:
            self.end = event
            if event.type == "ExecutionSucceeded":
                self._check_success(event)
            return self.root
        if found := _ITERATION.fullmatch(event.type):
            return self._iteration(event, found["what"])
        if found := _STATE.fullmatch(event.type):
            return self._of_state[found["what"]](self, event, found["kind"])
        if found := _TASK.fullmatch(event.type):
            return self._task(event, found["what"])
        if event.type == "EvaluationFailed":
            return self._evaluation_failed(event)
        if event.type in ("CallAccepted", "TimerFired"):
            return self._taken_on(event)
        return self._owner[event.previous_id]

    def _evaluation_failed(self, event: HistoryEvent) -> Thread:
        """It may name the event before its state's entry."""
        name = str(event.details.get("state"))
        before = self._entered_after.get((event.previous_id, name))
        thread = self._find(event, lambda one: _stands_in(one, None, name)) or before
        if thread is None or not thread.stands:
            raise Wrong(f"nothing stands in {name!r} here")
        return thread

    def _taken_on(self, event: HistoryEvent) -> Thread:
        """A call, or a timer, concerns the thread in the state that it names."""
        name = event.details.get("name")
        thread = self._find(event, lambda one: _stands_in(one, None, name))
        if thread is None or not isinstance(thread.state, Await | Parallel | Map):
            raise Wrong(f"nothing waits in {name!r} here")
        if event.type == "TimerFired" and not isinstance(thread.state, Await):
            raise Wrong(f"{name!r} has no timers")
        if event.type == "CallAccepted" or event.details.get("next") is not None:
            thread.called = True  # a timer that stays leads nowhere
        return thread

    def _check_success(self, event: HistoryEvent) -> None:
        root = self.root
        if root.state is None or not root.left or not may_end(root.state):
            raise Wrong("the execution succeeds in the middle of a state")
        if not _equal(event.details.get("output"), root.output):
            raise Wrong("the output is not that of the last state")

    # -- states --------------------------------------------------------------------------------

    def _entered(self, event: HistoryEvent, kind: str) -> Thread:
        name = str(event.details.get("name"))
        state = state_of(self._machine, name)
        if state is None or type(state).__name__ != kind:
            raise Wrong(f"the definition has no {kind} state {name!r}")
        thread = self._enters(event, name)
        if thread.left and not _equal(event.details.get("input"), thread.output):
            raise Wrong(f"the input of {name!r} is not the output of the state before")
        self._entered_after[event.previous_id, name] = thread
        self._undoing.entered(event)
        thread.state, thread.entry = state, event.id
        thread.attempt, thread.failed, thread.left, thread.fork = Attempt.NONE, False, False, None
        thread.called = False
        return thread

    def _enters(self, event: HistoryEvent, name: str) -> Thread:
        """The thread that enters a state, if it may."""
        fork = self._forks.get(event.previous_id)
        if fork is not None and isinstance(fork.state, Parallel):
            return self._begun(self._child(fork, len(fork.children)), name)
        thread = self._owner[event.previous_id]
        if thread.state is None:
            return self._begun(thread, name)
        if not thread.left:
            raise Wrong(f"{name!r} is entered, but {thread.state.name!r} was not left")
        if name not in following(self._machine, thread.state, failed=thread.failed):
            after = "after its failure" if thread.failed else ""
            raise Wrong(f"{thread.state.name!r} does not lead to {name!r} {after}".rstrip())
        return thread

    def _begun(self, thread: Thread, name: str) -> Thread:
        fork = thread.within
        start: str | None = self._machine.start_at
        if fork is not None:
            start = start_of(fork.state, thread.index)
        if name != start:
            raise Wrong(f"{name!r} is entered first, where {start!r} is the start")
        return thread

    def _exited(self, event: HistoryEvent, kind: str) -> Thread:
        name = event.details.get("name")
        thread = self._find(event, lambda one: _stands_in(one, kind, name))
        if thread is None:
            raise Wrong(f"the {kind} state {name!r} is left, but nothing stands there")
        if thread.attempt in (Attempt.SCHEDULED, Attempt.STARTED):
            raise Wrong(f"{name!r} is left while its task is {thread.attempt}")
        if thread.fork is not None and not thread.called:
            raise Wrong(f"{name!r} is left while its children run")
        if isinstance(thread.state, Await) and not thread.called:
            raise Wrong(f"{name!r} is left, and neither a call nor a timer has led away")
        thread.close_fork()
        thread.failed = thread.failed or thread.attempt is Attempt.FAILED
        thread.left, thread.output = True, event.details.get("output")
        return thread

    # -- tasks ---------------------------------------------------------------------------------

    def _task(self, event: HistoryEvent, what: str) -> Thread:
        thread = self._owner[event.previous_id]
        if not thread.stands or thread.state is None or type(thread.state).__name__ != "Task":
            raise Wrong("no thread stands in a Task state here")
        if what == "Scheduled":
            fresh = thread.attempt is Attempt.NONE
            again = thread.attempt in (Attempt.FAILED, Attempt.SUCCEEDED)
            if not fresh and not (again and may_retry(thread.state)):
                raise Wrong(f"an attempt is scheduled while one is {thread.attempt}")
            thread.attempt = Attempt.SCHEDULED
            return thread
        if thread.attempt not in _BEFORE[what]:
            raise Wrong(f"the attempt is {thread.attempt}")
        thread.attempt = _AFTER[what]
        return thread

    # -- forks ---------------------------------------------------------------------------------

    def _opened(self, event: HistoryEvent, kind: str) -> Thread:
        thread = self._find(event, lambda one: _may_open(one, kind))
        if thread is None or not isinstance(thread.state, Parallel | Map):
            raise Wrong(f"no {kind} state may open a fork here")
        if thread.fork is not None:
            if not may_retry(thread.state):
                raise Wrong(f"{thread.state.name!r} opens its fork again")
            thread.close_fork()
        total = event.details.get("length")
        if isinstance(thread.state, Parallel):
            total = len(thread.state.branches)
        thread.fork = Fork(thread, thread.state, total if isinstance(total, int) else 0)
        self._forks[event.id] = thread.fork
        return thread

    def _joined(self, event: HistoryEvent, kind: str) -> Thread:
        thread = self._find(event, lambda one: _runs_fork(one, kind))
        if thread is None or thread.fork is None:
            raise Wrong(f"no {kind} state has a fork here")
        fork = thread.fork
        if len(fork.children) != fork.total:
            raise Wrong(f"joined with {len(fork.children)} of {fork.total} children")
        running = [index for index, one in fork.children.items() if not _is_done(one, fork)]
        if running:
            raise Wrong(f"joined while child {running[0]} has not ended")
        thread.close_fork()
        return thread

    def _fork_failed(self, event: HistoryEvent, kind: str) -> Thread:
        thread = self._find(event, lambda one: _may_open(one, kind))
        if thread is None:
            raise Wrong(f"nothing stands in a {kind} state here")
        thread.close_fork()
        thread.failed = True
        return thread

    def _aborted(self, event: HistoryEvent, _kind: str) -> Thread:
        """It names what failed elsewhere, and not whom it concerns."""
        return self._find(event, lambda one: not one.gone) or self.root

    _of_state: Final[dict[str, Callable[[Reading, HistoryEvent, str], Thread]]] = {
        "Entered": _entered,
        "Exited": _exited,
        "Started": _opened,
        "Succeeded": _joined,
        "Failed": _fork_failed,
        "Aborted": _aborted,
    }

    def _iteration(self, event: HistoryEvent, what: str) -> Thread:
        name, index = event.details.get("name"), event.details.get("index")
        if not isinstance(index, int):
            raise Wrong("an iteration without an index")
        if what == "Aborted":
            return self._aborted(event, "Map")
        if what == "Started":
            thread = self._find(event, lambda one: _runs_fork(one, "Map", name) and not one.gone)
            if thread is None or thread.fork is None:
                raise Wrong(f"no fork of {name!r} is open here")
            return self._child(thread.fork, index)
        child = self._find(event, lambda one: _is_iteration(one, name, index))
        if child is None or child.over:
            raise Wrong(f"iteration {index} of {name!r} does not run here")
        if what == "Succeeded" and not child.left:
            raise Wrong(f"iteration {index} succeeds in the middle of a state")
        child.over, child.failed = True, what == "Failed"
        return child

    def _child(self, fork: Fork, index: int) -> Thread:
        if index in fork.children or not 0 <= index < fork.total:
            raise Wrong(f"child {index} of {fork.total} begins once more, or is none of them")
        child = fork.children[index] = Thread(within=fork, index=index)
        self.threads.append(child)
        return child

    def _find(self, event: HistoryEvent, wanted: Callable[[Thread], bool]) -> Thread | None:
        return next(filter(wanted, self._owner[event.previous_id].upwards()), None)


def _may_open(thread: Thread, kind: str) -> bool:
    """Whether it stands in a fork's state and has not given it up."""
    return thread.stands and not thread.failed and type(thread.state).__name__ == kind


def _stands_in(thread: Thread, kind: str | None, name: Detail | None) -> bool:
    state = thread.state
    if state is None or not thread.stands:
        return False
    return kind in (None, type(state).__name__) and state.name == name


def _runs_fork(thread: Thread, kind: str, name: Detail | None = None) -> bool:
    if thread.fork is None or type(thread.fork.state).__name__ != kind:
        return False
    return name is None or thread.fork.state.name == name


def _is_iteration(thread: Thread, name: Detail | None, index: int) -> bool:
    return thread.within is not None and thread.within.state.name == name and thread.index == index


def _is_done(thread: Thread, fork: Fork) -> bool:
    if isinstance(fork.state, Map):
        return thread.over
    return thread.left and thread.state is not None and may_end(thread.state)


def _equal(one: Detail | None, other: Detail | None) -> bool:
    if isinstance(one, Payload) and isinstance(other, Payload):
        return one.text == other.text
    return one == other


def standing(threads: Sequence[Thread]) -> list[Thread]:
    """Return the threads that stand in a state."""
    return [one for one in threads if one.stands]
