"""Pass: hand the input on, or a fixed result."""

from __future__ import annotations

from orchestrator.asl.states import MISSING, Pass
from orchestrator.execution import dataflow
from orchestrator.execution.failure import leave
from orchestrator.execution.payload import Payload
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def enter(transition: Transition, thread: Thread, state: Pass) -> None:
    """Leave at once."""
    given = dataflow.effective_input(transition, thread, state)
    result = dataflow.parameters(transition, thread, state, given)
    if state.result is not MISSING:
        result = Payload.of(state.result)
    assigned = dataflow.assigned(transition, thread, state.assign, result)
    output = dataflow.output(transition, thread, state, result)
    leave(transition, thread, state, output, state.next, assigned)
