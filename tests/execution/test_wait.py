"""Wait states."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.execution.commands import WakeAt
from orchestrator.execution.frame import RestsOn
from tests.execution.definitions import states
from tests.execution.harness import START, World


def waiting(**fields: Any) -> dict[str, Any]:
    return states(W={"Type": "Wait", "End": True, **fields})


@pytest.mark.parametrize(
    ("fields", "given", "seconds"),
    [
        ({"Seconds": 10}, {}, 10),
        ({"SecondsPath": "$.s"}, {"s": 3}, 3),
        ({"Timestamp": "2026-11-30T12:00:30Z"}, {}, 30),
        ({"TimestampPath": "$.t"}, {"t": "2026-11-30T13:00:30+01:00"}, 30),
        ({"TimestampPath": "$.t"}, {"t": "2026-11-30T12:00:00.000000001Z"}, 0.000001),
        ({"InputPath": "$.a", "SecondsPath": "$.s"}, {"a": {"s": 4}}, 4),
    ],
)
def test_a_wait_rests_on_the_clock_until_its_moment(
    fields: dict[str, Any], given: Any, seconds: float
) -> None:
    world = World(waiting(**fields)).start(given)
    due = START + timedelta(seconds=seconds)
    frame = world.only_frame()
    assert (frame.rests_on, frame.wake_at) == (RestsOn.CLOCK, due)
    assert world.decisions[0].commands == (WakeAt(due),)
    world.finish()
    assert world.history[-1].at == due
    assert world.types[1:] == ["WaitStateEntered", "WaitStateExited", "ExecutionSucceeded"]


@pytest.mark.parametrize(
    ("fields", "given"),
    [
        ({"Seconds": 0}, {}),
        ({"SecondsPath": "$.s"}, {"s": 0}),
        ({"Timestamp": "2016-03-14T01:59:00Z"}, {}),
        ({"Timestamp": "2026-11-30T12:00:00Z"}, {}),
    ],
)
def test_a_wait_of_nothing_or_for_the_past_goes_on_at_once(
    fields: dict[str, Any], given: Any
) -> None:
    world = World(waiting(**fields)).start(given)
    assert world.status == "SUCCEEDED"


@pytest.mark.parametrize(
    ("fields", "value", "cause"),
    [
        (
            {"SecondsPath": "$.v"},
            -1,
            "SecondsPath parameter references a negative value: $.v == -1",
        ),
        ({"SecondsPath": "$.v"}, 1.5, "cannot be parsed as a long value: $.v == 1.5"),
        ({"SecondsPath": "$.v"}, "5", "cannot be parsed as a long value: $.v == 5"),
        ({"SecondsPath": "$.v"}, True, "cannot be parsed as a long value: $.v == true"),
        ({"SecondsPath": "$.w"}, 1, "SecondsPath parameter does not reference an input value: $.w"),
        ({"SecondsPath": "$.v"}, 99_999_999_999, "Wait state delay is too long."),
        (
            {"TimestampPath": "$.v"},
            "05-12-2016T21:29:29Z",
            "a valid ISO-8601 extended offset date-time format string: $.v == 05-12-2016T21:29:29Z",
        ),
        ({"TimestampPath": "$.v"}, "9999-01-01T00:00:00Z", "Wait state delay is too long."),
        ({"TimestampPath": "$.v"}, 17, "date-time format string: $.v == 17"),
    ],
)
def test_a_moment_that_is_none_ends_the_execution(
    fields: dict[str, Any], value: Any, cause: str
) -> None:
    world = World(waiting(**fields)).run({"v": value})
    assert world.error == "States.Runtime"
    assert (world.cause or "").endswith(cause)


def test_a_wait_hands_its_input_on() -> None:
    assert World(waiting(Seconds=1, OutputPath="$.a")).run({"a": [1]}).result == [1]
