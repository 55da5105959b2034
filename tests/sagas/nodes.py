"""Sagas as the tests write them down, and what is told of them. Knows no engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias


@dataclass(frozen=True)
class Step:
    """A Task that fails the first so many times that it is called."""

    name: str
    undo: bool = False
    pivot: bool = False
    fails: int = 0
    retry: bool = False
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
    """A Parallel, or a Map whose iterations differ only in which of their Tasks fail."""

    name: str
    branches: tuple[Saga, ...]
    weak: int = 0
    """The one branch whose Tasks may fail: the others come first, as far as they go."""
    is_map: bool = False
    undo: bool = False
    pivot: bool = False
    """Never: only a Task can be one."""
    retry: bool = False
    catch: str | None = None
    """`undo` or `keep`; None: nothing catches its failure."""

    @property
    def threads(self) -> Iterator[tuple[Saga, str]]:
        """Each branch, and what tells iterations apart; the weak one comes last."""
        for n in sorted(range(len(self.branches)), key=lambda n: n == self.weak):
            yield self.branches[n], f"#{n}" if self.is_map else ""


Node: TypeAlias = "Step | Undo | Park | Fork"
Saga: TypeAlias = tuple[Node, ...]


class End(IntEnum):
    """How a sequence of nodes ends; threads end together as the worst of them."""

    DONE = 0
    PARKED = 1
    FAILED = 2


@dataclass(frozen=True)
class Beside:
    """Threads that run side by side."""

    threads: tuple[Trace, ...]


Trace: TypeAlias = list["str | Beside"]
"""Effects in their order; those of threads may happen in any order among each other."""
Told: TypeAlias = tuple[Trace, Trace, End]
"""What happens, what undoes it and is pending then, oldest first, and how it ends."""


def agrees(trace: Trace, seen: list[str]) -> bool:
    """Whether effects have happened as predicted."""
    rest = list(seen)
    for one in trace:
        among, rest = rest[: len(flat([one]))], rest[len(flat([one])) :]
        if Counter(among) != Counter(flat([one])):
            return False
        for thread in () if isinstance(one, str) else one.threads:
            names = set(flat(thread))
            if not agrees(thread, [name for name in among if name in names]):
                return False
    return not rest


def flat(trace: Trace) -> list[str]:
    """All effects of a trace, thread by thread."""
    found = []
    for one in trace:
        if isinstance(one, str):
            found.append(one)
        else:
            found += [name for thread in one.threads for name in flat(thread)]
    return found
