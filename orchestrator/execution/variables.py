"""Variables: assigned by states, seen by those that follow and by what stands inside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from orchestrator.asl.document import DocumentError, Json
from orchestrator.asl.errors import DATA_LIMIT_EXCEEDED, RUNTIME, StateFailure
from orchestrator.asl.limits import Limits
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.states.assign import Assign
from orchestrator.execution import queries, surroundings
from orchestrator.execution.payload import Payload
from orchestrator.execution.queries import Known
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition

Assigned: TypeAlias = Mapping[str, Payload]
"""New values by name."""


def assigned(
    transition: Transition, thread: Thread, assign: Assign | None, given: Payload, known: Known
) -> Assigned | None:
    """Return what Assign makes of the variables as they are; None: nothing is assigned.

    `given` is what `$` means in JSONPath, `known` what `$states` holds in JSONata.
    """
    if assign is None:
        return None
    if isinstance(assign, QueryTemplate):
        made = queries.rendered(transition, thread, assign, known)
    else:
        made = assign.render(
            given.value,
            surroundings.context(transition, thread),
            transition.draw("Assign"),
            surroundings.variables(transition, thread),
        )
    if not isinstance(made, dict) or not made:
        return None
    return {name: Payload.of(value) for name, value in made.items()}


def keep(transition: Transition, thread: Thread, new: Assigned) -> None:
    """Let the states that follow see new values; raises StateFailure where that cannot be."""
    outer = surroundings.outer_variables(transition, thread)
    for name in new:
        if name in outer:
            cause = f"The variable '{name}' cannot be assigned: it exists in an outer scope."
            raise StateFailure(RUNTIME, cause)
    _check_sizes(new, transition.limits)
    own = {} if thread.variables is None else thread.variables.value
    kept: dict[str, Json] = dict(own) if isinstance(own, dict) else {}
    kept.update({name: payload.value for name, payload in new.items()})
    variables = Payload.of(kept)
    size = len(variables.text) + sum(
        len(one) for one in surroundings.outer_texts(transition, thread)
    )
    most = transition.limits.variables_bytes
    if size > most:
        raise _too_large(f"The variables have more than {most} bytes.")
    thread.variables = variables


def _check_sizes(new: Assigned, limits: Limits) -> None:
    most = limits.variable_bytes
    alone = _of_one(limits)
    for name, payload in new.items():
        try:
            fits = payload.fits(alone)
        except DocumentError as error:
            raise StateFailure(RUNTIME, str(error)) from error
        if not fits:
            raise _too_large(f"The variable '{name}' has more than {most} bytes.")
    if len(new) > 1 and not Payload.array(list(new.values())).fits(alone):
        raise _too_large(f"The field 'Assign' assigns more than {most} bytes.")


@lru_cache(maxsize=8)
def _of_one(limits: Limits) -> Limits:
    return replace(limits, document_bytes=limits.variable_bytes)


def _too_large(cause: str) -> StateFailure:
    return StateFailure(DATA_LIMIT_EXCEEDED, cause)
