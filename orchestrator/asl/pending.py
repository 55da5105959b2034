"""What can be pending, state by state: the work that an ending would undo there.

A reading of one scope, in time that grows with its transitions, whatever they are: it follows no
ways, of which there may be more than anybody could follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from orchestrator.asl.answering import targets
from orchestrator.asl.machine import Machine, branches_of
from orchestrator.asl.states import (
    Await,
    Branch,
    Choice,
    Compensate,
    Fail,
    Map,
    Parallel,
    Pass,
    State,
    Succeed,
    Task,
    Wait,
)

END: Final = ""
"""Where a scope ends that has succeeded; states have names of at least one character."""


class Part(IntEnum):
    """Which part of a state's work is pending."""

    DONE = 0
    """All of it: the state has succeeded."""
    UNKNOWN = 1
    """A Task has failed, and nobody knows whether it has happened."""
    BEGUN = 2
    """What the branches of a fork have done that has come to no success."""


@dataclass(frozen=True, slots=True)
class Work:
    """Something that can be pending; `loop` numbers the loop in which it is done again."""

    state: str
    part: Part
    loop: int | None


@dataclass(frozen=True, slots=True)
class Pending:
    """What is pending at one place: bits of `Scope.works`. What is `sure` is so on every way."""

    may: int
    sure: int


NOTHING = Pending(0, 0)


@dataclass(frozen=True, slots=True)
class Scope:
    """What can be pending in one scope; `works` are in the order in which they are done."""

    works: tuple[Work, ...]
    at: Mapping[str, Pending]
    """By state: when it is entered."""
    end: Pending
    """When the scope has succeeded."""

    @property
    def all(self) -> Pending:
        """Whatever may be pending at any time."""
        return Pending((1 << len(self.works)) - 1, 0)


def read_scope(machine: Machine, branch: Branch) -> Scope:
    """Read what can be pending in a scope."""
    edges = [edge for state in branch.states.values() for edge in _edges(machine, state)]
    parts = _components(branch, edges)
    works = _works(branch, edges, parts)
    flow = _Flow(parts, {(work.state, work.part): 1 << n for n, work in enumerate(works)})
    flow.begin_at(branch.start_at)
    for edge in edges:
        if edge.clears:
            flow.begin_at(edge.target)
    for edge in sorted(edges, key=flow.place):
        flow.follow(edge)
    at = {name: flow.pending(name) for name in branch.states}
    return Scope(works, MappingProxyType(at), flow.pending(END))


def registers(state: State) -> bool:
    """Tell whether anything can be pending of a state that has succeeded."""
    match state:
        case Task():
            return state.compensate is not None or state.adopts
        case Parallel() | Map():
            return state.compensate is not None or registers_inside(state)
        case Pass() | Choice() | Wait() | Await() | Compensate() | Succeed() | Fail():
            return False


def registers_inside(fork: Parallel | Map) -> bool:
    """Tell whether anything can be pending of the branches of a fork.

    A distributed Map runs as an inline fork: what its iterations have done is its own to undo.
    """
    return any(registers(state) for inner in branches_of(fork) for state in inner.states.values())


# ------------------------------------------------------------------------------- the ways


@dataclass(frozen=True, slots=True)
class _Edge:
    """A transition, and what it leaves pending; one that `clears` leaves nothing at all."""

    source: str
    target: str
    leaves: Part | None = None
    clears: bool = False


def _edges(machine: Machine, state: State) -> Iterator[_Edge]:
    name = state.name
    match state:
        case Task() | Parallel() | Map():
            yield from _edges_of_work(machine, state)
        case Compensate():
            yield _Edge(name, state.next or END, clears=True)
        case Pass() | Wait():
            yield _Edge(name, state.next or END)
        case Choice() | Await():
            yield from (_Edge(name, target) for target in targets(machine, state))
        case Succeed():
            yield _Edge(name, END)
        case Fail():
            return


def _edges_of_work(machine: Machine, state: Task | Parallel | Map) -> Iterator[_Edge]:
    if isinstance(state, Task) and state.pivot:
        yield _Edge(state.name, state.next or END, clears=True)
    else:
        done = Part.DONE if registers(state) else None
        yield _Edge(state.name, state.next or END, done)
    for catcher in state.catch:
        yield _Edge(state.name, catcher.next, None if catcher.compensate else _left(state))
    said = {state.next, *(catcher.next for catcher in state.catch)}
    for target in targets(machine, state):
        if target not in said:  # a call leads out of a fork
            yield _Edge(state.name, target, _left(state))


def _left(state: Task | Parallel | Map) -> Part | None:
    """What is pending of a state that has not succeeded."""
    if isinstance(state, Task):
        return Part.UNKNOWN if state.compensate_unknown else None
    return Part.BEGUN if registers_inside(state) else None


def _works(branch: Branch, edges: list[_Edge], parts: Mapping[str, int]) -> tuple[Work, ...]:
    """All that can be pending, in an order in which it is done on every way outside of loops."""
    again: dict[tuple[str, Part], bool] = {}
    for edge in edges:
        if edge.leaves is not None:
            key = (edge.source, edge.leaves)
            inside = parts[edge.source] == parts[edge.target]
            again[key] = again.get(key, False) or inside
    place = {name: n for n, name in enumerate(branch.states)}
    ordered = sorted(again, key=lambda key: (parts[key[0]], not again[key], place[key[0]], key[1]))
    return tuple(Work(*key, loop=parts[key[0]] if again[key] else None) for key in ordered)


@dataclass(slots=True)
class _Flow:
    """Carries what is pending along the ways, the states of a loop together."""

    parts: Mapping[str, int]
    bits: Mapping[tuple[str, Part], int]
    _may: dict[int, int] = field(default_factory=dict)
    _sure: dict[int, int] = field(default_factory=dict)

    def place(self, edge: _Edge) -> tuple[int, bool]:
        """Where an edge comes in the order in which they are followed: upwards, loops first."""
        source = self.parts[edge.source]
        return source, source != self.parts[edge.target]

    def begin_at(self, name: str) -> None:
        """Something begins here, with nothing pending."""
        self._arrive(self.parts[name], NOTHING)

    def follow(self, edge: _Edge) -> None:
        """Carry what is pending over a transition."""
        if edge.clears:
            return
        source, target = self.parts[edge.source], self.parts[edge.target]
        bit = 0 if edge.leaves is None else self.bits[edge.source, edge.leaves]
        if source == target:
            self._may[source] = self._may.get(source, 0) | bit
            return
        before = self.pending(edge.source)
        sure = bit if edge.leaves is Part.DONE else 0
        self._arrive(target, Pending(before.may | bit, before.sure | sure))

    def pending(self, name: str) -> Pending:
        """What is pending in a state, of whose component everything has arrived."""
        part = self.parts[name]
        return Pending(self._may.get(part, 0), self._sure.get(part, 0))

    def _arrive(self, part: int, pending: Pending) -> None:
        self._may[part] = self._may.get(part, 0) | pending.may
        self._sure[part] = self._sure.get(part, pending.sure) & pending.sure


# ------------------------------------------------------------------------------- the loops


def _components(branch: Branch, edges: list[_Edge]) -> dict[str, int]:
    """Number the states so that ways lead upwards; those of a loop have the same number.

    A transition that clears is no way: what comes after it is a new beginning.
    """
    following: dict[str, list[str]] = {name: [] for name in (*branch.states, END)}
    for edge in edges:
        if not edge.clears:
            following[edge.source].append(edge.target)
    search = _Search(following)
    for name in following:
        search.visit(name)
    last = len(search.found) - 1
    return {name: last - n for n, some in enumerate(search.found) for name in some}


@dataclass(slots=True)
class _Search:
    """Tarjan's search for strongly connected components, without recursion; the last come first."""

    following: Mapping[str, list[str]]
    found: list[list[str]] = field(default_factory=list)
    _number: dict[str, int] = field(default_factory=dict)
    _lowest: dict[str, int] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)
    _closed: set[str] = field(default_factory=set)

    def visit(self, start: str) -> None:
        """Find the components that can be reached from a state."""
        if start in self._number:
            return
        ways = [(start, self._begin(start))]
        while ways:
            name, rest = ways[-1]
            step = next((one for one in rest if self._is_new(name, one)), None)
            if step is not None:
                ways.append((step, self._begin(step)))
                continue
            ways.pop()
            if ways:
                self._lower(ways[-1][0], self._lowest[name])
            if self._lowest[name] == self._number[name]:
                self._close(name)

    def _begin(self, name: str) -> Iterator[str]:
        self._number[name] = self._lowest[name] = len(self._number)
        self._open.append(name)
        return iter(self.following[name])

    def _is_new(self, name: str, target: str) -> bool:
        if target not in self._number:
            return True
        if target not in self._closed:
            self._lower(name, self._number[target])
        return False

    def _lower(self, name: str, number: int) -> None:
        self._lowest[name] = min(self._lowest[name], number)

    def _close(self, name: str) -> None:
        component = [self._open.pop()]
        while component[-1] != name:
            component.append(self._open.pop())
        self._closed.update(component)
        self.found.append(component)
