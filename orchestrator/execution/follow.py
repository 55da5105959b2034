"""Following frames until everything rests: from state to state, from child to parent."""

from __future__ import annotations

from orchestrator.asl.errors import StateFailure
from orchestrator.asl.states import (
    Await,
    Choice,
    Compensate,
    Fail,
    Map,
    Parallel,
    Pass,
    Succeed,
    Task,
    Wait,
)
from orchestrator.execution import ending, fork, register
from orchestrator.execution.events import MomentDue, Report
from orchestrator.execution.failure import evaluation_failed, meet
from orchestrator.execution.frame import FrameStatus, Phase
from orchestrator.execution.payload import Payload
from orchestrator.execution.states import (
    await_,
    choice,
    compensate,
    fail,
    parallel,
    pass_,
    succeed,
    task,
    wait,
)
from orchestrator.execution.states import map as map_
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Admission, Transition, Undone


def follow(transition: Transition) -> None:
    """Follow everything on the agenda until all rests or the execution has ended."""
    while transition.agenda and not transition.outcome.ended:
        item = transition.agenda.pop()
        if isinstance(item, Undone):
            _resume(transition, item)
        elif isinstance(item, Admission):
            fork.admit(transition, item)
        elif not item.gone:
            _advance(transition, item)


def _advance(transition: Transition, thread: Thread) -> None:
    if thread.result is not None:
        _join(transition, thread, thread.result)
    while thread.next_state is not None:
        _enter(transition, thread, thread.next_state)
    if thread.status is not FrameStatus.ENDED:
        return
    if thread.id:
        fork.settle(transition, thread)
    else:
        _end(transition, thread)


def _enter(transition: Transition, thread: Thread, name: str) -> None:
    state = transition.machine.state(name)
    entry = transition.record(
        f"{type(state).__name__}StateEntered",
        thread.last_event,
        {"name": name, "input": thread.input},
    )
    thread.stand(name, entry, transition.now)
    transition.count_state(thread.input)
    if transition.overspent:
        thread.rest_on_clock(transition.now)
    else:
        work(transition, thread)


def work(transition: Transition, thread: Thread) -> None:  # noqa: C901  # a line per state type
    """Do what the state asks for in which a frame stands, for the first time or again."""
    state = transition.state_of(thread)
    try:
        match state:
            case Task():
                task.enter(transition, thread, state)
            case Pass():
                pass_.enter(transition, thread, state)
            case Choice():
                choice.enter(transition, thread, state)
            case Wait():
                wait.enter(transition, thread, state)
            case Await():
                await_.enter(transition, thread, state)
            case Compensate():
                compensate.enter(transition, thread, state)
            case Succeed():
                succeed.enter(transition, thread, state)
            case Fail():
                fail.enter(transition, thread, state)
            case Parallel():
                parallel.enter(transition, thread, state)
            case Map():
                map_.enter(transition, thread, state)
    except StateFailure as failed:
        meet(transition, thread, evaluation_failed(transition, thread, failed))


def report(
    transition: Transition,
    thread: Thread,
    event: Report | MomentDue,
) -> None:
    """Tell a frame that rests on a task what became of it."""
    state = transition.state_of(thread)
    if not isinstance(state, Task):
        raise TypeError(f"the state {state.name} rests on no task")
    try:
        task.resume(transition, thread, state, event)
    except StateFailure as failed:
        meet(transition, thread, evaluation_failed(transition, thread, failed))
    _take_up(transition, thread)


def fire(transition: Transition, thread: Thread) -> None:
    """Let the timers of a frame fire that are due."""
    state = transition.state_of(thread)
    if not isinstance(state, Await):
        raise TypeError(f"the state {state.name} has no timers")
    try:
        await_.fire(transition, thread, state)
    except StateFailure as failed:
        meet(transition, thread, evaluation_failed(transition, thread, failed))
    _take_up(transition, thread)


def go_on(transition: Transition, thread: Thread) -> None:
    """Let a frame go on whose moment has come."""
    work(transition, thread)
    _take_up(transition, thread)


def admit_more(transition: Transition, thread: Thread) -> None:
    """Let the next children begin of a fork whose frame has been woken for them."""
    state = transition.state_of(thread)

    def again(places: range) -> tuple[list[Payload], list[Payload] | None]:
        if isinstance(state, Map):
            return map_.again(transition, thread, state, places)
        if isinstance(state, Parallel):
            return parallel.again(transition, thread, state, places)
        raise TypeError(f"the state {state.name} opens no fork")

    try:
        fork.go_on(transition, thread, again)
    except StateFailure as failed:
        fork.break_off(transition, thread, evaluation_failed(transition, thread, failed))


def _take_up(transition: Transition, thread: Thread) -> None:
    if thread.next_state is not None or thread.status is FrameStatus.ENDED:
        transition.agenda.append(thread)


def _join(transition: Transition, thread: Thread, result: Payload) -> None:
    state, thread.result = transition.state_of(thread), None
    try:
        if isinstance(state, Map | Parallel):
            failed = register.succeeded(transition, thread, state, result)
            if failed is not None:
                raise failed
        if isinstance(state, Map):
            map_.resume(transition, thread, state, result)
        elif isinstance(state, Parallel):
            parallel.resume(transition, thread, state, result)
    except StateFailure as failed:
        meet(transition, thread, evaluation_failed(transition, thread, failed))


def _resume(transition: Transition, item: Undone) -> None:
    """Let a frame go on that has rested until what it has done was undone."""
    if transition.outcome.execution.phase is Phase.UNDOING and not item.frame:
        ending.undone(transition)
        return
    transition.outcome.has_undone()
    thread = transition.tree.thread(item.frame)
    setback = None if thread.pause is None else thread.pause.setback
    state = transition.state_of(thread)
    thread.rest_no_more()  # though there may be no room in the history for what follows
    if isinstance(state, Compensate):
        compensate.leave_it(transition, thread, state)
    elif setback is not None:
        meet(transition, thread, setback)
    _take_up(transition, thread)


def _end(transition: Transition, thread: Thread) -> None:
    """End the execution as its root frame has ended."""
    if thread.setback is None:
        ending.succeed(transition, thread)
    else:
        ending.fail(transition, thread, thread.setback.failure)
