"""Choice: the first rule that holds says where to go."""

from __future__ import annotations

from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.asl.states import Choice
from orchestrator.execution import dataflow
from orchestrator.execution.failure import leave
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def enter(transition: Transition, thread: Thread, state: Choice) -> None:
    """Leave at once, for where the rules point."""
    given = dataflow.effective_input(transition, thread, state)
    context = transition.context(thread)
    following = state.default
    for choice in state.rules:
        if choice.rule.holds(given.value, context):
            following = choice.next
            break
    if following is None:
        raise StateFailure(
            RUNTIME,
            "Failed to transition out of the state. The state does not point to a next state.",
        )
    leave(
        transition, thread, state, dataflow.passed_on(transition, thread, state, given), following
    )
