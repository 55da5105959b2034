"""Registering: what a state has done, or may have done, can be undone from now on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from orchestrator.asl.document import Json
from orchestrator.asl.errors import StateFailure
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.resources import Kind, Pattern
from orchestrator.asl.states import Map, Parallel, Task
from orchestrator.asl.states.effect import Effect
from orchestrator.execution import key, queries, served, surroundings
from orchestrator.execution.compensation import (
    Compensation,
    CompensationStatus,
    subtree,
    under,
)
from orchestrator.execution.dataflow import check_size
from orchestrator.execution.events import ChildEnded
from orchestrator.execution.frame import Frame, FrameStatus, RestsOn, UndoNote, is_undo, lineage
from orchestrator.execution.payload import Payload
from orchestrator.execution.queries import Known
from orchestrator.execution.setback import Setback
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition

_NULL = Payload.of(None)


def succeeded(
    transition: Transition, thread: Thread, state: Task | Parallel | Map, result: Payload
) -> StateFailure | None:
    """Register how a state's success is undone; return why its arguments could not be evaluated.

    A pivot leaves nothing to undo. What undoes a fork stands in the place of what undoes its
    branches.
    """
    if isinstance(state, Task) and state.pivot:
        transition.pending.drop(subtree(""))
        return None
    if state.compensate is None:
        return None
    undoes = None
    if isinstance(state, Task):
        undoes = None if thread.task is None else thread.task.key
    else:
        transition.pending.drop(under(thread.id, thread.entry))
    done = _Done(state.compensate, result, undoes, widths(transition, thread.id))
    return _register(transition, thread, done)


def failed(transition: Transition, thread: Thread, state: Task, setback: Setback) -> None:
    """Register how a Task is undone that has failed for good, if it may have happened."""
    silent = thread.retries.reported if setback.silent else thread.retries.silent
    if silent is not None:
        _register_unknown(transition, thread, state, silent)


def _register_unknown(
    transition: Transition, thread: Thread, state: Task, silent: int | None
) -> None:
    if state.compensate is None or not state.compensate_unknown or silent is None:
        return
    execution = transition.view.execution.id
    undoes = key.of_task(execution, thread.entry, silent, thread.state)
    done = _Done(state.compensate, _NULL, undoes, widths(transition, thread.id), is_known=False)
    _register(transition, thread, done)


def adopt(transition: Transition, thread: Thread, state: Task, event: ChildEnded) -> None:
    """Take over what an execution that a state has started leaves to be undone.

    It lies in a fork of one child, which mirrors the frames of that execution.
    """
    if not state.adopts or not event.succeeded:
        return
    _take_over(transition, thread.id, thread.entry, widths(transition, thread.id), event)


def _take_over(
    transition: Transition, scope: str, entry: int, around: tuple[int, ...], event: ChildEnded
) -> None:
    for rank, one in enumerate(event.compensations, 1):
        transition.pending.put(
            replace(
                one,
                scope=f"{scope}/{entry}.0{one.scope}",
                event=entry,
                place=rank,
                widths=(*around, 0, *one.widths),
            )
        )


@dataclass(frozen=True, slots=True)
class _Done:
    """What was done, or may have been, and how it is undone."""

    effect: Effect
    result: Payload
    undoes: str | None
    widths: tuple[int, ...]
    is_known: bool = True


def _register(transition: Transition, thread: Thread, done: _Done) -> StateFailure | None:
    effect, failure = done.effect, None
    both = Payload.of({"input": thread.input.value, "result": done.result.value})
    arguments, resource = both, effect.resource.name
    try:
        found = _arguments(transition, thread, done, both)
        resource = served.name_of(effect.resource, found)
        arguments = served.arguments(effect.resource, found)
        check_size(transition, arguments, effect.resource.text)
    except StateFailure as error:
        failure, arguments = error, both
    if failure is not None and effect.resource.kind is not Kind.LAMBDA_INVOKE:
        resource = served.name_of(effect.resource, both)
    execution = transition.view.execution.id
    transition.pending.put(
        Compensation(
            scope=thread.id,
            event=thread.entry,
            place=0,
            state=thread.state or "",
            resource=resource,
            arguments=arguments,
            key=key.of_effect(execution, thread.entry, effect.pointer),
            undoes=done.undoes,
            pointer=effect.pointer,
            widths=done.widths,
        )
    )
    return failure


def _arguments(transition: Transition, thread: Thread, done: _Done, both: Payload) -> Payload:
    template = done.effect.parameters
    if template is None:
        return both
    if isinstance(template, QueryTemplate):
        known = Known(result=done.result, lenient=not done.is_known)
        return Payload.of(queries.rendered(transition, thread, template, known))
    found: Json = template.render(
        both.value,
        surroundings.context(transition, thread),
        transition.draw("Compensate/Parameters"),
        surroundings.variables(transition, thread),
        lenient=not done.is_known,
    )
    return Payload.of(found)


def widths(transition: Transition, frame_id: str) -> tuple[int, ...]:
    """Return the MaxConcurrency of the forks around a frame, outermost first."""
    around = lineage(frame_id)[:-1]
    return tuple(transition.tree.tally(one).fork.max_concurrency for one in around)


# ---------------------------------------------------------------------------------- cancelling


def let_go(transition: Transition, place: Thread | Frame) -> None:
    """Take note of what a frame may have done that is made to end where it rests.

    A handler that runs for it is waited for if what it does can be undone: its frame is cancelled
    and stays.
    """
    if not transition.machine.undoes:
        return
    if is_undo(place.id):
        _let_go_of_undoing(transition, place)
        return
    if place.status is not FrameStatus.RESTING or place.state is None:
        return
    state = transition.machine.state(place.state)
    if isinstance(place, Thread) and place.next_state is not None:
        return  # it has left its state
    if not isinstance(state, Task):
        return
    if state.resource.waits_for_execution:
        _let_go_of_child(transition, transition.tree.thread(place.id), state)
    elif state.compensate is not None:
        _let_go_of_task(transition, transition.tree.thread(place.id), state)


def _let_go_of_task(transition: Transition, thread: Thread, state: Task) -> None:
    task, silent = thread.task, thread.retries.silent
    match thread.rests_on:
        case RestsOn.TASK if task is not None and _is_waited_for(thread, state):
            _keep(transition, thread, state)
        case RestsOn.TASK if task is not None:
            if thread.id:
                thread.vanish()
            silent = thread.retries.reported if task.deliveries > 0 else silent
            _register_unknown(transition, thread, state, silent)
        case RestsOn.CALLBACK:
            _register_unknown(transition, thread, state, thread.retries.reported)
        case _:
            _register_unknown(transition, thread, state, silent)


def _let_go_of_child(transition: Transition, thread: Thread, state: Task) -> None:
    """Have an execution stopped, and wait until it has undone itself."""
    task = thread.task
    if task is None:
        return
    if thread.rests_on is RestsOn.EXECUTION or task.claimed_by is not None:
        _keep(transition, thread, state)
        transition.orphan(thread)
        if thread.rests_on is RestsOn.EXECUTION:
            thread.wake_at = thread.timeout_at = None
    elif thread.id:
        thread.vanish()


def _is_waited_for(thread: Thread, state: Task) -> bool:
    """Tell whether a handler runs that will report, or be missed when its lease is over."""
    claimed = thread.task is not None and thread.task.claimed_by is not None
    return claimed and state.resource.kind is not Kind.ACTIVITY


def _keep(transition: Transition, thread: Thread, state: Task) -> None:
    task = thread.task
    if task is None:
        raise ValueError(f"the frame {thread.id} has no task")
    pointer = "" if state.compensate is None else state.compensate.pointer
    resource = "" if state.compensate is None else state.compensate.resource.name
    execution = transition.view.execution.id
    transition.pending.put(
        Compensation(
            scope=thread.id,
            event=thread.entry,
            place=0,
            state=state.name,
            resource=resource,
            arguments=_NULL,
            key=key.of_effect(execution, thread.entry, pointer),
            undoes=task.key,
            pointer=pointer,
            widths=widths(transition, thread.id),
            status=CompensationStatus.DOUBTFUL,
        )
    )
    surroundings.surround(transition, thread)
    thread.cancel(UndoNote(thread.id, event=thread.entry, pointer=pointer))
    transition.tree.keep(thread)


def heard(
    transition: Transition, thread: Thread, doubtful: Compensation, result: Payload | None
) -> None:
    """Register what a cancelled handler has done; `result` None: nobody knows whether it has."""
    state = transition.state_of(thread)
    if not isinstance(state, Task):
        raise TypeError(f"the state {state.name} cannot be undone")
    if state.compensate is None or (result is None and not state.compensate_unknown):
        transition.pending.mark(doubtful.number, CompensationStatus.VOID)
        return
    done = _Done(
        state.compensate,
        _NULL if result is None else result,
        doubtful.undoes,
        doubtful.widths,
        is_known=result is not None,
    )
    _register(transition, thread, done)


def heard_of_child(
    transition: Transition, thread: Thread, doubtful: Compensation, event: ChildEnded
) -> None:
    """Register what an execution has done that was to be stopped: nothing, if it has failed."""
    state = transition.state_of(thread)
    if not isinstance(state, Task):
        raise TypeError(f"the state {state.name} starts no execution")
    transition.pending.mark(doubtful.number, CompensationStatus.VOID)
    if not event.succeeded:
        return
    if state.adopts:
        _take_over(transition, doubtful.scope, doubtful.event, doubtful.widths, event)
        return
    two = state.resource.pattern is Pattern.SYNC_2
    heard(transition, thread, doubtful, event.read if two else event.described)


def _let_go_of_undoing(transition: Transition, place: Thread | Frame) -> None:
    """Leave a compensation to whoever comes to it next, or to its handler that still runs."""
    note = place.undo
    if note is None or not note.event or place.status is not FrameStatus.RESTING:
        return
    thread = transition.tree.thread(place.id)
    if thread.rests_on is RestsOn.TASK and thread.task is not None and thread.task.claimed_by:
        transition.pending.mark(note.number, CompensationStatus.DOUBTFUL)
        thread.cancel(note)
        transition.tree.keep(thread)
    elif thread.rests_on in (RestsOn.TASK, RestsOn.CLOCK):
        thread.vanish()
        transition.pending.mark(note.number, CompensationStatus.PENDING)
