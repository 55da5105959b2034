"""Compensate: undo all that is pending in the frame, then go on with the input."""

from __future__ import annotations

from orchestrator.asl.states import Compensate
from orchestrator.execution.failure import leave
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def enter(transition: Transition, thread: Thread, state: Compensate) -> None:
    """Leave at once: nothing is pending."""
    leave(transition, thread, state, thread.input, state.next)
