"""Parallel: a fork with one child per branch."""

from __future__ import annotations

from orchestrator.asl.states import Parallel
from orchestrator.execution import dataflow
from orchestrator.execution.failure import leave
from orchestrator.execution.fork import Terms, open_fork
from orchestrator.execution.payload import Payload
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def enter(transition: Transition, thread: Thread, state: Parallel) -> None:
    """Open the fork; every branch has the same input."""
    given = _given(transition, thread, state)
    dataflow.check_size(transition, given, state.name)
    open_fork(transition, thread, state, [given] * len(state.branches), None, Terms())


def again(
    transition: Transition, thread: Thread, state: Parallel, places: range
) -> tuple[list[Payload], None]:
    """Return the input of some branches, as `enter` made it."""
    return [_given(transition, thread, state)] * len(places), None


def _given(transition: Transition, thread: Thread, state: Parallel) -> Payload:
    given = dataflow.effective_input(transition, thread, state)
    return dataflow.parameters(transition, thread, state, given)


def resume(transition: Transition, thread: Thread, state: Parallel, result: Payload) -> None:
    """Leave with the outputs of the branches, in their order."""
    output, assigned = dataflow.finished(transition, thread, state, result)
    leave(transition, thread, state, output, state.next, assigned)
