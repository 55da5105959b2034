"""Transitions: where each state of a scope leads, and what an arrow says about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.asl import answering
from orchestrator.asl.errors import ALL
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
from orchestrator.asl.states.effect import Effect
from orchestrator.asl.states.reaction import On, Reaction
from orchestrator.drawing import wording


class EdgeKind(StrEnum):
    """Why an arrow is taken."""

    NEXT = "next"
    CHOICE = "choice"
    ERROR = "error"
    UNDO = "undo"
    """An error after which what the state did is undone first."""
    CALL = "call"
    TIMER = "timer"


@dataclass(frozen=True, slots=True)
class Transition:
    """A way from a state to another one of its scope; `labels` are why it is taken, each a cause.

    `target` None is the end of the scope.
    """

    source: str
    target: str | None
    kind: EdgeKind
    labels: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    """The causes in full."""


def transitions(machine: Machine, scope: Branch) -> tuple[Transition, ...]:
    """Return the transitions of a scope in the order of its text, one for each way and kind."""
    found: dict[tuple[str, str | None, EdgeKind], Transition] = {}
    for state in scope.states.values():
        for one in _leaving(machine, state):
            key = (one.source, one.target, one.kind)
            before = found.get(key)
            found[key] = one if before is None else _joined(before, one)
    return tuple(found.values())


def _joined(one: Transition, two: Transition) -> Transition:
    """Return one transition for two of the same way; what needs no cause needs none from both."""
    labels = (*one.labels, *(label for label in two.labels if label not in one.labels))
    if one.kind is EdgeKind.ERROR and not (one.labels and two.labels):
        labels = ()
    return Transition(one.source, one.target, one.kind, labels, one.details + two.details)


def _leaving(machine: Machine, state: State) -> Iterator[Transition]:
    match state:
        case Task() | Pass() | Wait() | Compensate():
            yield Transition(state.name, state.next, EdgeKind.NEXT)
        case Choice():
            yield from _choices(state)
        case Parallel() | Map():
            yield Transition(state.name, state.next, EdgeKind.NEXT)
            yield from _calls(state.name, state.on)
        case Await():
            yield from _calls(state.name, state.on)
            yield from _timers(state)
        case Succeed() | Fail():
            return
    if isinstance(state, Await | Parallel | Map):
        yield from _inherited(machine, state)
    if isinstance(state, Task | Parallel | Map):
        yield from _errors(state)


def _choices(state: Choice) -> Iterator[Transition]:
    for rule in state.rules:
        words = wording.condition(rule.rule, brief=True)
        full = wording.condition(rule.rule)
        detail = f"{full} ({rule.comment})" if rule.comment else full
        yield Transition(state.name, rule.next, EdgeKind.CHOICE, (words,), (detail,))
    if state.default is not None:
        yield Transition(state.name, state.default, EdgeKind.CHOICE, ("default",), ("default",))


def _errors(state: Task | Parallel | Map) -> Iterator[Transition]:
    for catcher in state.catch:
        names = ", ".join(catcher.error_equals)
        labels = () if ALL in catcher.error_equals else (names,)
        if catcher.compensate:
            detail = f"on {names}, once it is undone"
            labels = (*labels, "undo first")
            yield Transition(state.name, catcher.next, EdgeKind.UNDO, labels, (detail,))
        else:
            detail = f"on {names}"
            yield Transition(state.name, catcher.next, EdgeKind.ERROR, labels, (detail,))


def _calls(source: str, on: On, around: str = "") -> Iterator[Transition]:
    for call, reactions in on.items():
        for reaction in reactions:
            yield from _call(source, call, reaction, around)


def _call(source: str, call: str, reaction: Reaction, around: str = "") -> Iterator[Transition]:
    if reaction.next is None:
        return
    name = "any other call" if call == "*" else call
    words = name
    if reaction.condition is not True:
        words += f" if {wording.condition(reaction.condition)}"
    words += effects(reaction.effects)
    detail = f"on the call {words}{around}"
    yield Transition(source, reaction.next, EdgeKind.CALL, (words,), (detail,))


def _inherited(machine: Machine, state: Await | Parallel | Map) -> Iterator[Transition]:
    """Yield what the machine's reactions make of a state of the top level, or of what is in it."""
    if machine.around(state.name) is not None:
        return
    waiting = [one for one in _inside(state) if isinstance(one, Await)]
    for call in _named(machine):
        for one in waiting:
            found = answering.own(machine, one, call)
            if found is not None and found.level is None:
                for reaction in found.reactions:
                    yield from _call(state.name, call, reaction, ", as everywhere")
                break


def _named(machine: Machine) -> Iterable[str]:
    """Return the calls that the machine's own reactions may answer."""
    return machine.calls if "*" in machine.on else machine.on


def _inside(state: State) -> Iterator[State]:
    yield state
    for branch in branches_of(state):
        for one in branch.states.values():
            yield from _inside(one)


def _timers(state: Await) -> Iterator[Transition]:
    for timer in state.after:
        if timer.next is not None:
            words = f"after {wording.moment(timer.moment)}{effects(timer.effects)}"
            yield Transition(state.name, timer.next, EdgeKind.TIMER, (words,), (words,))


def effects(found: Iterable[Effect]) -> str:
    """Return what a transition starts, to be appended to its cause."""
    return "".join(f" + {wording.resource(effect.resource)}" for effect in found)
