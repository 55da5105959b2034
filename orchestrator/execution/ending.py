"""How an execution ends: at once, or once what it has done is undone."""

from __future__ import annotations

from orchestrator.asl.errors import Failure
from orchestrator.execution import effect, register, undoing
from orchestrator.execution.compensation import Undoing, subtree
from orchestrator.execution.events import StopRequested
from orchestrator.execution.frame import ExecutionStatus, FrameStatus, Phase, RestsOn, is_undo
from orchestrator.execution.history import failed_with
from orchestrator.execution.setback import bounded
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition

_EVENTS = {
    ExecutionStatus.FAILED: "ExecutionFailed",
    ExecutionStatus.TIMED_OUT: "ExecutionTimedOut",
    ExecutionStatus.ABORTED: "ExecutionAborted",
}


def succeed(transition: Transition, thread: Thread) -> None:
    """End an execution with the output of its root frame; nothing will be undone any more."""
    transition.record("ExecutionSucceeded", thread.last_event, {"output": thread.input})
    if transition.machine.undoes and transition.view.execution.parent is None:
        transition.pending.drop(subtree(""))
    transition.outcome.end(ExecutionStatus.SUCCEEDED, final_state=thread.state, output=thread.input)


def fail(transition: Transition, thread: Thread, failure: Failure) -> None:
    """End an execution whose root frame has failed."""
    _conclude(transition, ExecutionStatus.FAILED, failure, thread.last_event)


def time_out(transition: Transition) -> None:
    """End an execution whose time limit has passed."""
    effect.leave_all(transition)
    _let_all_go(transition)
    _conclude(transition, ExecutionStatus.TIMED_OUT, None, 0)


def stop(transition: Transition, event: StopRequested) -> None:
    """End an execution that somebody wants stopped, or has abandoned while it undoes."""
    failure = bounded(event.error, event.cause, transition.limits)
    execution = transition.view.execution
    if execution.phase is Phase.UNDOING:
        transition.outcome.abandon()
        _end(transition, transition.tree.thread("").last_event)
        return
    effect.leave_all(transition)
    if event.abort:
        if undoing.wanted(transition, "", 0) or execution.undoing is Undoing.RUNNING:
            transition.outcome.abandon()
        _fix(transition, ExecutionStatus.ABORTED, failure)
        _end(transition, 0)
        return
    _let_all_go(transition)
    _conclude(transition, ExecutionStatus.ABORTED, failure, 0)


def overflow(transition: Transition, failure: Failure) -> None:
    """End an execution whose history is full."""
    _let_all_go(transition)
    _conclude(transition, ExecutionStatus.FAILED, failure, transition.next_event_id - 1)


def _conclude(
    transition: Transition, status: ExecutionStatus, failure: Failure | None, previous: int
) -> None:
    _fix(transition, status, failure)
    root = transition.tree.thread("")
    if root.rests_on is RestsOn.UNDOING:
        return  # what it undoes already is undone first
    if undoing.wanted(transition, "", 0):
        undoing.start(transition, root, 0, None)
    else:
        _end(transition, previous)


def _fix(transition: Transition, status: ExecutionStatus, failure: Failure | None) -> None:
    final_state = transition.tree.thread("").state if transition.tree.knows("") else None
    transition.outcome.settle(status, final_state=final_state, failure=failure)


def undone(transition: Transition) -> None:
    """Go on with an execution that will end and whose root frame has been waited for."""
    root = transition.tree.thread("")
    if undoing.wanted(transition, "", 0):
        undoing.start(transition, root, 0, None)
        return
    transition.outcome.has_undone()
    _end(transition, transition.next_event_id - 1)


def _end(transition: Transition, previous: int) -> None:
    """End the execution as it was fixed."""
    run = transition.outcome.execution
    status = run.outcome or run.status
    failure = Failure(run.error, run.cause)
    transition.record(_EVENTS[status], previous, failed_with(failure))
    transition.outcome.end(status, final_state=run.final_state, failure=failure)


def _let_all_go(transition: Transition) -> None:
    """Let every frame go but the root, which rests until what they have done is undone."""
    if not transition.machine.undoes:
        return
    transition.tree.open_frames()
    root = transition.tree.thread("")
    if root.fork is not None:
        tally = transition.tree.tally("")
        below = transition.tree.below(tally)
        for place in below.values():
            register.let_go(transition, place)
        transition.tree.close_fork(tally, sum(not is_undo(one) for one in below))
        root.changed, root.fork = True, None
    register.let_go(transition, root)
    if root.status is not FrameStatus.CANCELLED and root.rests_on is not RestsOn.UNDOING:
        root.changed = True
