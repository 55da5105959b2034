"""Await: rest until a call or a timer takes the frame on."""

from __future__ import annotations

from datetime import datetime

from orchestrator.asl.states import Await
from orchestrator.execution import calling, effect
from orchestrator.execution.failure import leave
from orchestrator.execution.frame import Timer
from orchestrator.execution.history import Detail
from orchestrator.execution.states.wait import moment_of
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def enter(transition: Transition, thread: Thread, state: Await) -> None:
    """Start the timers and the entry effects, rest, and hear the calls that are kept."""
    timers = [
        Timer(place, _moment(transition, thread, state, place)) for place in range(len(state.after))
    ]
    transition.book.next_turn(thread.id)
    effect.schedule(transition, thread, effect.plan_anyway(transition, thread, state.on_enter))
    thread.rest_on_call(tuple(sorted(timers, key=lambda timer: (timer.at, timer.place))))
    calling.offer(transition, thread)


def _moment(transition: Transition, thread: Thread, state: Await, place: int) -> datetime:
    """Return when a timer fires: not before the entry, whatever it says."""
    entry = state.after[place]
    found = moment_of(transition, thread, entry.moment, thread.input, f"{entry.field}/")
    return found or thread.entered_at or transition.now


def fire(transition: Transition, thread: Thread, state: Await) -> None:
    """Let the timers fire that are due, by moment and place, until one leads away."""
    for timer in [one for one in thread.timers if one.at <= transition.now]:
        entry = state.after[timer.place]
        details: dict[str, Detail] = {"name": state.name, "timer": timer.place}
        if entry.next is not None:
            details["next"] = entry.next
        planned = effect.plan_anyway(transition, thread, entry.effects)
        thread.last_event = transition.record("TimerFired", thread.last_event, details)
        transition.book.next_turn(thread.id)
        effect.schedule(transition, thread, planned)
        if entry.next is not None:
            effect.leave_state(transition, thread, same_turn=True)
            leave(transition, thread, state, thread.input, entry.next)
            return
        thread.set_timers(tuple(one for one in thread.timers if one is not timer))
