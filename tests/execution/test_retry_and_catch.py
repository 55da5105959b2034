"""Retriers and Catchers: which takes what, when it is tried again, and where errors go."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from orchestrator.execution.frame import RestsOn
from tests.execution.definitions import PASS, mapping, states, task
from tests.execution.harness import START, World
from tests.execution.outcomes import Hung, Lost, Outcome, Raised, Returned, script


def caught(*names: str, **fields: Any) -> dict[str, Any]:
    """Return a machine whose Task goes to Caught for these errors."""
    catch = [{"ErrorEquals": list(names), "Next": "Caught", **fields}]
    return states(A=task(Catch=catch), Caught=PASS)


def retried(*names: str, **fields: Any) -> dict[str, Any]:
    return states(A=task(Retry=[{"ErrorEquals": list(names), **fields}]))


def times_claimed(definition: Any, *outcomes: Outcome, at_most_once: bool = False) -> int:
    world = World(definition, script(*outcomes), at_most_once=at_most_once).run()
    return len(world.calls)


# ------------------------------------------------------------------------------------------ retry


def test_a_retry_rests_on_the_clock_and_leaves_no_trace_of_it() -> None:
    world = World(retried("E", IntervalSeconds=3), script(Raised("E"), Returned(1))).start()
    world.step()
    frame = world.only_frame()
    assert frame.rests_on is RestsOn.CLOCK
    assert frame.wake_at == START + timedelta(seconds=3)
    assert frame.task is None
    assert world.types[-1] == "TaskFailed"
    world.finish()
    second = [event for event in world.history if event.type == "TaskScheduled"][1]
    assert second.previous_id == world.the("TaskFailed").id
    assert second.at == START + timedelta(seconds=3)


def test_pauses_grow_by_the_rate_up_to_the_longest() -> None:
    fields = {"IntervalSeconds": 2, "BackoffRate": 3, "MaxAttempts": 4, "MaxDelaySeconds": 20}
    world = World(retried("E", **fields), script(Raised("E"))).run()
    assert world.error == "E"
    times = [(e.at - START).total_seconds() for e in world.history if e.type == "TaskScheduled"]
    assert times == [0, 2, 8, 26, 46]


def test_a_retrier_tries_three_times_again_unless_it_says_otherwise() -> None:
    assert times_claimed(retried("E"), Raised("E")) == 4
    assert times_claimed(retried("E", MaxAttempts=0), Raised("E")) == 1


def test_jitter_lies_within_the_pause_and_is_the_same_when_computed_again() -> None:
    fields = {"IntervalSeconds": 100, "JitterStrategy": "FULL", "MaxAttempts": 1}
    runs = [World(retried("E", **fields), script(Raised("E")), number=n).run() for n in (1, 1, 2)]
    pauses = [run.seconds for run in runs]
    assert all(0 <= pause < 100 for pause in pauses)
    assert pauses[0] == pauses[1] != pauses[2]


def test_every_retrier_counts_for_itself_and_the_first_that_matches_is_the_one() -> None:
    retry = [
        {"ErrorEquals": ["A"], "MaxAttempts": 1},
        {"ErrorEquals": ["States.ALL"], "MaxAttempts": 2},
    ]
    outcomes = (Raised("B"), Raised("A"), Raised("B"), Raised("A"), Returned("never"))
    world = World(states(S=task(Retry=retry)), script(*outcomes)).run()
    assert (world.error, len(world.calls)) == ("A", 4)


def test_counts_start_anew_when_the_state_is_entered_again() -> None:
    definition = states(
        A=task(
            Retry=[{"ErrorEquals": ["E"], "MaxAttempts": 1}],
            Catch=[{"ErrorEquals": ["E"], "Next": "A"}],
        )
    )
    world = World(definition, script(*[Raised("E")] * 5, Returned(1))).run()
    assert len(world.calls) == 6
    assert [call.attempt for call in world.calls] == [1, 2, 1, 2, 1, 2]


@pytest.mark.parametrize(
    ("names", "outcome", "taken"),
    [
        (["E"], Raised("E"), True),
        (["E"], Raised("e"), False),
        (["States.ALL"], Raised("E"), True),
        (["States.TaskFailed"], Raised("E"), True),
        (["States.TaskFailed"], Hung(), False),
        (["States.Timeout"], Hung(), True),
        (["States.ALL"], Hung(), True),
        (["Task.DeliveriesSpent"], Lost(), True),
        (["States.TaskFailed"], Lost(), True),
        (["States.Runtime"], Raised("States.Runtime"), False),
        (["States.ALL"], Raised("States.Runtime"), False),
    ],
)
def test_retriers_and_catchers_take_errors_by_name(
    names: Sequence[str], outcome: Outcome, *, taken: bool
) -> None:
    retry = [{"ErrorEquals": names, "MaxAttempts": 1}]
    world = World(states(A=task(TimeoutSeconds=1000, Retry=retry)), script(outcome)).run()
    assert (world.types.count("TaskScheduled") == 2) is taken
    catch = [{"ErrorEquals": names, "Next": "B"}]
    definition = states(A=task(TimeoutSeconds=1000, Catch=catch), B=PASS)
    assert (World(definition, script(outcome)).run().status == "SUCCEEDED") is taken


@pytest.mark.parametrize("name", ["States.Timeout", "States.HeartbeatTimeout", "States.ALL"])
def test_a_missed_heartbeat_is_taken_by_either_name(name: str) -> None:
    catch = [{"ErrorEquals": [name], "Next": "B"}]
    definition = states(A=task(HeartbeatSeconds=5, Catch=catch), B=PASS)
    world = World(definition, script(Hung())).run()
    assert world.result == {"Error": "States.Timeout", "Cause": ""}


def test_a_time_limit_is_no_missed_heartbeat() -> None:
    catch = [{"ErrorEquals": ["States.HeartbeatTimeout"], "Next": "B"}]
    definition = states(A=task(TimeoutSeconds=5, Catch=catch), B=PASS)
    assert World(definition, script(Hung())).run().status == "FAILED"


# ------------------------------------------------------------- unknown outcomes, at most once


@pytest.mark.parametrize("outcome", [Lost(), Hung()])
@pytest.mark.parametrize("name", ["States.ALL", "States.TaskFailed"])
def test_what_may_have_happened_is_never_repeated_by_a_wildcard(
    outcome: Outcome, name: str
) -> None:
    definition = states(A=task(TimeoutSeconds=60, Retry=[{"ErrorEquals": [name]}]))
    assert times_claimed(definition, outcome, at_most_once=True) == 1


@pytest.mark.parametrize(
    ("outcome", "name"), [(Lost(), "Task.WorkerLost"), (Hung(), "States.Timeout")]
)
def test_what_may_have_happened_is_repeated_when_its_name_is_given(
    outcome: Outcome, name: str
) -> None:
    retry = [{"ErrorEquals": [name], "MaxAttempts": 2}]
    definition = states(A=task(TimeoutSeconds=60, Retry=retry))
    assert times_claimed(definition, outcome, at_most_once=True) == 3


@pytest.mark.parametrize("name", ["States.Timeout", "States.HeartbeatTimeout"])
def test_a_heartbeat_missed_by_such_a_handler_has_two_names(name: str) -> None:
    retry = [{"ErrorEquals": [name], "MaxAttempts": 1}]
    definition = states(A=task(HeartbeatSeconds=6, Retry=retry))
    assert times_claimed(definition, Hung(), at_most_once=True) == 2


def test_what_may_have_happened_is_caught_as_usual() -> None:
    world = World(caught("States.ALL"), script(Lost()), at_most_once=True).run()
    assert world.status == "SUCCEEDED"


def test_what_was_reported_is_known_and_repeated_as_usual() -> None:
    assert times_claimed(retried("States.ALL"), Raised("E"), at_most_once=True) == 4


def test_what_was_never_claimed_has_not_happened() -> None:
    retry = [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1}]
    definition = states(A=task(TimeoutSeconds=5, Retry=retry))
    world = World(definition, at_most_once=True, served=False).run()
    assert world.types.count("TaskScheduled") == 2


# ------------------------------------------------------------------------------------------ catch


def test_a_caught_error_leaves_the_state_with_the_error_output() -> None:
    world = World(caught("E"), script(Raised("E", "why"))).run({"keep": 1})
    assert world.result == {"Error": "E", "Cause": "why"}
    assert world.types[4:] == [
        "TaskFailed",
        "TaskStateExited",
        "PassStateEntered",
        "PassStateExited",
        "ExecutionSucceeded",
    ]


@pytest.mark.parametrize(
    ("path", "output"),
    [
        ("$.error", {"keep": 1, "error": {"Error": "E", "Cause": "why"}}),
        (None, {"keep": 1}),
        ("$", {"Error": "E", "Cause": "why"}),
    ],
)
def test_a_catcher_places_the_error_into_the_raw_input(path: str | None, output: Any) -> None:
    catch = [{"ErrorEquals": ["E"], "ResultPath": path, "Next": "B"}]
    definition = states(
        A=task(InputPath="$.keep", ResultPath="$.no", OutputPath="$.nor", Catch=catch), B=PASS
    )
    assert World(definition, script(Raised("E", "why"))).run({"keep": 1}).result == output


def test_an_error_without_a_cause_is_caught_with_an_empty_place_for_it() -> None:
    world = World(caught("E"), script(Raised("E"))).run()
    assert world.result == {"Error": "E", "Cause": None}


def test_the_first_catcher_that_matches_is_the_one() -> None:
    catch = [
        {"ErrorEquals": ["X"], "Next": "X"},
        {"ErrorEquals": ["E", "F"], "Next": "E"},
        {"ErrorEquals": ["States.ALL"], "Next": "X"},
    ]
    definition = states(A=task(Catch=catch), X={"Type": "Fail"}, E={"Type": "Succeed"})
    assert World(definition, script(Raised("F"))).run().status == "SUCCEEDED"


def test_retries_come_before_catches() -> None:
    retry = [{"ErrorEquals": ["E"], "MaxAttempts": 2}]
    catch = [{"ErrorEquals": ["E"], "Next": "B"}]
    world = World(states(A=task(Retry=retry, Catch=catch), B=PASS), script(Raised("E"))).run()
    assert (world.status, len(world.calls)) == ("SUCCEEDED", 3)


def test_an_error_output_that_cannot_be_placed_fails_the_state() -> None:
    world = World(caught("E", ResultPath="$.a.b"), script(Raised("E"))).run({"a": 1})
    assert world.error == "States.ResultPathMatchFailure"


def test_a_failure_to_evaluate_can_be_caught_by_its_name() -> None:
    fields = {"Parameters": {"x.$": "States.StringToJson($.t)"}}
    catch = [{"ErrorEquals": ["States.IntrinsicFailure"], "Next": "B"}]
    world = World(states(A=task(**fields, Catch=catch), B=PASS)).run({"t": "{"})
    assert world.types == [
        "ExecutionStarted",
        "TaskStateEntered",
        "TaskStateExited",
        "PassStateEntered",
        "PassStateExited",
        "ExecutionSucceeded",
    ]
    assert isinstance(world.result, dict)
    assert str(world.result["Cause"]).startswith("An error occurred while executing the state 'A'")


@pytest.mark.parametrize(
    "fields",
    [
        {"InputPath": "$.nope"},
        {"OutputPath": "$.nope"},
        {"Parameters": {"x.$": "$.nope"}},
        {"ResultSelector": {"x.$": "$.nope"}},
        {"TimeoutSecondsPath": "$.nope"},
    ],
)
def test_a_path_that_leads_nowhere_is_neither_retried_nor_caught(fields: dict[str, Any]) -> None:
    takes: dict[str, Any] = {"ErrorEquals": ["States.ALL"]}
    definition = states(A=task(**fields, Retry=[takes], Catch=[{**takes, "Next": "B"}]), B=PASS)
    world = World(definition).run()
    assert (world.status, world.error) == ("FAILED", "States.Runtime")


def test_a_map_that_cannot_read_its_items_is_not_started() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "B"}]
    definition = states(A=mapping(states(P=PASS), ItemsPath="$.x", Catch=catch), B=PASS)
    world = World(definition).run({"x": 5})
    assert world.types == ["ExecutionStarted", "MapStateEntered", "ExecutionFailed"]
    assert (world.cause or "").endswith('Reference path "$.x" must point to array.')
