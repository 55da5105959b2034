"""The context object."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.execution.definitions import PASS, mapping, states, task
from tests.execution.harness import World
from tests.execution.outcomes import Raised, Returned, script


def reading(path: str) -> dict[str, Any]:
    return states(P={**PASS, "InputPath": path})


def test_the_context_names_the_execution_its_machine_and_the_state() -> None:
    assert World(reading("$$"), name="4711").run({"n": 1}).result == {
        "Execution": {
            "Id": "arn:aws:states:us-east-1:000000000000:execution:machine:4711",
            "Input": {"n": 1},
            "Name": "4711",
            "RoleArn": "arn:aws:iam::000000000000:role/orchestrator",
            "StartTime": "2026-11-30T12:00:00.000Z",
            "RedriveCount": 0,
        },
        "StateMachine": {
            "Id": "arn:aws:states:us-east-1:000000000000:stateMachine:machine",
            "Name": "machine",
        },
        "State": {"Name": "P", "EnteredTime": "2026-11-30T12:00:00.000Z"},
    }


@pytest.mark.parametrize("path", ["$$.Execution.StartTime", "$$.State.EnteredTime"])
def test_times_have_milliseconds_and_a_zone(path: str) -> None:
    result = World(reading(path)).run().result
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(result))


def test_the_execution_s_input_is_known_in_later_decisions() -> None:
    definition = states(A=task(Next="P"), P={**PASS, "InputPath": "$$.Execution.Input"})
    assert World(definition, script(Returned("other"))).run({"n": 1}).result == {"n": 1}


def test_a_task_knows_how_often_it_was_tried_again() -> None:
    retry = [{"ErrorEquals": ["E"]}]
    definition = states(A=task(Parameters={"n.$": "$$.State.RetryCount"}, Retry=retry))
    world = World(definition, script(Raised("E"), Raised("E"), Returned(1))).run()
    assert [call.input for call in world.calls] == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_an_item_says_where_it_comes_from() -> None:
    definition = states(M=mapping(states(P=PASS), ItemSelector={"i.$": "$$.Map.Item"}))
    item = {"Index": 0, "Value": "x", "Source": "STATE_DATA"}
    assert World(definition).run(["x"]).result == [{"i": item}]
