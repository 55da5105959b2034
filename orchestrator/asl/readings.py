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
from orchestrator.asl.states import Choice, Map, State
from orchestrator.asl.states.choice import ChoiceRule
from orchestrator.asl.templates import Template

Reading: TypeAlias = Path | Template | Expression | Rule | Query | QueryTemplate
"""Whatever is evaluated."""


def readings(state: State) -> Iterator[Reading]:
    """Yield everything in a state that is evaluated, what stands in its branches aside."""
    for holder in _holders(state):
        for one in fields(holder):
            value = getattr(holder, one.name)
            if isinstance(value, Path | Template | Expression | Rule | Query | QueryTemplate):
                yield value
    if isinstance(state, Map):
        yield from state.unsupported_readings


def _holders(state: State) -> Iterable[State | ChoiceRule | Catcher]:
    if isinstance(state, Choice):
        return (state, *state.rules)
    return (state, *getattr(state, "catch", ()))


def assigns(state: State) -> bool:
    """Tell whether a state may assign variables."""
    return any(getattr(holder, "assign", None) is not None for holder in _holders(state))


def variables_read(state: State) -> list[str]:
    """Return the names of the variables that a state reads, sorted."""
    found: set[str] = set()
    for reading in readings(state):
        found |= reading.variables
    return sorted(found)
