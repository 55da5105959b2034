"""Effects: work that follows a transition, in frames of their own outside the tree.

Those of one frame run turn by turn: what one transition starts runs side by side, the next waits
until it has ended. An entry into a state is a turn of its own, behind the exit that led there.
Execution and effects do not wait for each other, and nothing here writes history but the one event
that says that an effect is wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeAlias

from orchestrator.asl.errors import RUNTIME, TIMEOUT, Failure, StateFailure
from orchestrator.asl.retries import delay_seconds
from orchestrator.asl.states import Await
from orchestrator.asl.states.effect import Effect
from orchestrator.execution import key, retrying, served
from orchestrator.execution.dataflow import check_size, rendered
from orchestrator.execution.events import (
    CallbackFailed,
    CallbackSucceeded,
    EffectRetried,
    Event,
    MomentDue,
    TaskFailed,
    TaskLost,
    TaskSucceeded,
    frame_of,
)
from orchestrator.execution.frame import (
    EffectNote,
    Frame,
    FrameKind,
    FrameStatus,
    RestsOn,
    Retries,
    Task,
)
from orchestrator.execution.history import Detail
from orchestrator.execution.payload import Payload
from orchestrator.execution.setback import Setback, bounded, lost
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition

_NOTHING = Payload.of(None)


@dataclass(frozen=True, slots=True)
class Planned:
    """An effect with its arguments; `failure`: they could not be evaluated."""

    effect: Effect
    arguments: Payload
    failure: Failure | None = None


Plan: TypeAlias = Sequence[Planned]


def plan(transition: Transition, thread: Thread, effects: Iterable[Effect]) -> list[Planned]:
    """Evaluate the arguments of effects; raises StateFailure."""
    return [_planned(transition, thread, effect) for effect in effects]


def plan_anyway(transition: Transition, thread: Thread, effects: Iterable[Effect]) -> list[Planned]:
    """Evaluate the arguments of effects; one that cannot be evaluated has failed for good."""
    planned: list[Planned] = []
    for effect in effects:
        try:
            planned.append(_planned(transition, thread, effect))
        except StateFailure as failed:
            planned.append(Planned(effect, thread.input, failed.failure))
    return planned


def _planned(transition: Transition, thread: Thread, effect: Effect) -> Planned:
    place = f"{effect.field}/Parameters"
    arguments = rendered(transition, thread, effect.parameters, thread.input, place)
    check_size(transition, arguments, effect.resource.text)
    served.name_of(effect.resource, arguments)
    return Planned(effect, arguments)


def schedule(transition: Transition, thread: Thread, planned: Plan) -> None:
    """Start effects that belong to the present turn of a frame."""
    for one in planned:
        _schedule(transition, thread, one)


def _schedule(transition: Transition, thread: Thread, planned: Planned) -> None:
    effect = planned.effect
    resource = effect.resource
    details: dict[str, Detail] = {
        "name": thread.state or "",
        "resourceType": resource.resource_type,
        "resource": resource.resource_action,
        "parameters": planned.arguments,
    }
    number = transition.record("EffectScheduled", thread.last_event, details)
    thread.last_event = number
    turn = transition.book.turn(thread.id, number)
    failure = planned.failure
    task = Task(
        resource=served.name_of(resource, planned.arguments) if failure is None else resource.name,
        token=transition.token(),
        attempt=1,
        key=key.of_effect(transition.view.execution.id, number, effect.pointer),
        arguments=served.arguments(resource, planned.arguments)
        if failure is None
        else planned.arguments,
        ready_at=transition.now,
        heartbeat_seconds=effect.heartbeat_seconds,
    )
    frame = Frame(
        id=f"{thread.id}!{number}",
        kind=FrameKind.EFFECT,
        status=FrameStatus.PENDING,
        state=thread.state,
        entry=turn,
        last_event=number,
        input=_NOTHING,
        entered_at=transition.now,
        task=task,
        effect=EffectNote(effect.pointer),
    )
    if failure is not None:
        frame = _failed(frame, failure)
    else:
        transition.book.unended += 1
        if not _is_behind(transition, thread.id, turn):
            frame = _ready(transition, frame, task)
    transition.book.put_effect(frame)


def _is_behind(transition: Transition, frame_id: str, turn: int) -> bool:
    """Tell whether effects of an earlier turn of a frame have not ended."""
    return any(other.entry < turn for other in _unended(transition, frame_id))


def _unended(transition: Transition, frame_id: str) -> list[Frame]:
    return [one for one in transition.book.effects_of(frame_id) if _goes_on(one)]


def _goes_on(frame: Frame) -> bool:
    return frame.status in (FrameStatus.PENDING, FrameStatus.RESTING)


def _ready(transition: Transition, frame: Frame, task: Task) -> Frame:
    """Return an effect's frame as one whose turn it is."""
    seconds = transition.machine.effect(_note(frame).pointer).timeout_seconds
    limit = None if seconds is None else transition.now + timedelta(seconds=seconds)
    return replace(
        frame,
        status=FrameStatus.RESTING,
        rests_on=RestsOn.TASK,
        task=replace(task, ready_at=transition.now),
        wake_at=limit,
        timeout_at=limit,
    )


# ------------------------------------------------------------------------------------- exits


def leave_state(transition: Transition, thread: Thread, *, same_turn: bool = False) -> None:
    """Start the exit effects of a frame that is made to leave its Await."""
    state = transition.state_of(thread)
    if isinstance(state, Await) and state.on_exit and thread.rests_on is RestsOn.CALL:
        if not same_turn:
            transition.book.next_turn(thread.id)
        schedule(transition, thread, plan_anyway(transition, thread, state.on_exit))


def leave_all(transition: Transition) -> None:
    """Start the exit effects of all frames that stand in an Await: the execution is made to end."""
    if not transition.machine.exits:
        return
    for frame in transition.tree.open_frames():
        if frame.rests_on is RestsOn.CALL:
            leave_state(transition, transition.tree.thread(frame.id))


# ------------------------------------------------------------------------------------ reports


def take(transition: Transition, event: Event) -> None:
    """Go on with an effect that an event concerns."""
    frame = transition.view.frames[frame_of(event)]
    if isinstance(event, EffectRetried):
        _run_again(transition, frame)
    else:
        _report(transition, frame, event)


def _report(transition: Transition, frame: Frame, event: Event) -> None:
    """Go on with what became of an effect's attempt, or let it be tried again."""
    task = _task(frame)
    if frame.rests_on is not RestsOn.CLOCK:
        frame = replace(frame, effect=_run(transition, frame, event))
    match event:
        case TaskFailed() | CallbackFailed():
            failure = bounded(event.error, event.cause, transition.limits)
            _meet(transition, frame, Setback(failure, reported=True))
        case TaskLost():
            failure = lost(task.deliveries, at_most_once=task.at_most_once)
            _meet(transition, frame, Setback(failure, unknown=task.at_most_once))
        case MomentDue() if frame.rests_on is RestsOn.CLOCK:
            transition.book.put_effect(_ready(transition, frame, _again(transition, task)))
        case MomentDue():
            missed = frame.timeout_at is None or frame.timeout_at > transition.now
            setback = Setback(Failure(TIMEOUT), unknown=task.at_most_once, heartbeat=missed)
            _meet(transition, frame, setback)
        case _:
            answer = _answer(event, transition.limits.call_input_bytes)
            ended = replace(_at_rest(frame), status=FrameStatus.ENDED, input=answer)
            _end(transition, ended)


def _run(transition: Transition, frame: Frame, event: Event) -> EffectNote:
    """Return a note of who ran an attempt that is over, and when."""
    began = event.started_at if isinstance(event, TaskSucceeded | TaskFailed) else None
    return EffectNote(
        _note(frame).pointer,
        worker=_task(frame).claimed_by,
        begun_at=None if began is None else min(began, transition.now),
        ended_at=transition.now,
    )


def _answer(event: Event, most_bytes: int) -> Payload:
    """Return what an effect has answered, for whoever looks; null where that is large."""
    match event:
        case TaskSucceeded(result=answer) | CallbackSucceeded(result=answer):
            return answer if len(answer.text) <= most_bytes else _NOTHING
        case _:
            return _NOTHING


def _meet(transition: Transition, frame: Frame, setback: Setback) -> None:
    """Try again after a pause if a Retrier says so; else the effect has failed for good."""
    failure = setback.failure
    noted = replace(frame, effect=replace(_note(frame), error=failure.error, cause=failure.cause))
    retriers = transition.machine.effect(_note(frame).pointer).retry
    place = retrying.place_of(frame.retries, retriers, setback)
    if place is None:
        _end(transition, _failed(noted, failure))
        return
    counts = retrying.counted(frame.retries, place)
    pause = delay_seconds(retriers[place], counts[place], transition.draw(f"Retry/{frame.id}"))
    transition.book.put_effect(
        replace(
            _at_rest(noted),
            rests_on=RestsOn.CLOCK,
            wake_at=transition.now + timedelta(seconds=pause),
            retries=Retries(counts, frame.retries.total + 1, 0),
        )
    )


def _failed(frame: Frame, failure: Failure) -> Frame:
    note = replace(_note(frame), error=failure.error or RUNTIME, cause=failure.cause)
    return replace(_at_rest(frame), status=FrameStatus.FAILED, effect=note)


def _at_rest(frame: Frame) -> Frame:
    """Return the frame as one that nobody works for."""
    task = replace(_task(frame), claimed_by=None, lease_until=None, at_most_once=False)
    return replace(frame, rests_on=None, task=task, wake_at=None, timeout_at=None)


def _again(transition: Transition, task: Task) -> Task:
    """Return the next attempt of an effect: the same key, since what it does is repeatable."""
    return replace(
        task, token=transition.token(), attempt=task.attempt + 1, deliveries=0, queue=None
    )


def _end(transition: Transition, frame: Frame) -> None:
    """Store what an effect has ended as, and let the next turn begin if it was the last of its."""
    transition.book.put_effect(frame)
    transition.book.unended -= 1
    if not transition.book.unended:
        return
    left = _unended(transition, owner(frame))
    turn = min((one.entry for one in left), default=None)
    for one in left:
        if one.entry == turn and one.status is FrameStatus.PENDING:
            transition.book.put_effect(_ready(transition, one, _task(one)))


def _run_again(transition: Transition, frame: Frame) -> None:
    """Run an effect again that has failed for good."""
    transition.book.unended += 1
    fresh = replace(frame, retries=Retries(), effect=EffectNote(_note(frame).pointer))
    transition.book.put_effect(_ready(transition, fresh, _again(transition, _task(frame))))


def owner(frame: Frame) -> str:
    """Return the id of the frame whose transition an effect has followed."""
    return frame.id.partition("!")[0]


def _task(frame: Frame) -> Task:
    if frame.task is None:
        raise ValueError(f"the effect {frame.id} has no task")
    return frame.task


def _note(frame: Frame) -> EffectNote:
    if frame.effect is None:
        raise ValueError(f"the frame {frame.id} is no effect")
    return frame.effect
