"""What happens when a state fails: retry, or catch, or fail."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.asl.document import Json
from orchestrator.asl.errors import Failure, StateFailure
from orchestrator.asl.retries import Catcher
from orchestrator.asl.states import Map, Parallel, State, Task
from orchestrator.execution import queries, register, retrying, undoing, variables
from orchestrator.execution.dataflow import check_size, placed
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
    place = retrying.place_of(thread.retries, state.retry, setback)
    if place is None:
        _give_up(transition, thread, state, setback)
    elif not isinstance(state, Task) and undoing.wanted(transition, thread.id, thread.entry):
        undoing.start(transition, thread, thread.entry, setback)
    else:
        retrying.retry(transition, thread, state.retry, setback, place)


def _give_up(
    transition: Transition, thread: Thread, state: Task | Parallel | Map, setback: Setback
) -> None:
    opened = setback.branch or (setback.before_the_fork and isinstance(state, Map | Parallel))
    if opened and not setback.recorded:
        thread.last_event = transition.record(
            f"{type(state).__name__}StateFailed", thread.last_event, {}
        )
    if isinstance(state, Task) and not setback.recorded:  # else that is undone by now
        register.failed(transition, thread, state, setback)
    catcher = next((one for one in state.catch if setback.caught_by(one)), None)
    if catcher is None:
        thread.fail(setback)
        return
    if catcher.compensate and undoing.wanted(transition, thread.id, thread.entry):
        undoing.start(transition, thread, thread.entry, replace(setback, recorded=True))
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
