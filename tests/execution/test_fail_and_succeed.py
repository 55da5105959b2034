"""Fail and Succeed states."""

from __future__ import annotations

from typing import Any

import pytest

from tests.execution.definitions import states
from tests.execution.harness import World


def failing(**fields: Any) -> dict[str, Any]:
    return states(F={"Type": "Fail", **fields})


@pytest.mark.parametrize(
    ("fields", "error", "cause"),
    [
        ({}, None, None),
        ({"Error": "E"}, "E", None),
        ({"Error": "E", "Cause": "because"}, "E", "because"),
        ({"ErrorPath": "$.e", "CausePath": "$.c"}, "Oops", "it broke"),
        ({"ErrorPath": "$.e", "CausePath": "States.Format('so {}', $.c)"}, "Oops", "so it broke"),
        ({"Error": "States.Timeout"}, "States.Timeout", None),
    ],
)
def test_a_fail_ends_the_execution_with_what_it_names(
    fields: dict[str, Any], error: str | None, cause: str | None
) -> None:
    world = World(failing(**fields)).run({"e": "Oops", "c": "it broke"})
    assert (world.status, world.error, world.cause) == ("FAILED", error, cause)
    assert world.types == ["ExecutionStarted", "FailStateEntered", "ExecutionFailed"]
    named = {"error": error, "cause": cause}
    assert world.history[-1].details == {k: v for k, v in named.items() if v is not None}


@pytest.mark.parametrize("value", [1, None, {}, ["a"]])
def test_an_error_at_a_path_is_a_text(value: Any) -> None:
    world = World(failing(ErrorPath="$.e")).run({"e": value})
    assert world.error == "States.Runtime"


def test_an_error_path_that_leads_nowhere_ends_the_execution_all_the_same() -> None:
    world = World(failing(ErrorPath="$.nope")).run({"e": 1})
    assert world.error == "States.Runtime"
    assert "specified for the field 'ErrorPath' could not be found" in (world.cause or "")


def test_succeed_ends_with_its_input() -> None:
    definition = states(S={"Type": "Succeed", "InputPath": "$.a", "OutputPath": "$.b"})
    world = World(definition).run({"a": {"b": 1}})
    assert world.result == 1
    assert world.types[1:] == ["SucceedStateEntered", "SucceedStateExited", "ExecutionSucceeded"]
