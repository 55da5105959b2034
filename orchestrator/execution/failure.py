"""What happens when a state fails: retry, or catch, or fail."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from orchestrator.asl.document import Json
from orchestrator.asl.errors import Failure, StateFailure
from orchestrator.asl.retries import Catcher, delay_seconds
from orchestrator.asl.states import Map, Parallel, State, Task
from orchestrator.execution import queries, variables
from orchestrator.execution.dataflow import check_size, placed
from orchestrator.execution.frame import Retries
from orchestrator.execution.history import Detail
from orchestrator.execution.payload import Payload
from orchestrator.execution.queries import Known, QueryFailed
from orchestrator.execution.setback import OutputTooLarge, Setback
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition
from orchestrator.execution.variables import Assigned


def evaluation_failed(transition: Transition, thread: Thread, failed: StateFailure) -> Setback:
    """Return what a state meets when it cannot be evaluated; a failed expression is recorded."""
    failure = failed.failure
    if isinstance(failed, OutputTooLarge):
        return Setback(failure, terminal=True)
    cause = (
        f"An error occurred while executing the state '{thread.state}' "
        f"(entered at the event id #{thread.entry}). {failure.cause or ''}"
    )
    failure = replace(failure, cause=cause.rstrip())
    if not isinstance(failed, QueryFailed):
        return Setback(failure)
    entering = thread.last_event == thread.entry
    _record_query(transition, thread, failed, failure)
    return Setback(failure, before_the_fork=entering)


def _record_query(
    transition: Transition, thread: Thread, failed: QueryFailed, failure: Failure
) -> None:
    previous = thread.last_event
    if previous == thread.entry and thread.previous is not None and not failed.used:
        previous = thread.previous
    details: dict[str, Detail] = {
        "error": failure.error or "",
        "cause": failure.cause or "",
        "state": thread.state or "",
    }
    if failed.field is not None:
        details["location"] = failed.field
    thread.last_event = transition.record("EvaluationFailed", previous, details)


def meet(transition: Transition, thread: Thread, setback: Setback) -> None:
    """Let a frame's state meet a setback: retry, or catch, or fail."""
    state = transition.state_of(thread)
    if not isinstance(state, Task | Parallel | Map):
        thread.fail(setback)
        return
    if not retry(transition, thread, state, setback):
        _give_up(transition, thread, state, setback)


def retry(
    transition: Transition, thread: Thread, state: Task | Parallel | Map, setback: Setback
) -> bool:
    """Let the frame rest for a Retrier's pause, if one takes the setback and has attempts left."""
    for place, retrier in enumerate(state.retry):
        if not setback.retried_by(retrier):
            continue
        counts = (*thread.retries.counts, *[0] * (place + 1 - len(thread.retries.counts)))
        if counts[place] >= retrier.max_attempts:
            return False
        attempt = counts[place] + 1
        pause = delay_seconds(retrier, attempt, transition.draw("Retry"))
        thread.retries = Retries(
            counts=(*counts[:place], attempt, *counts[place + 1 :]),
            total=thread.retries.total + 1,
            reported=thread.retries.reported + setback.reported,
        )
        thread.rest_on_clock(transition.now + timedelta(seconds=pause))
        return True
    return False


def _give_up(
    transition: Transition, thread: Thread, state: Task | Parallel | Map, setback: Setback
) -> None:
    if setback.branch or (setback.before_the_fork and isinstance(state, Map | Parallel)):
        thread.last_event = transition.record(
            f"{type(state).__name__}StateFailed", thread.last_event, {}
        )
    catcher = next((one for one in state.catch if setback.caught_by(one)), None)
    if catcher is None:
        thread.fail(setback)
        return
    try:
        _catch(transition, thread, state, catcher, setback)
    except StateFailure as failed:
        thread.fail(evaluation_failed(transition, thread, failed))


def _catch(
    transition: Transition, thread: Thread, state: State, catcher: Catcher, setback: Setback
) -> None:
    error = as_output(setback)
    error_output, known = Payload.of(error), Known(error_output=error)
    assigned = variables.assigned(transition, thread, catcher.assign, error_output, known)
    output = placed(thread, catcher.result_path, error_output)
    if catcher.output is not None:
        output = Payload.of(queries.rendered(transition, thread, catcher.output, known))
    leave(transition, thread, state, output, catcher.next, assigned)


def as_output(setback: Setback) -> dict[str, Json]:
    """Return the error output of a setback."""
    return {"Error": setback.failure.error, "Cause": setback.cause_text}


def leave(
    transition: Transition,
    thread: Thread,
    state: State,
    output: Payload,
    following: str | None,
    assigned: Assigned | None = None,
) -> None:
    """Exit a state with an output, for the state that follows or for the end of the frame."""
    check_size(transition, output, state.name)
    details: dict[str, Detail] = {"name": state.name, "output": output}
    if assigned is not None:
        variables.keep(transition, thread, assigned)
        details["assignedVariables"] = assigned
    thread.last_event = transition.record(
        f"{type(state).__name__}StateExited", thread.last_event, details
    )
    if following is None:
        thread.succeed(output)
    else:
        thread.go(following, output)
