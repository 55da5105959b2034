"""What a saga does to the world, predicted: a second reading of what undoing means.

Nothing of the engine is imported here. A saga is a sequence of nodes; a trace is a list of effects
and of `Beside`, whose threads may happen in any order among each other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeAlias


@dataclass(frozen=True)
class Step:
    """A Task that fails the first so many times that it is called."""

    name: str
    undo: bool = False
    pivot: bool = False
    fails: int = 0
    catch: str | None = None
    """`undo` or `keep`: as it registers nothing if it fails, they are the same."""


@dataclass(frozen=True)
class Undo:
    """A Compensate state."""

    name: str


@dataclass(frozen=True)
class Park:
    """A Wait that nobody waits for: a branch that goes no further."""

    name: str


@dataclass(frozen=True)
class Fork:
    """A Parallel of branches, or a Map of one branch and `items`; only in `weak` do Tasks fail."""

    name: str
    branches: tuple[Saga, ...]
    items: int = 0
    weak: int = 0
    undo: bool = False
    retry: bool = False
    catch: str | None = None
    """`undo` or `keep`; None: nothing catches its failure."""


Saga: TypeAlias = tuple["Step | Undo | Park | Fork", ...]


@dataclass(frozen=True)
class Beside:
    """Threads that run side by side."""

    threads: tuple[Trace, ...]


Trace: TypeAlias = list["str | Beside"]


class End(Enum):
    """How a sequence ends."""

    DONE = "done"
    FAILED = "failed"
    PARKED = "parked"


@dataclass
class Model:
    """Runs a saga; `at` tells iterations apart. It also notes which calls fail, and after what."""

    calls: Counter[str] = field(default_factory=Counter)
    failing: dict[tuple[str, int], Counter[str]] = field(default_factory=dict)

    def predict(self, saga: Saga) -> tuple[Trace, End]:
        trace, pending, end = self.sequence(saga, "", weak=True)
        return (trace + pending[::-1] if end is End.FAILED else trace), end

    def sequence(self, saga: Saga, at: str, *, weak: bool) -> tuple[Trace, Trace, End]:
        """What happens, what is pending at the end, oldest first, and how it ends."""
        trace: Trace = []
        pending: Trace = []
        for node in saga:
            match node:
                case Undo():
                    trace, pending = trace + pending[::-1], []
                case Park():
                    return trace, pending, End.PARKED
                case Step() if self._fails(node, node.name + at, weak=weak):
                    if node.catch is None:
                        return trace, pending, End.FAILED
                case Step():
                    trace = [*trace, f"do {node.name}{at}"]
                    pending = [] if node.pivot else pending
                    pending = [*pending, f"undo {node.name}{at}"] if node.undo else pending
                case Fork():
                    done, left, end = self.fork(node, at, weak=weak)
                    trace, pending = trace + done, pending + left
                    if end is not End.DONE:
                        return trace, pending, end
        return trace, pending, End.DONE

    def fork(self, fork: Fork, at: str, *, weak: bool) -> tuple[Trace, Trace, End]:
        trace: Trace = []
        undoing: Trace = []
        for again in (True, False) if fork.retry else (False,):
            threads = self._threads(fork, at, weak=weak)
            ends = {end for _, _, end in threads}
            trace.append(Beside(tuple(done for done, _, _ in threads)))
            undoing = [Beside(tuple(pending[::-1] for _, pending, _ in threads))]
            if End.FAILED not in ends:
                left: Trace = [f"undo {fork.name}{at}"] if fork.undo else undoing
                return (
                    (trace, undoing, End.PARKED) if End.PARKED in ends else (trace, left, End.DONE)
                )
            trace += undoing if again or fork.catch == "undo" else []
        left = [] if fork.catch == "undo" else undoing
        return trace, left, End.DONE if fork.catch else End.FAILED

    def _threads(self, fork: Fork, at: str, *, weak: bool) -> list[tuple[Trace, Trace, End]]:
        """What each branch or iteration does; the one that may fail comes last."""
        count = fork.items or len(fork.branches)
        found = {}
        for n in sorted(range(count), key=lambda n: n == fork.weak):
            saga = fork.branches[0 if fork.items else n]
            where = f"{at}#{n}" if fork.items else at
            found[n] = self.sequence(saga, where, weak=weak and n == fork.weak)
        return [found[n] for n in range(count)]

    def _fails(self, step: Step, name: str, *, weak: bool) -> bool:
        before = Counter(self.calls)
        self.calls[name] += 1
        if not weak or self.calls[name] > step.fails:
            return False
        self.failing[name, self.calls[name]] = before
        return True


# --------------------------------------------------------------------------------- comparing


def agrees(trace: Trace, seen: list[str]) -> bool:
    """Whether effects have happened as predicted, threads in any order among each other."""
    rest = list(seen)
    for one in trace:
        if isinstance(one, str):
            if rest[:1] != [one]:
                return False
            rest = rest[1:]
            continue
        among, rest = rest[: size([one])], rest[size([one]) :]
        for thread in one.threads:
            names = set(flat(thread))
            if not agrees(thread, [name for name in among if name in names]):
                return False
        if Counter(among) != Counter(flat([one])):
            return False
    return not rest


def flat(trace: Trace) -> list[str]:
    """All effects of a trace."""
    found = []
    for one in trace:
        if isinstance(one, str):
            found.append(one)
        else:
            found += [name for thread in one.threads for name in flat(thread)]
    return found


def size(trace: Trace) -> int:
    """How many effects a trace has."""
    return len(flat(trace))


def without_parks(saga: Saga) -> Saga:
    """The same saga whose branches all go on."""
    return tuple(
        replace(node, branches=tuple(map(without_parks, node.branches)))
        if isinstance(node, Fork)
        else node
        for node in saga
        if not isinstance(node, Park)
    )
