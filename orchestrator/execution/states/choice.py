"""Choice: the first rule that holds says where to go."""

from __future__ import annotations

from orchestrator.asl.choices import Rule
from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.asl.jsonata import Query
from orchestrator.asl.states import Choice, ChoiceRule
from orchestrator.execution import dataflow, queries, surroundings
from orchestrator.execution.failure import leave
from orchestrator.execution.payload import Payload
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def enter(transition: Transition, thread: Thread, state: Choice) -> None:
    """Leave at once, for where the rules point."""
    if state.placeholder is not None:
        cause = f"The field 'Choices' must be an array but was: {state.placeholder}"
        raise StateFailure(RUNTIME, cause)
    given = dataflow.effective_input(transition, thread, state)
    chosen = None
    for rule in state.rules:
        if _holds(transition, thread, rule, given):
            chosen = rule
            break
    following = state.default if chosen is None else chosen.next
    if following is None:
        raise StateFailure(
            RUNTIME,
            "Failed to transition out of the state. The state does not point to a next state.",
        )
    assigned = dataflow.assigned(transition, thread, (chosen or state).assign, given)
    output = _output(transition, thread, state, chosen, given)
    leave(transition, thread, state, output, following, assigned)


def _holds(transition: Transition, thread: Thread, choice: ChoiceRule, given: Payload) -> bool:
    match choice.rule:
        case Rule():
            seen = surroundings.variables(transition, thread)
            return choice.rule.holds(given.value, surroundings.context(transition, thread), seen)
        case Query():
            return queries.condition(transition, thread, choice.rule, f"{choice.field}/Condition")
        case bool(always):
            return always


def _output(
    transition: Transition,
    thread: Thread,
    state: Choice,
    chosen: ChoiceRule | None,
    given: Payload,
) -> Payload:
    """Return the output: in JSONata the rule's own, or the state's if no rule held."""
    if chosen is None or not isinstance(chosen.rule, Query | bool):
        return dataflow.passed_on(transition, thread, state, given)
    if chosen.output is None:
        return given
    return Payload.of(queries.rendered(transition, thread, chosen.output))
