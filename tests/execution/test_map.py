"""Map states."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.asl.limits import Limits
from orchestrator.execution.frame import FrameStatus
from tests.execution.definitions import PASS, mapping, parallel, states, task
from tests.execution.harness import World
from tests.execution.outcomes import Call, Hung, Outcome, Raised, Returned, script


def each(**fields: Any) -> dict[str, Any]:
    """Return a machine with one Task per item."""
    return states(M=mapping(states(T=task()), **fields))


def fail_odd(call: Call) -> Outcome:
    assert isinstance(call.input, int)
    return Raised("Odd", str(call.input)) if call.input % 2 else Returned(call.input)


def test_every_item_is_an_iteration_and_outputs_come_by_index() -> None:
    def handle(call: Call) -> Outcome:
        assert isinstance(call.input, int)
        return Returned(call.input * 10, after_seconds=10 - call.input)

    world = World(each(), handle).run([1, 2, 3])
    assert world.result == [10, 20, 30]
    assert world.the("MapStateStarted").details == {"length": 3}
    assert world.types.count("MapIterationSucceeded") == 3


def test_a_map_over_nothing_succeeds_at_once() -> None:
    world = World(each()).run([])
    assert world.result == []
    assert [(event.previous_id, event.type) for event in world.history[2:]] == [
        (2, "MapStateStarted"),
        (3, "MapStateSucceeded"),
        (3, "MapStateExited"),
        (5, "ExecutionSucceeded"),
    ]


def test_items_stand_at_a_path_of_the_effective_input() -> None:
    world = World(each(InputPath="$.a", ItemsPath="$.b", ResultPath="$.r")).run({"a": {"b": [7]}})
    assert world.result == {"a": {"b": [7]}, "r": [7]}


@pytest.mark.parametrize("items", [{}, "abc", 1, None, True])
def test_items_are_an_array(items: Any) -> None:
    world = World(each()).run({"x": items} if items is None else items)
    assert world.error == "States.Runtime"
    assert (world.cause or "").endswith('Reference path "$" must point to array.')


def test_an_item_selector_sees_the_item_its_index_and_the_input() -> None:
    selector = {"i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value", "all.$": "$.n", "c": 1}
    world = World(each(ItemsPath="$.xs", ItemSelector=selector)).run({"xs": ["a", "b"], "n": 5})
    assert world.result == [
        {"i": 0, "v": "a", "all": 5, "c": 1},
        {"i": 1, "v": "b", "all": 5, "c": 1},
    ]


def test_the_item_is_known_to_all_states_of_its_iteration() -> None:
    reads = {"Type": "Pass", "Parameters": {"v.$": "$$.Map.Item.Value"}, "End": True}
    processor = states(T=task(Next="Q"), Q=parallel(states(R=reads)))
    world = World(states(M=mapping(processor)), script(Returned("x"))).run([1, 2])
    assert world.result == [[{"v": 1}], [{"v": 2}]]


def test_an_inner_map_hides_the_item_of_the_outer_one() -> None:
    reads = {"Type": "Pass", "Parameters": {"v.$": "$$.Map.Item.Value"}, "End": True}
    inner = mapping(states(R=reads), Next="S")
    world = World(states(M=mapping(states(N=inner, S={**reads, "ResultPath": "$[0].o"}))))
    assert world.run([[1]]).result == [[{"v": 1, "o": {"v": [1]}}]]


# --------------------------------------------------------------------------------- concurrency


def test_no_more_iterations_run_than_may() -> None:
    most = 0

    def handle(call: Call) -> Outcome:
        nonlocal most
        running = [frame for frame in world.frames.values() if frame.task is not None]
        most = max(most, len(running))
        return Returned(call.input, after_seconds=1 + len(world.calls) % 3)

    world = World(each(MaxConcurrency=3), handle)
    world.run(list(range(10)))
    assert world.result == list(range(10))
    assert most == 3


def test_who_ends_an_iteration_lets_the_next_one_begin() -> None:
    world = World(each(MaxConcurrency=1)).start([1, 2])
    assert world.frames["/3.1"].status is FrameStatus.PENDING
    world.step()
    assert world.missing[0].frames == ("/3.1",)
    world.finish()
    begun = [event for event in world.history if event.type == "MapIterationStarted"]
    left = [event for event in world.history if event.type == "TaskStateExited"]
    assert [event.previous_id for event in begun] == [3, left[0].id]


def test_with_one_at_a_time_the_order_is_that_of_the_items() -> None:
    world = World(states(M=mapping(states(P=PASS), MaxConcurrency=1))).run(["a", "b", "c"])
    assert world.result == ["a", "b", "c"]
    assert len(world.decisions) == 1
    entered = [
        event.details["input"] for event in world.history if event.type == "PassStateEntered"
    ]
    assert [payload.value for payload in entered] == ["a", "b", "c"]  # type: ignore[union-attr]


def test_max_concurrency_can_stand_in_the_input() -> None:
    world = World(each(ItemsPath="$.xs", MaxConcurrencyPath="$.n")).start({"xs": [1, 2], "n": 1})
    assert world.forks[""].max_concurrency == 1


@pytest.mark.parametrize(
    ("field", "value", "cause"),
    [
        ("MaxConcurrency", "two", 'refers to value "two" which is not a valid integer: $.v'),
        ("MaxConcurrency", {}, 'refers to value "{}" which is not a valid integer: $.v'),
        ("MaxConcurrency", -1, "MaxConcurrency cannot be negative."),
        ("ToleratedFailureCount", 1.5, "which is not a valid integer: $.v"),
        ("ToleratedFailureCount", -1, "ToleratedFailureCount cannot be negative."),
        ("ToleratedFailurePercentage", 100.1, "must be between 0 and 100."),
        ("ToleratedFailurePercentage", "x", "which is not a valid number: $.v"),
    ],
)
def test_what_a_map_reads_about_its_fork_is_a_number_that_makes_sense(
    field: str, value: Any, cause: str
) -> None:
    world = World(each(ItemsPath="$.xs", **{f"{field}Path": "$.v"})).run({"xs": [], "v": value})
    assert world.error == "States.Runtime"
    assert (world.cause or "").endswith(cause)


# ------------------------------------------------------------------------------------- failures


def test_the_first_failure_fails_the_map_with_its_own_name() -> None:
    world = World(each(), fail_odd).run([0, 1, 2])
    assert (world.error, world.cause) == ("Odd", "1")


def test_a_failed_iteration_aborts_the_others() -> None:
    world = World(each(), script(Raised("E", after_seconds=1), Hung())).run([0, 1])
    failed = world.the("TaskFailed").id
    rest = [(e.type, e.previous_id, e.details.get("index")) for e in world.history[failed:]]
    assert rest == [
        ("MapIterationFailed", failed, 0),
        ("TaskStateAborted", failed, None),
        ("MapIterationAborted", failed, 1),
        ("TaskStateAborted", failed, None),
        ("MapStateFailed", failed, None),
        ("ExecutionFailed", failed + 5, None),
    ]


@pytest.mark.parametrize(
    ("fields", "failing", "status"),
    [
        ({"ToleratedFailureCount": 2}, 2, "SUCCEEDED"),
        ({"ToleratedFailureCount": 2}, 3, "FAILED"),
        ({"ToleratedFailurePercentage": 50}, 5, "SUCCEEDED"),
        ({"ToleratedFailurePercentage": 50}, 6, "FAILED"),
        ({"ToleratedFailurePercentage": 100}, 10, "SUCCEEDED"),
        ({"ToleratedFailureCount": 9, "ToleratedFailurePercentage": 20}, 3, "FAILED"),
        ({"ToleratedFailureCount": 1, "ToleratedFailurePercentage": 90}, 2, "FAILED"),
    ],
)
def test_a_map_tolerates_as_many_failures_as_it_says(
    fields: dict[str, Any], failing: int, status: str
) -> None:
    def handle(call: Call) -> Outcome:
        assert isinstance(call.input, int)
        return Raised("E") if call.input < failing else Returned(call.input)

    world = World(each(**fields), handle).run(list(range(10)))
    assert world.status == status
    if status == "FAILED":
        assert world.error == "States.ExceedToleratedFailureThreshold"
    else:
        assert isinstance(world.result, list)
        assert world.result[0] == {"Error": "E", "Cause": None}
        assert len(world.result) == 10


@pytest.mark.parametrize("field", ["ToleratedFailureCount", "ToleratedFailurePercentage"])
def test_a_map_that_tolerates_nothing_reports_the_error_itself(field: str) -> None:
    assert World(each(**{field: 0}), script(Raised("E"))).run([1]).error == "E"


def test_tolerated_failures_can_stand_in_the_input() -> None:
    definition = each(ItemsPath="$.xs", ToleratedFailureCountPath="$.n")
    assert World(definition, fail_odd).run({"xs": [1, 2], "n": 1}).status == "SUCCEEDED"


def test_a_caught_map_leaves_by_its_catcher() -> None:
    catch = [{"ErrorEquals": ["Odd"], "ResultPath": None, "Next": "P"}]
    definition = states(M=mapping(states(T=task()), Catch=catch), P=PASS)
    world = World(definition, fail_odd).run([1, 2])
    assert world.result == [1, 2]
    assert world.forks == {}


def test_a_retry_runs_all_iterations_again() -> None:
    retry = [{"ErrorEquals": ["Odd"], "MaxAttempts": 2}]
    world = World(each(Retry=retry), fail_odd).run([0, 1])
    assert world.error == "Odd"
    assert len(world.calls) == 6
    assert world.types.count("MapStateStarted") == 3
    assert world.types.count("MapStateFailed") == 1
    started = [event for event in world.history if event.type == "MapStateStarted"]
    failed = [event for event in world.history if event.type == "TaskFailed"]
    assert started[1].previous_id == failed[0].id


def test_an_iteration_can_retry_and_catch_for_itself() -> None:
    retry = [{"ErrorEquals": ["Odd"], "MaxAttempts": 1}]
    catch = [{"ErrorEquals": ["Odd"], "Next": "P"}]
    processor = states(T=task(Retry=retry, Catch=catch), P={**PASS, "Result": "caught"})
    world = World(states(M=mapping(processor)), fail_odd).run([0, 1, 2, 3])
    assert world.result == [0, "caught", 2, "caught"]


def test_an_output_too_large_inside_ends_the_execution_whatever_catches() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "Q"}]
    large = {"Type": "Pass", "Result": "x" * 900, "End": True}
    definition = states(M=mapping(states(P=large), Catch=catch), Q=PASS)
    world = World(definition, limits=Limits(document_bytes=800)).run([1])
    assert (world.status, world.error) == ("FAILED", "States.DataLimitExceeded")


def test_a_distributed_map_runs_as_an_inline_one() -> None:
    config = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}}
    world = World(states(M=mapping({**states(T=task()), **config}))).run([1, 2])
    assert world.result == [1, 2]


def test_what_comes_with_a_later_release_says_so() -> None:
    config = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}}
    reader = {
        "Resource": "arn:aws:states:::s3:getObject",
        "ReaderConfig": {"InputType": "JSON"},
        "Parameters": {"Bucket": "b", "Key": "k"},
    }
    world = World(states(M=mapping({**states(T=task()), **config}, ItemReader=reader))).run([1])
    assert world.error == "States.Runtime"
    assert "ItemReader comes with a later release" in (world.cause or "")
