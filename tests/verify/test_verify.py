"""A history that was made by the book has no contradiction, and one that was changed has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.asl.document import Json
from orchestrator.asl.limits import Limits
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.execution.history import HistoryEvent
from orchestrator.execution.payload import Payload
from orchestrator.verify import Record, verify
from tests.execution.harness import StuckError, World
from tests.execution.outcomes import Raised, Returned
from tests.execution.test_properties import INPUTS, LIMITS, VALUES, machines, scripted


def record_of(world: World) -> Record:
    return Record(
        world.execution, world.input, world.output, world.history, list(world.frames.values())
    )


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    machine=machines(),
    given_input=INPUTS | VALUES,
    values=st.lists(INPUTS, min_size=1, max_size=3),
    seed=st.integers(0, 10**6),
    limits=LIMITS,
    at_most_once=st.booleans(),
)
def test_whatever_happens_nothing_contradicts_itself_at_any_moment(  # what varies
    machine: dict[str, Any],
    given_input: Any,
    values: list[Any],
    seed: int,
    limits: Limits,
    *,
    at_most_once: bool,
) -> None:
    world = World(machine, scripted(seed, values), limits, at_most_once).start(given_input)
    for _ in range(5_000):
        assert verify(world.machine, record_of(world)) == ()
        if world.execution.ended_at is not None:
            return
        try:
            world.step()
        except StuckError:  # a handler that hangs, without a time limit
            return


ORDER: Json = {
    "StartAt": "Check",
    "States": {
        "Check": {
            "Type": "Task",
            "Resource": "celery:check",
            "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 2}],
            "Catch": [{"ErrorEquals": ["Bad"], "Next": "Refuse"}],
            "Next": "Each",
        },
        "Each": {
            "Type": "Map",
            "ItemsPath": "$.items",
            "ItemProcessor": {
                "StartAt": "Pick",
                "States": {"Pick": {"Type": "Task", "Resource": "celery:pick", "End": True}},
            },
            "Next": "Both",
        },
        "Both": {
            "Type": "Parallel",
            "Branches": [
                {"StartAt": "Left", "States": {"Left": {"Type": "Pass", "End": True}}},
                {
                    "StartAt": "Right",
                    "States": {"Right": {"Type": "Wait", "Seconds": 1, "End": True}},
                },
            ],
            "Next": "Done",
        },
        "Refuse": {"Type": "Fail", "Error": "Refused"},
        "Done": {"Type": "Succeed"},
    },
}


def order() -> World:
    outcomes = iter([Raised("Busy")])
    return World(ORDER, lambda call: next(outcomes, Returned(call.input)), name="order").run(
        {"items": [1, 2, 3]}
    )


def _place(history: Sequence[HistoryEvent], kind: str, nth: int = 0) -> int:
    return [n for n, event in enumerate(history) if event.type == kind][nth]


def _change(history: list[HistoryEvent], kind: str, nth: int = 0, **changes: Any) -> None:
    place = _place(history, kind, nth)
    history[place] = replace(history[place], **changes)


def _remove(history: list[HistoryEvent], kind: str, nth: int = 0) -> None:
    """Take an event out and close the gap, so that only what is missing shows."""
    place = _place(history, kind, nth)
    gone = history.pop(place)

    def moved(number: int) -> int:
        return gone.previous_id if number == gone.id else number - (number > gone.id)

    history[:] = [
        replace(one, id=moved(one.id), previous_id=moved(one.previous_id)) for one in history
    ]


def _repeat(history: list[HistoryEvent], kind: str) -> None:
    """Insert an event once more, behind itself."""
    place = _place(history, kind)
    again = history[place]
    history[place + 1 :] = [
        replace(again, id=again.id + 1),
        *(
            replace(one, id=one.id + 1, previous_id=one.previous_id + (one.previous_id > again.id))
            for one in history[place + 1 :]
        ),
    ]


Damage = Callable[[list[HistoryEvent]], object]

DAMAGES: dict[str, tuple[Damage, str]] = {
    "a gap in the ids": (lambda h: h.pop(4), "ids have a gap"),
    "time goes back": (
        lambda h: _change(h, "MapStateEntered", at=h[0].at - timedelta(seconds=1)),
        "is earlier than",
    ),
    "an event follows one to come": (
        lambda h: _change(h, "MapStateEntered", previous_id=999),
        "there is no event 999",
    ),
    "another state follows": (
        lambda h: _change(h, "MapStateEntered", details={"name": "Done"}),
        "no Map state 'Done'",
    ),
    "a state that nothing leads to": (
        lambda h: _change(
            h,
            "ParallelStateEntered",
            type="SucceedStateEntered",
            details={"name": "Done", "input": h[_place(h, "MapStateExited")].details["output"]},
        ),
        "'Each' does not lead to 'Done'",
    ),
    "a state is left twice": (lambda h: _repeat(h, "MapStateExited"), "nothing stands there"),
    "a state is entered and none was left": (
        lambda h: _remove(h, "MapStateExited"),
        "does not lead to 'Both'",
    ),
    "a result before the work began": (lambda h: _remove(h, "TaskStarted", 1), "is scheduled"),
    "an attempt beside another": (lambda h: _remove(h, "TaskFailed"), "while one is started"),
    "a state is left in the middle of its task": (
        lambda h: _remove(h, "TaskSucceeded"),
        "while its task is started",
    ),
    "an iteration begins twice": (lambda h: _repeat(h, "MapIterationStarted"), "once more"),
    "an iteration is missing at the join": (
        lambda h: _remove(h, "MapIterationSucceeded"),
        "has not ended",
    ),
    "a fork is left that was not joined": (
        lambda h: _remove(h, "ParallelStateSucceeded"),
        "while its children run",
    ),
    "what one state gives the next does not get": (
        lambda h: _change(
            h, "MapStateEntered", details={"name": "Each", "input": Payload.of("other")}
        ),
        "is not the output of the state before",
    ),
    "something happens after the end": (
        lambda h: h.append(replace(h[-1], id=h[-1].id + 1, previous_id=h[-1].id)),
        "had ended",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_history_that_was_changed_contradicts_the_definition(name: str) -> None:
    world = order()
    assert verify(world.machine, record_of(world)) == ()
    damage, words = DAMAGES[name]
    damage(world.history)
    found = verify(world.machine, record_of(world))
    assert any(words in one.text for one in found), found


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": ExecutionStatus.FAILED}, "the history says SUCCEEDED, the row FAILED"),
        ({"status": ExecutionStatus.RUNNING}, "an end without a status"),
        ({"next_event_id": 7}, "the row expects event 7"),
        ({"error": "Another"}, "the error is not that of the row"),
    ],
)
def test_a_row_that_was_changed_contradicts_the_history(
    changes: dict[str, Any], words: str
) -> None:
    world = order()
    record = replace(record_of(world), execution=replace(world.execution, **changes))
    assert any(words in one.text for one in verify(world.machine, record))


def test_documents_that_were_changed_contradict_the_history() -> None:
    world = order()
    whole = record_of(world)
    for changed, words in (
        (replace(whole, output=Payload.of(1)), "the output is not the document"),
        (replace(whole, output=None), "the output is not the document"),
        (replace(whole, input=Payload.of(1)), "the input is not the document"),
        (replace(whole, history=()), "there is no history"),
    ):
        assert any(words in one.text for one in verify(world.machine, changed))


def test_frames_that_rest_elsewhere_contradict_the_history() -> None:
    world = World(ORDER, served=False).start({"items": []})
    record = record_of(world)
    assert verify(world.machine, record) == ()
    (frame,) = record.frames
    for frames, words in (
        ((), "no frame rests there"),
        ((replace(frame, state="Each"),), "the history says otherwise"),
        ((replace(frame, entry=9),), "the history says otherwise"),
    ):
        found = verify(world.machine, replace(record, frames=frames))
        assert any(words in one.text for one in found), found


CALLED: Json = {
    "Calls": {"go": {}},
    "StartAt": "Hold",
    "States": {
        "Hold": {
            "Type": "Await",
            "OnEnter": {"Resource": "celery:open"},
            "On": {"go": {"Next": "Rest"}},
            "After": [{"Seconds": 5, "Effect": {"Resource": "celery:remind"}}],
        },
        "Rest": {"Type": "Wait", "Seconds": 1, "Next": "Done"},
        "Done": {"Type": "Succeed"},
    },
}
OF_CALLS: dict[str, tuple[Damage, str]] = {
    "a state is left without a call": (
        lambda h: _remove(h, "CallAccepted"),
        "neither a call nor a timer has led away",
    ),
    "a call where nothing waits": (
        lambda h: _change(h, "WaitStateEntered", type="CallAccepted", details={"name": "Rest"}),
        "CallAccepted",
    ),
    "a timer of a state that has none": (
        lambda h: _change(h, "TimerFired", details={"name": "Rest", "timer": 0}),
        "TimerFired",
    ),
    "an effect that nobody wanted": (
        lambda h: _change(h, "EffectScheduled", type="TimerFired", details={"name": "Hold"}),
        "which wants none",
    ),
    "an effect that is not there": (
        lambda h: _change(h, "TimerFired", type="EffectScheduled"),
        "there is no frame of it",
    ),
}


@pytest.mark.parametrize("name", OF_CALLS)
def test_a_history_of_calls_that_was_changed_contradicts_the_definition(name: str) -> None:
    world = World(CALLED).start()
    world.wait(6)
    world.call("go")
    world.finish()
    assert verify(world.machine, record_of(world)) == ()
    damage, words = OF_CALLS[name]
    damage(world.history)
    found = verify(world.machine, record_of(world))
    assert any(words in one.text for one in found), found
