"""Succeed: end the machine, or only its branch, with the input."""

from __future__ import annotations

from orchestrator.asl.states import Succeed
from orchestrator.execution import dataflow
from orchestrator.execution.failure import leave
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def enter(transition: Transition, thread: Thread, state: Succeed) -> None:
    """End the frame."""
    given = dataflow.effective_input(transition, thread, state)
    leave(transition, thread, state, dataflow.passed_on(transition, thread, state, given), None)
