"""The order of undoing: what is undone when a state fails, or undoes, read from the definition.

What stands here has been done on the ways that lead to a state, newest first. What lies on some of
them only is marked as in doubt, and so is what other branches may have done by then: all ways are
told at once, since there may be more of them than could be listed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from orchestrator.asl.document import Json
from orchestrator.asl.errors import ALL
from orchestrator.asl.machine import Machine, branches_of
from orchestrator.asl.pending import Part, Pending, Scope, Work, read_scope, registers_inside
from orchestrator.asl.readings import readings
from orchestrator.asl.states import Branch, Compensate, Map, Parallel, Pass, State, Succeed, Task
from orchestrator.asl.states.fields import ALL_OF_IT, WHOLE

MOST_STEPS: Final = 100
"""Steps that are listed of one outcome."""
MOST_CATCHERS: Final = 20
"""Catchers that are listed of one failure."""
MOST_STEPS_IN_ALL: Final = 20_000
"""Steps that are listed of all outcomes of a machine."""

EACH: Final = "each iteration"
THIS: Final = "the iteration that failed"
OTHER: Final = "each other iteration"


class Doubt(StrEnum):
    """Why a step may turn out to be none."""

    NONE = "none"
    OTHER_WAY = "other way"
    """It is undone if it was done: other ways lead here as well, or it runs beside."""
    UNKNOWN = "unknown"
    """It is undone if nobody knows whether it was done."""
    EITHER = "either"
    """It is undone if it was done, or if nobody knows."""


@dataclass(frozen=True, slots=True)
class Undo:
    """One compensation; `resource` None: what an execution that the state started has to undo."""

    state: str
    resource: str | None
    doubt: Doubt


@dataclass(frozen=True, slots=True)
class Thread:
    """What one branch undoes, newest first; `label` says which iterations of a Map it is."""

    label: str | None
    steps: Steps


@dataclass(frozen=True, slots=True)
class Beside:
    """One fork, its branches undone side by side; `most` at once, None: all."""

    state: str
    threads: tuple[Thread, ...]
    most: int | None
    doubt: Doubt


@dataclass(frozen=True, slots=True)
class Rounds:
    """A loop: each of these as often as it was done, newest first; `loop` tells loops apart."""

    loop: int
    steps: Steps


@dataclass(frozen=True, slots=True)
class More:
    """So many steps are not listed."""

    count: int


Step: TypeAlias = Undo | Beside | Rounds | More
Steps: TypeAlias = tuple[Step, ...]


class Then(StrEnum):
    """What follows the undoing."""

    END = "end"
    NEXT = "next"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is undone, newest first, and what follows.

    NEXT: the state `at` (the failed one, or one around it) catches `errors` and leads to `next`; a
    Compensate state leads there without errors. RETRY: it is tried again. END: nothing catches it,
    and the execution ends.
    """

    then: Then
    at: str | None
    errors: tuple[str, ...]
    next: str | None
    steps: Steps


@dataclass(frozen=True, slots=True)
class Failure:
    """A state in which an execution can fail, be stopped or run out of time, or one that undoes.

    `left_out` is the number of Catchers that are not listed.
    """

    state: str
    kind: str
    outcomes: tuple[Outcome, ...]
    left_out: int

    @property
    def value(self) -> Json:
        """As JSON."""
        return {
            "state": self.state,
            "type": self.kind,
            "outcomes": [
                {
                    "then": one.then.value,
                    "at": one.at,
                    "errors": list(one.errors),
                    "next": one.next,
                    "undone": [_value(step) for step in one.steps],
                }
                for one in self.outcomes
            ],
            "leftOut": self.left_out,
        }


def _value(step: Step) -> Json:
    match step:
        case Undo():
            return {"state": step.state, "resource": step.resource, "doubt": step.doubt.value}
        case Beside():
            threads: list[Json] = [
                {"label": one.label, "undone": [_value(inner) for inner in one.steps]}
                for one in step.threads
            ]
            doubt = step.doubt.value
            return {"state": step.state, "beside": threads, "most": step.most, "doubt": doubt}
        case Rounds():
            return {"rounds": [_value(inner) for inner in step.steps]}
        case More():
            return {"more": step.count}


def order_of_undoing(machine: Machine) -> tuple[Failure, ...]:
    """Tell what is undone in each state that fails, or that undoes, in the order of the text."""
    reader = _Reader(machine)
    return tuple(reader.failures(Branch(machine.start_at, machine.states)))


def can_undo(state: State) -> bool:
    """Tell whether something can be undone in a state.

    Whatever works, waits or chooses can fail; a Pass or a Succeed only if it evaluates something.
    """
    if isinstance(state, Pass | Succeed):
        return any(reading not in (WHOLE, ALL_OF_IT) for reading in readings(state))
    return True


class _Reader:
    """Reads a machine, each scope once, and keeps within what may be listed."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._scopes: dict[str, Scope] = {}
        """By the state with which a scope starts: no other scope has one of its name."""
        self._allowed = self._catchers = self._left_out = 0
        self._left = MOST_STEPS_IN_ALL

    def failures(self, branch: Branch) -> Iterator[Failure]:
        """Read a scope, and those inside."""
        for state in branch.states.values():
            if can_undo(state):
                yield self._failure(state)
            for inner in branches_of(state):
                yield from self.failures(inner)

    def _failure(self, state: State) -> Failure:
        self._allowed, self._catchers, self._left_out = MOST_STEPS, MOST_CATCHERS, 0
        outcomes = tuple(self._outcomes(state))
        return Failure(state.name, type(state).__name__, outcomes, self._left_out)

    def _outcomes(self, state: State) -> Iterator[Outcome]:
        """What can follow, from the state itself outwards."""
        if isinstance(state, Compensate):
            steps = self._listed(self._before(state))
            yield Outcome(Then.NEXT, state.name, (), state.next, steps)
            return
        steps = self._own(state)
        caught = yield from self._met(state, steps)
        steps += self._before(state)
        while (fork := self._fork_around(state)) is not None:
            steps = self._around(fork, state, steps)
            if not caught:
                caught = yield from self._met(fork, steps)
            steps += self._before(fork)
            state = fork
        yield Outcome(Then.END, None, (), None, self._listed(steps))

    def _met(self, state: State, steps: Steps) -> Generator[Outcome, None, bool]:
        """How a state meets its failure; whether it catches every error."""
        if not isinstance(state, Task | Parallel | Map):
            return False
        if state.retry and steps and not isinstance(state, Task):
            errors = tuple(dict.fromkeys(name for one in state.retry for name in one.error_equals))
            yield Outcome(Then.RETRY, state.name, errors, None, self._listed(steps))
        for catcher in state.catch[: self._catchers]:
            undone = self._listed(steps) if catcher.compensate else ()
            yield Outcome(Then.NEXT, state.name, catcher.error_equals, catcher.next, undone)
        self._left_out += max(0, len(state.catch) - self._catchers)
        self._catchers = max(0, self._catchers - len(state.catch))
        return any(ALL in catcher.error_equals for catcher in state.catch)

    def _listed(self, steps: Steps) -> Steps:
        """The steps, or their number once enough has been listed."""
        size = sum(map(_size, steps))
        if size > self._left:
            return (More(size),)
        self._left -= size
        return steps

    # -- what is undone --------------------------------------------------------------------------

    def _own(self, state: State) -> Steps:
        """What a state that fails has registered, itself or in its branches."""
        match state:
            case Task() if state.compensate_unknown:
                return (_undo(state, Doubt.UNKNOWN),)
            case Parallel() | Map():
                return self._begun(state)
            case _:
                return ()

    def _before(self, state: State) -> Steps:
        """What is pending in its frame when a state is entered."""
        scope = self._scope(self._machine.scope_of(state.name))
        return self._steps(scope, scope.at[state.name])

    def _begun(self, fork: Parallel | Map) -> Steps:
        """What the branches of a fork may have done by any time."""
        label = EACH if isinstance(fork, Map) else None
        threads = [Thread(label, self._ever(fork, inner)) for inner in branches_of(fork)]
        return _beside(fork, threads, Doubt.NONE)

    def _done(self, fork: Parallel | Map, doubt: Doubt) -> Steps:
        """What the branches of a fork have done that has succeeded."""
        if isinstance(fork, Map) and _tolerates(fork):
            return self._begun(fork)
        threads = []
        for inner in branches_of(fork):
            scope = self._scope(inner)
            label = EACH if isinstance(fork, Map) else None
            threads.append(Thread(label, self._steps(scope, scope.end)))
        return _beside(fork, threads, doubt)

    def _around(self, fork: Parallel | Map, state: State, steps: Steps) -> Steps:
        """What a fork undoes in one of whose branches a state has failed that undoes `steps`."""
        if isinstance(fork, Map):
            others = Thread(OTHER, self._ever(fork, fork.processor))
            return _beside(fork, [Thread(THIS, steps), others], Doubt.NONE)
        failed = self._machine.scope_of(state.name).start_at
        threads = [
            Thread(None, steps if inner.start_at == failed else self._ever(fork, inner))
            for inner in branches_of(fork)
        ]
        return _beside(fork, threads, Doubt.NONE)

    def _ever(self, fork: Parallel | Map, branch: Branch) -> Steps:
        if not registers_inside(fork):
            return ()
        scope = self._scope(branch)
        return self._steps(scope, scope.all)

    def _steps(self, scope: Scope, pending: Pending) -> Steps:
        """What is pending, newest first; a loop is one step."""
        steps: list[Step] = []
        left = pending.may
        while left and self._allowed > 0:
            newest = left.bit_length() - 1
            left ^= 1 << newest
            work = scope.works[newest]
            doubt = Doubt.NONE if pending.sure >> newest & 1 else Doubt.OTHER_WAY
            if work.part is Part.UNKNOWN:
                doubt = Doubt.UNKNOWN
            if left & _twin(scope, newest):
                left ^= _twin(scope, newest)
                doubt = Doubt.EITHER
            made = self._work(work, doubt)
            last = steps[-1] if steps else None
            if work.loop is None:
                steps += made
            elif isinstance(last, Rounds) and last.loop == work.loop:
                steps[-1] = Rounds(work.loop, (*last.steps, *made))
            else:
                steps.append(Rounds(work.loop, made))
        if left:
            steps.append(More(left.bit_count()))
        return tuple(steps)

    def _work(self, work: Work, doubt: Doubt) -> Steps:
        self._allowed -= 1
        state = self._machine.state(work.state)
        match state:
            case Task():
                return (_undo(state, doubt),)
            case Parallel() | Map() if work.part is Part.BEGUN:
                return self._begun(state)
            case Parallel() | Map() if state.compensate is not None:
                return (_undo(state, doubt),)
            case Parallel() | Map():
                return self._done(state, doubt)
            case _:
                return ()

    def _scope(self, branch: Branch) -> Scope:
        found = self._scopes.get(branch.start_at)
        if found is None:
            found = self._scopes[branch.start_at] = read_scope(self._machine, branch)
        return found

    def _fork_around(self, state: State) -> Parallel | Map | None:
        name = self._machine.around(state.name)
        found = None if name is None else self._machine.state(name)
        return found if isinstance(found, Parallel | Map) else None


def _twin(scope: Scope, number: int) -> int:
    """Return the bit of what the same state leaves on other ways: it succeeds, or it fails."""
    work, before = scope.works[number], scope.works[number - 1]
    same = number > 0 and (work.state, work.loop) == (before.state, before.loop)
    return 1 << number - 1 if same else 0


def _undo(state: Task | Parallel | Map, doubt: Doubt) -> Undo:
    compensate = state.compensate
    return Undo(state.name, None if compensate is None else compensate.resource.text, doubt)


def _beside(fork: Parallel | Map, threads: Sequence[Thread], doubt: Doubt) -> Steps:
    filled = tuple(thread for thread in threads if thread.steps)
    if not filled:
        return ()
    bound = fork.max_concurrency if isinstance(fork, Map) else 0
    most = bound if isinstance(bound, int) and bound > 0 else None
    return (Beside(fork.name, filled, most, doubt),)


def _tolerates(fork: Map) -> bool:
    """Tell whether iterations of a Map that has succeeded may have failed."""
    bounds = (
        fork.tolerated_failure_count,
        fork.tolerated_failure_count_path,
        fork.tolerated_failure_percentage,
        fork.tolerated_failure_percentage_path,
    )
    return any(bounds)


def _size(step: Step) -> int:
    match step:
        case Undo() | More():
            return 1
        case Beside():
            return 1 + sum(_size(inner) for thread in step.threads for inner in thread.steps)
        case Rounds():
            return 1 + sum(map(_size, step.steps))
