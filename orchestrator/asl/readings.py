"""What the states of a machine read: the execution's input, and which variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import TypeAlias

from orchestrator.asl.choices import Rule
from orchestrator.asl.expressions import Expression
from orchestrator.asl.jsonata import Query
from orchestrator.asl.paths import Path
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.retries import Catcher
from orchestrator.asl.states import (
    Await,
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
from orchestrator.asl.states.choice import ChoiceRule
from orchestrator.asl.states.effect import Effect
from orchestrator.asl.states.moment import Moment
from orchestrator.asl.states.reaction import On, Reaction
from orchestrator.asl.templates import Template

Reading: TypeAlias = Path | Template | Expression | Rule | Query | QueryTemplate
"""Whatever is evaluated."""


def readings(state: State) -> Iterator[Reading]:
    """Yield everything in a state that is evaluated, what stands in its branches aside."""
    for holder in _holders(state):
        yield from _readings_of(holder)
    if isinstance(state, Map):
        yield from state.unsupported_readings


def _readings_of(holder: _Holder) -> Iterator[Reading]:
    for one in fields(holder):
        value = getattr(holder, one.name)
        if isinstance(value, Path | Template | Expression | Rule | Query | QueryTemplate):
            yield value


_Holder: TypeAlias = State | ChoiceRule | Catcher | Moment | Reaction | Effect


def readings_on(on: On) -> Iterator[Reading]:
    """Yield everything in the reactions of one level that is evaluated."""
    for holder in _reactions(on):
        yield from _readings_of(holder)


def _holders(state: State) -> Iterable[_Holder]:
    match state:
        case Choice():
            return (state, *state.rules)
        case Await():
            moments = [one.moment for one in state.after]
            effects = [effect for one in state.after for effect in one.effects]
            effects += [*state.on_enter, *state.on_exit]
            return (state, *_reactions(state.on), *moments, *effects)
        case Parallel() | Map():
            return (state, *state.catch, *_reactions(state.on), *_compensation(state))
        case Succeed() | Fail():
            return (state, *_reactions(state.on))
        case Task():
            return (state, *state.catch, *_compensation(state))
        case Pass() | Wait() | Compensate():
            return (state,)


def _compensation(state: Task | Parallel | Map) -> Iterable[Effect]:
    return () if state.compensate is None else (state.compensate,)


def _reactions(on: On) -> Iterator[Reaction | Effect]:
    for reactions in on.values():
        for reaction in reactions:
            yield reaction
            yield from reaction.effects


def assigns(state: State) -> bool:
    """Tell whether a state may assign variables."""
    return any(getattr(holder, "assign", None) is not None for holder in _holders(state))


def assigns_on(on: On) -> bool:
    """Tell whether a reaction of one level may assign variables."""
    return any(isinstance(one, Reaction) and one.assign is not None for one in _reactions(on))


def variables_read(state: State) -> list[str]:
    """Return the names of the variables that a state reads, sorted."""
    found: set[str] = set()
    for reading in readings(state):
        found |= reading.variables
    return sorted(found)
