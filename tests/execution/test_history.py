"""History rows, and history as AWS shows it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.execution.history import (
    HistoryEvent,
    UnknownLevel,
    decode,
    encode,
    to_aws,
    to_native,
)
from orchestrator.execution.payload import Payload
from tests.execution.definitions import states, task
from tests.execution.harness import START, World

document = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
detail = st.text() | st.integers() | st.booleans() | document.map(Payload.of)
details = st.dictionaries(
    st.text(), detail | st.dictionaries(st.text(), detail, max_size=2), max_size=4
)


@given(
    first=st.integers(1, 10**6),
    rows=st.lists(
        st.tuples(
            st.integers(0, 10**6),
            st.datetimes(datetime(2020, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001  # hypothesis wants them so
            st.sampled_from(["TaskScheduled", "PassStateEntered"]),
            details,
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_what_is_packed_comes_out_as_it_was(
    first: int, rows: list[tuple[int, datetime, str, dict[str, object]]]
) -> None:
    events = [HistoryEvent(first + n, *row) for n, row in enumerate(rows)]  # type: ignore[arg-type]
    text = encode(events)
    assert text.isascii()
    assert decode(text) == events


def test_a_document_that_several_events_name_is_there_once() -> None:
    world = World(states(A={"Type": "Pass", "Next": "B"}, B={"Type": "Succeed"})).run("z" * 1_000)
    row = json.loads(encode(world.decisions[0].history))
    assert row["level"] == 1
    assert len(row["documents"]) == 1


def test_equal_documents_are_there_once_too() -> None:
    events = [
        HistoryEvent(n, 0, START, "PassStateEntered", {"input": Payload.of([1, {}])})
        for n in (1, 2)
    ]
    assert len(json.loads(encode(events))["documents"]) == 1


def test_what_an_events_type_and_place_tell_is_left_out() -> None:
    world = World(states(A=task(Next="B"), B={"Type": "Succeed"})).run({"a": 1})
    row = json.loads(encode(world.decisions[0].history))
    assert row["events"][2:] == [["TaskScheduled", ["celery", "work", "us-east-1", [0]]]]
    assert decode(json.dumps(row)) == list(world.decisions[0].history)
    ended = world.decisions[1].history
    rows = json.loads(encode(ended))["events"]
    assert [one[1] for one in rows if one[0] == "TaskStarted"] == [["celery", "work", "worker"]]
    assert decode(encode(ended)) == list(ended)


def test_times_are_kept_to_the_microsecond() -> None:
    at = START + timedelta(microseconds=1)
    assert decode(encode([HistoryEvent(1, 0, at, "ExecutionAborted", {})]))[0].at == at


@pytest.mark.parametrize("level", [-1, 2, 99])
def test_a_row_of_an_unknown_level_is_refused(level: int) -> None:
    row = {"level": level, "first": 1, "at": 0, "events": [], "documents": []}
    with pytest.raises(UnknownLevel):
        decode(json.dumps(row))


@pytest.mark.parametrize(
    "event",
    [
        [],
        ["TaskStarted"],
        ["TaskStarted", ["celery"]],
        ["TaskStarted", ["celery", "work", "worker", "more"]],
        ["New", []],
        ["New", {}, "0"],
        ["A", {}, 1, 2, 3],
    ],
)
def test_an_event_that_says_too_little_or_too_much_is_refused(event: list[object]) -> None:
    row = {"level": 1, "first": 1, "at": 0, "events": [event], "documents": []}
    with pytest.raises(UnknownLevel):
        decode(json.dumps(row))


def test_an_event_is_shown_as_aws_shows_it() -> None:
    world = World(states(A=task(TimeoutSeconds=5))).run({"a": 1})
    shown = [to_aws(event) for event in world.history]
    time = START.timestamp()
    assert shown[0] == {
        "id": 1,
        "previousEventId": 0,
        "timestamp": time,
        "type": "ExecutionStarted",
        "executionStartedEventDetails": {
            "input": '{"a":1}',
            "inputDetails": {"truncated": False},
            "roleArn": "arn:aws:iam::000000000000:role/orchestrator",
        },
    }
    assert shown[1]["stateEnteredEventDetails"] == {
        "name": "A",
        "input": '{"a":1}',
        "inputDetails": {"truncated": False},
    }
    assert shown[2]["taskScheduledEventDetails"] == {
        "resourceType": "celery",
        "resource": "work",
        "region": "us-east-1",
        "parameters": '{"a":1}',
        "timeoutInSeconds": 5,
    }
    assert shown[5]["stateExitedEventDetails"] == {
        "name": "A",
        "output": '{"a":1}',
        "outputDetails": {"truncated": False},
    }


@pytest.mark.parametrize("event_type", ["TaskStarted", "LambdaFunctionStarted"])
def test_who_ran_a_task_is_told_by_us_and_not_by_aws(event_type: str) -> None:
    event = HistoryEvent(1, 0, START, event_type, {"workerName": "w1"})
    details = f"{event_type[0].lower()}{event_type[1:]}EventDetails"
    assert to_aws(event).get(details, {}) == {}
    assert to_native(event)[details] == {"workerName": "w1"}


@pytest.mark.parametrize(
    "event_type", ["LambdaFunctionStarted", "MapStateSucceeded", "TaskStateAborted"]
)
def test_an_event_that_has_no_details_on_aws_has_none_here(event_type: str) -> None:
    shown = to_aws(HistoryEvent(1, 0, START, event_type, {}))
    assert set(shown) == {"id", "previousEventId", "timestamp", "type"}
