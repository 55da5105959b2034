"""What cannot be decided is kept, tried again, and left to an operator; no result is lost by it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa

from orchestrator.engine import Engine, Outcome, Silence
from orchestrator.execution.events import (
    DeadlinePassed,
    MomentDue,
    StopRequested,
    TaskLost,
    TaskSucceeded,
)
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.execution.payload import Payload
from orchestrator.store import MOST_STRIKES, Claim, Pauses
from tests.engine.pump import QUEUE, RESOURCE, WORKER, Pump

ASKS = {
    "StartAt": "Ask",
    "States": {"Ask": {"Type": "Task", "Resource": RESOURCE, "TimeoutSeconds": 1, "End": True}},
}
AT_ONCE = Pauses(first_seconds=0.01, factor=1.0)

Spoil = Callable[[bool], None]


@pytest.fixture
def pump(database_url: str) -> Iterator[Pump]:
    with Pump(database_url) as pump:
        pump.engine = Engine(pump.store, Silence(), pauses=AT_ONCE)
        yield pump


@pytest.fixture
def spoil(database_url: str, pump: Pump) -> Iterator[Spoil]:
    """Makes all definitions unreadable, and readable again; an engine reads them anew."""
    engine = sa.create_engine(database_url)
    kept: list[tuple[int, str]] = []

    def change(broken: bool) -> None:
        with engine.begin() as connection:
            if broken:
                rows = connection.execute(sa.text("SELECT id, text FROM revisions")).all()
                kept[:] = [(row.id, row.text) for row in rows]
            for number, text in kept:
                connection.execute(
                    sa.text("UPDATE revisions SET text = :text WHERE id = :id"),
                    {"id": number, "text": "{}" if broken else text},
                )
        pump.engine = Engine(pump.store, Silence(), pauses=AT_ONCE)

    yield change
    engine.dispose()


def _claimed(pump: Pump, name: str = "one", **options: object) -> Claim:
    pump.start(json.dumps(ASKS), name=name)
    (claim,) = pump.store.claim(WORKER, [QUEUE], {RESOURCE}, limit=1, **options)  # type: ignore[arg-type]
    return claim


def _result(claim: Claim, value: str = "done") -> TaskSucceeded:
    return TaskSucceeded(
        claim.execution,
        claim.frame,
        claim.token,
        claim.delivery,
        claim.worker,
        Payload.of(value),
        claim.claimed_at,
    )


def _outcome(pump: Pump, event: TaskSucceeded | TaskLost | MomentDue | StopRequested) -> Outcome:
    (handled,) = pump.engine.handle_many([event])
    return handled.outcome


def _due(pump: Pump) -> list[Outcome]:
    """Handle what is due, waiting for it a little."""
    until = time.monotonic() + 5.0
    while not (found := pump.store.due(10)):
        assert time.monotonic() < until
        time.sleep(0.005)
    return [one.outcome for one in pump.engine.handle_many(found)]


def _strike_out(pump: Pump) -> None:
    while _due(pump) == [Outcome.KEPT]:
        if pump.store.records.left_to_operators(10):
            return


def test_a_result_that_cannot_be_decided_is_kept_and_counts_once_it_can(
    pump: Pump, spoil: Spoil
) -> None:
    claim = _claimed(pump)
    spoil(True)
    assert _outcome(pump, _result(claim)) is Outcome.KEPT
    assert _due(pump) == [Outcome.KEPT]
    spoil(False)
    assert _due(pump) == [Outcome.COMMITTED]
    ended = pump.store.execution(claim.execution)
    assert ended is not None
    assert ended.status is ExecutionStatus.SUCCEEDED
    output = pump.store.output(claim.execution)
    assert output is not None
    assert output.value == "done"
    assert pump.store.undecided(claim.execution) == []


def test_whoever_brings_a_result_again_is_told_that_it_is_kept(pump: Pump, spoil: Spoil) -> None:
    claim = _claimed(pump)
    spoil(True)
    for value in ("done", "done", "another"):
        assert _outcome(pump, _result(claim, value)) is Outcome.KEPT
    (kept,) = pump.store.undecided(claim.execution)
    assert (kept.event, kept.strikes) == (_result(claim, "done"), 1)


def test_a_task_whose_result_is_kept_is_run_by_nobody_again(pump: Pump, spoil: Spoil) -> None:
    claim = _claimed(pump, lease_seconds=0.0)
    spoil(True)
    assert _outcome(pump, _result(claim)) is Outcome.KEPT
    assert pump.store.renew(WORKER, [claim]) == []
    lapses = pump.store.lapse(10)
    assert (lapses.given_back, lapses.lost) == ({}, ())
    assert pump.store.claim(WORKER, [QUEUE], {RESOURCE}, limit=1) == []


def test_a_result_that_is_kept_counts_though_the_time_limit_passes(
    pump: Pump, spoil: Spoil
) -> None:
    claim = _claimed(pump)
    spoil(True)
    assert _outcome(pump, _result(claim)) is Outcome.KEPT
    time.sleep(1.1)
    spoil(False)
    assert _due(pump) == [Outcome.COMMITTED]
    ended = pump.store.execution(claim.execution)
    assert ended is not None
    assert ended.status is ExecutionStatus.SUCCEEDED


def test_after_five_strikes_only_an_operator_brings_it_up_again(pump: Pump, spoil: Spoil) -> None:
    claim = _claimed(pump)
    spoil(True)
    assert _outcome(pump, _result(claim)) is Outcome.KEPT
    for strikes in range(2, MOST_STRIKES + 1):
        assert pump.store.records.left_to_operators(10) == []
        assert _due(pump) == [Outcome.KEPT]
        (kept,) = pump.store.undecided(claim.execution)
        assert kept.strikes == strikes
    (left,) = pump.store.records.left_to_operators(10)
    assert left.execution == claim.execution
    assert "not understood by this release" in left.error
    time.sleep(0.05)
    assert pump.store.due(10) == []

    moments = pump.store.retry(claim.execution, "ops", "no change")
    assert [one.outcome for one in pump.engine.handle_many(moments)] == [Outcome.KEPT]
    assert pump.store.records.left_to_operators(10) == []
    _strike_out(pump)
    spoil(False)
    moments = pump.store.retry(claim.execution, "ops", "mended")
    assert [one.outcome for one in pump.engine.handle_many(moments)] == [Outcome.COMMITTED]
    output = pump.store.output(claim.execution)
    assert output is not None
    assert output.value == "done"
    assert [
        (row.who, row.what, row.reason) for row in pump.store.records.trail(claim.execution)
    ] == [
        ("ops", "retry", "no change"),
        ("ops", "retry", "mended"),
    ]


def test_there_is_nothing_to_retry_where_nothing_is_kept(pump: Pump) -> None:
    claim = _claimed(pump)
    assert pump.store.retry(claim.execution, "ops", "why not") == []
    assert pump.store.records.trail(claim.execution) == []


def test_a_lost_task_that_cannot_be_decided_is_not_found_at_every_look(
    pump: Pump, spoil: Spoil
) -> None:
    claim = _claimed(pump, lease_seconds=0.0, at_most_once={RESOURCE})
    spoil(True)
    (lost,) = pump.store.lapse(10).lost
    assert _outcome(pump, lost) is Outcome.KEPT
    assert pump.store.lapse(10).lost == ()
    spoil(False)
    assert _due(pump) == [Outcome.COMMITTED]
    ended = pump.store.execution(claim.execution)
    assert ended is not None
    assert ended.error == "Task.WorkerLost"


def test_a_moment_and_a_deadline_wait_longer_and_take_effect_in_the_end(
    pump: Pump, spoil: Spoil
) -> None:
    waits = {
        "TimeoutSeconds": 1,
        "StartAt": "Wait",
        "States": {"Wait": {"Type": "Wait", "Seconds": 600, "End": True}},
    }
    short = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 1, "End": True}}}
    pump.service.deploy("long", json.dumps(waits))
    pump.service.deploy("short", json.dumps(short))
    long = pump.service.start_execution("long", "a").address
    brief = pump.service.start_execution("short", "b").address
    spoil(True)
    time.sleep(1.05)
    (first, second) = pump.store.due(10)
    assert {type(first), type(second)} == {MomentDue, DeadlinePassed}
    handled = pump.engine.handle_many([first, second])
    assert [one.outcome for one in handled] == [Outcome.KEPT] * 2
    while len(pump.store.records.left_to_operators(10)) < 2:
        _due(pump)
    spoil(False)
    for address in (long, brief):
        run = pump.service.describe_execution(address).execution
        pump.engine.handle_many(pump.store.retry(run.id, "ops", "mended"))
    statuses = [pump.service.describe_execution(one).execution.status for one in (long, brief)]
    assert statuses == [ExecutionStatus.TIMED_OUT, ExecutionStatus.SUCCEEDED]


def test_an_execution_that_is_stopped_leaves_nothing_to_attend_to(pump: Pump, spoil: Spoil) -> None:
    claim = _claimed(pump)
    spoil(True)
    assert _outcome(pump, _result(claim)) is Outcome.KEPT
    assert _outcome(pump, StopRequested(claim.execution, None, None)) is Outcome.FAILED
    _strike_out(pump)
    spoil(False)
    assert _outcome(pump, StopRequested(claim.execution, None, None)) is Outcome.COMMITTED
    assert pump.store.records.left_to_operators(10) == []
    assert pump.store.undecided(claim.execution) == []
    assert pump.store.retry(claim.execution, "ops", "too late") == []


def test_one_of_many_siblings_is_kept_and_the_others_go_on(pump: Pump, spoil: Spoil) -> None:
    branch = {"StartAt": "Ask", "States": ASKS["States"]}
    each = {
        "StartAt": "Each",
        "States": {"Each": {"Type": "Map", "ItemsPath": "$", "ItemProcessor": branch, "End": True}},
    }
    address = pump.start(json.dumps(each), json.dumps(list(range(12))))
    claims = pump.store.claim(WORKER, [QUEUE], {RESOURCE}, limit=12)
    spoil(True)
    assert _outcome(pump, _result(claims[0])) is Outcome.KEPT
    spoil(False)
    handled = pump.engine.handle_many([_result(claim) for claim in claims[1:]])
    assert {one.outcome for one in handled} == {Outcome.COMMITTED}
    assert _due(pump) == [Outcome.COMMITTED]
    run = pump.service.describe_execution(address).execution
    assert (run.status, run.strikes) == (ExecutionStatus.SUCCEEDED, 0)
