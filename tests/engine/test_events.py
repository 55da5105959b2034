"""An event counts once, and only if it answers what is asked; none sinks its neighbours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from orchestrator.engine import Handled, Outcome
from orchestrator.execution.events import (
    DeadlinePassed,
    Event,
    MomentDue,
    StopRequested,
    TaskFailed,
    TaskLost,
    TaskSucceeded,
)
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.execution.payload import Payload
from orchestrator.store import Claim
from tests.engine.poison import spoil
from tests.engine.pump import QUEUE, RESOURCE, WORKER, Pump

ASKS = json.dumps(
    {
        "StartAt": "Ask",
        "States": {
            "Ask": {"Type": "Task", "Resource": RESOURCE, "TimeoutSeconds": 86_400, "Next": "Rest"},
            "Rest": {"Type": "Wait", "Seconds": 86_400, "End": True},
        },
    }
)
HOSTILE = "nul \x00, half \ud800, bell \x07"


@pytest.fixture
def pump(database_url: str) -> Iterator[Pump]:
    """The engine on SQLite and PostgreSQL in turn, without a worker or a scheduler."""
    with Pump(database_url) as pump:
        yield pump


def _claimed(pump: Pump, *names: str) -> list[Claim]:
    """Start an execution per name; their first tasks, claimed."""
    for name in names:
        pump.start(ASKS, name=name)
    return pump.store.claim(WORKER, [QUEUE], {RESOURCE}, limit=len(names))


def _result(claim: Claim) -> TaskSucceeded:
    return TaskSucceeded(
        claim.execution,
        claim.frame,
        claim.token,
        claim.delivery,
        claim.worker,
        Payload.of({"done": True}),
        claim.claimed_at,
    )


def _failure(claim: Claim, error: str, cause: str) -> TaskFailed:
    return TaskFailed(
        claim.execution,
        claim.frame,
        claim.token,
        claim.delivery,
        claim.worker,
        error,
        cause,
        claim.claimed_at,
    )


def _outcomes(handled: list[Handled]) -> list[Outcome]:
    return [one.outcome for one in handled]


def _everything(pump: Pump, execution: int) -> object:
    """All that the database knows of an execution."""
    store = pump.store
    return (
        store.execution(execution),
        store.frames(execution),
        store.history(execution),
        store.output(execution),
    )


def test_a_result_counts_once_however_often_it_arrives(pump: Pump) -> None:
    (claim,) = _claimed(pump, "one")
    result = _result(claim)
    together = pump.engine.handle_many([result, result, result])
    assert _outcomes(together) == [Outcome.COMMITTED, Outcome.STALE, Outcome.STALE]
    before = _everything(pump, claim.execution)
    assert _outcomes(pump.engine.handle_many([result])) == [Outcome.STALE]
    assert _outcomes(pump.engine.handle_many([_failure(claim, "Late", "")])) == [Outcome.STALE]
    assert _everything(pump, claim.execution) == before


def test_forged_and_outdated_answers_change_nothing(pump: Pump) -> None:
    (claim,) = _claimed(pump, "one")
    result, lost = _result(claim), TaskLost(claim.execution, claim.frame, claim.token, 1)
    limit = claim.row.timeout_at
    assert limit is not None
    moment = MomentDue(claim.execution, claim.frame, claim.row.entry, limit)
    forged: list[Event] = [
        replace(result, token="0" * 64),
        replace(result, token=""),
        replace(result, delivery=claim.delivery + 1),
        replace(result, delivery=0),
        replace(result, claimed_by="somebody:1:else"),
        replace(result, frame="/1.0"),
        replace(result, frame="no frame"),
        replace(lost, token="0" * 64),
        replace(lost, delivery=2),
        moment,  # it is not due
        replace(moment, wake_at=limit - timedelta(days=2)),
        replace(moment, entry=claim.row.entry + 1),
        DeadlinePassed(claim.execution, claim.claimed_at),
    ]
    before = _everything(pump, claim.execution)
    for event in forged:
        assert _outcomes(pump.engine.handle_many([event])) == [Outcome.STALE], event
    assert set(_outcomes(pump.engine.handle_many(forged))) == {Outcome.STALE}
    assert _everything(pump, claim.execution) == before
    assert _outcomes(pump.engine.handle_many([result])) == [Outcome.COMMITTED]


def test_the_answer_of_an_earlier_delivery_is_refused(pump: Pump) -> None:
    (early,) = _claimed(pump, "one")
    pump.store.release(WORKER, [early])
    (late,) = pump.store.claim("another", [QUEUE], {RESOURCE}, limit=1)
    assert late.token == early.token
    before = _everything(pump, late.execution)
    assert _outcomes(pump.engine.handle_many([_result(early)])) == [Outcome.STALE]
    assert _everything(pump, late.execution) == before
    assert _outcomes(pump.engine.handle_many([_result(late)])) == [Outcome.COMMITTED]


def test_an_event_for_an_execution_that_is_not_there_is_stale(pump: Pump) -> None:
    (claim,) = _claimed(pump, "one")
    nowhere: list[Event] = [
        replace(_result(claim), execution=1),
        StopRequested(2, None, None),
        DeadlinePassed(3, claim.claimed_at),
    ]
    handled = pump.engine.handle_many([*nowhere, _result(claim)])
    assert _outcomes(handled) == [*[Outcome.STALE] * 3, Outcome.COMMITTED]
    assert handled[0].reason == "there is no such execution"


def test_a_stop_ends_an_execution_once(pump: Pump) -> None:
    (claim,) = _claimed(pump, "one")
    stop = StopRequested(claim.execution, "Enough", "nobody waits")
    handled = pump.engine.handle_many([stop, stop, _result(claim)])
    assert _outcomes(handled) == [Outcome.COMMITTED, Outcome.STALE, Outcome.STALE]
    ended = pump.store.execution(claim.execution)
    assert ended is not None
    assert (ended.status, ended.error) == (ExecutionStatus.ABORTED, "Enough")
    assert pump.store.frames(claim.execution) == []


def test_what_cannot_be_decided_does_not_sink_its_group(database_url: str, pump: Pump) -> None:
    claims = _claimed(pump, "good", "better")
    pump.service.deploy("broken", ASKS)
    pump.service.start_execution("broken", "bad")
    (bad,) = pump.store.claim(WORKER, [QUEUE], {RESOURCE}, limit=1)
    spoil(database_url, "broken")
    with Pump(database_url) as fresh:  # which has not read the definition yet
        events = [_result(claims[0]), _result(bad), _result(claims[1])]
        handled = fresh.engine.handle_many(events)
        assert _outcomes(handled) == [Outcome.COMMITTED, Outcome.KEPT, Outcome.COMMITTED]
        assert "is not understood by this release" in handled[1].reason
        before = _everything(fresh, bad.execution)
        assert _outcomes(fresh.engine.handle_many([_result(bad)])) == [Outcome.KEPT]
        assert _everything(fresh, bad.execution) == before
    assert pump.store.frames(bad.execution)[0].task is not None  # it is claimed still


def test_errors_that_no_database_column_could_hold_do_not_keep_an_execution(pump: Pump) -> None:
    claims = _claimed(pump, "one", "two")
    failures = [_failure(claim, HOSTILE, HOSTILE) for claim in claims]
    assert set(_outcomes(pump.engine.handle_many(failures))) == {Outcome.COMMITTED}
    for claim in claims:
        ended = pump.store.execution(claim.execution)
        assert ended is not None
        assert (ended.status, ended.error, ended.cause) == ("FAILED", HOSTILE, HOSTILE)
