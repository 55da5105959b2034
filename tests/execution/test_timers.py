"""The timers of an Await: each fires once, never early, and ends with the entry."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.execution.awaiting import ACCEPTED, OVER, machine, waiting
from tests.execution.harness import START, World


def test_timers_fire_once_each_by_moment_and_the_one_that_leads_away_ends_the_rest() -> None:
    effect = {"Resource": "celery:remind"}
    after = [
        {"Seconds": 30, "Next": "Over"},
        {"Seconds": 20, "Effect": effect},
        {"Seconds": 10, "Effect": effect},
        {"Seconds": 40, "Effect": effect},
    ]
    world = World(machine(A=waiting({}, After=after), Over=OVER)).start()
    world.wait(60)
    fired = [event.details["timer"] for event in world.history if event.type == "TimerFired"]
    assert fired == [2, 1, 0]
    assert [call.resource for call in world.calls] == ["celery:remind"] * 2
    assert world.history[-1].at == START + timedelta(seconds=30)
    assert world.status == "SUCCEEDED"


def test_several_that_are_due_at_once_fire_by_moment_then_by_place() -> None:
    effect = {"Resource": "celery:remind"}
    after = [{"Seconds": seconds, "Effect": effect} for seconds in (3, 2, 2, 1)]
    world = World(machine(A=waiting({"pay": {"Next": "Over"}}, After=after), Over=OVER)).start()
    world.now += timedelta(seconds=5)
    event = world.next_event()
    assert event is not None
    world.tell(event)
    fired = [event.details["timer"] for event in world.history if event.type == "TimerFired"]
    assert fired == [3, 1, 2, 0]
    assert world.only_frame().wake_at is None


def test_the_timer_that_leads_away_is_the_last_to_fire() -> None:
    effect = {"Resource": "celery:remind"}
    after = [{"Seconds": 1, "Effect": effect}, {"Seconds": 2, "Next": "Over"}]
    after += [{"Seconds": 3, "Effect": effect}]
    world = World(machine(A=waiting({}, After=after), Over=OVER)).start()
    world.now += timedelta(seconds=5)
    event = world.next_event()
    assert event is not None
    world.tell(event)
    fired = [event.details["timer"] for event in world.history if event.type == "TimerFired"]
    assert (fired, world.status) == ([0, 1], "SUCCEEDED")


def test_an_overdue_timer_that_has_not_fired_has_not_happened() -> None:
    after = [{"Seconds": 1, "Next": "Late"}]
    definition = machine(A=waiting({"pay": {"Next": "Over"}}, After=after), Over=OVER, Late=OVER)
    world = World(definition).start()
    world.now += timedelta(seconds=9)
    assert world.call("pay") == ACCEPTED


@pytest.mark.parametrize(
    ("language", "moment"),
    [
        ("JSONPath", {"SecondsPath": "$.s"}),
        ("JSONPath", {"TimestampPath": "$.t"}),
        ("JSONPath", {"Timestamp": "2026-11-30T12:00:07Z"}),
        ("JSONata", {"Seconds": "{% $states.input.s %}"}),
        ("JSONata", {"Timestamp": "{% $states.input.t %}"}),
    ],
)
def test_a_timer_says_when_as_a_wait_does(language: str, moment: Any) -> None:
    after = [{**moment, "Next": "Over"}]
    world = World(machine(language, A=waiting({}, After=after), Over=OVER))
    world.start({"s": 7, "t": "2026-11-30T12:00:07Z"}).finish()
    assert world.seconds == 7


def test_a_timer_that_cannot_be_set_fails_the_state() -> None:
    after = [{"SecondsPath": "$.none", "Next": "Over"}]
    world = World(machine(A=waiting({}, After=after), Over=OVER)).start()
    assert (world.status, world.error) == ("FAILED", "States.Runtime")
