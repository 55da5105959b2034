"""Compensate: undo all that is pending in the frame, then go on with the input."""

from __future__ import annotations

from orchestrator.asl.states import Compensate
from orchestrator.execution import undoing
from orchestrator.execution.failure import leave
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def enter(transition: Transition, thread: Thread, state: Compensate) -> None:
    """Rest until all is undone; leave at once where nothing is pending."""
    if undoing.wanted(transition, thread.id, 0):
        undoing.start(transition, thread, 0, None)
    else:
        leave_it(transition, thread, state)


def leave_it(transition: Transition, thread: Thread, state: Compensate) -> None:
    """Go on with the input."""
    leave(transition, thread, state, thread.input, state.next)
