"""Pass states."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.asl.limits import Limits
from tests.execution.definitions import PASS, states
from tests.execution.harness import World


def passing(**fields: Any) -> dict[str, Any]:
    return states(P={"Type": "Pass", "End": True, **fields})


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({}, {"a": {"b": 1}}),
        ({"Result": 5}, 5),
        ({"Result": None}, None),
        ({"Result": {"x.$": "$.a"}}, {"x.$": "$.a"}),
        ({"InputPath": "$.a"}, {"b": 1}),
        ({"InputPath": None}, {}),
        ({"OutputPath": None}, {}),
        ({"OutputPath": "$.a.b"}, 1),
        ({"Parameters": {"y.$": "$.a.b"}}, {"y": 1}),
        ({"Parameters": {"y.$": "$.a.b"}, "ResultPath": "$.c"}, {"a": {"b": 1}, "c": {"y": 1}}),
        ({"Result": 1, "ResultPath": "$.c.d"}, {"a": {"b": 1}, "c": {"d": 1}}),
        ({"Result": 1, "ResultPath": "$.a.b"}, {"a": {"b": 1}} | {"a": {"b": 1}}),
        ({"Result": 1, "ResultPath": None}, {"a": {"b": 1}}),
        ({"InputPath": "$.a", "ResultPath": "$.c"}, {"a": {"b": 1}, "c": {"b": 1}}),
    ],
)
def test_a_pass_shapes_its_input(fields: dict[str, Any], output: Any) -> None:
    assert World(passing(**fields)).run({"a": {"b": 1}}).result == output


def test_a_result_that_cannot_be_placed_fails_the_execution() -> None:
    world = World(passing(Result=1, ResultPath="$.a.b")).run({"a": 5})
    assert world.error == "States.ResultPathMatchFailure"
    assert (world.cause or "").startswith(
        "An error occurred while executing the state 'P' (entered at the event id #2). "
    )


def test_an_output_over_the_limit_ends_the_execution_before_the_state_is_left() -> None:
    world = World(passing(Result="x" * 50), limits=Limits(document_bytes=40)).run()
    assert (world.status, world.error) == ("FAILED", "States.DataLimitExceeded")
    assert world.cause == (
        "The state/task 'P' returned a result with a size exceeding the maximum number of bytes "
        "service limit."
    )
    assert world.types == ["ExecutionStarted", "PassStateEntered", "ExecutionFailed"]


@pytest.mark.parametrize(("text", "size"), [("é" * 10, 22), ("€" * 10, 32), ("😀" * 10, 42)])
def test_sizes_are_counted_as_utf_8(text: str, size: int) -> None:
    assert World(passing(), limits=Limits(document_bytes=size)).run(text).result == text
    over = World(passing(), limits=Limits(document_bytes=size - 1)).run(text)
    assert over.error == "States.DataLimitExceeded"


def test_passes_follow_each_other_in_one_decision() -> None:
    world = World(states(A={"Type": "Pass", "Next": "B"}, B=PASS)).run([1])
    assert len(world.decisions) == 1
    assert world.result == [1]
    assert [event.previous_id for event in world.history] == [0, 0, 2, 3, 4, 5]
    assert world.execution.final_state == "B"
    assert world.execution.ended_at is not None


def test_a_document_that_passes_unchanged_is_never_copied() -> None:
    world = World(states(A={"Type": "Pass", "Next": "B"}, B=PASS)).run([1])
    assert world.output is world.input


@pytest.mark.parametrize("text", ["\x00", "\ud800", "é", "\U0001f600"])
def test_any_text_passes(text: str) -> None:
    assert World(passing(ResultPath="$.r", Result=text)).run({"t": text}).result == {
        "t": text,
        "r": text,
    }
