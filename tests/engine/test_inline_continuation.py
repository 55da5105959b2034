"""The commit that ends a Task claims the next one for the slot that goes on."""

from __future__ import annotations

import json

import pytest

from orchestrator.engine import Arrival, Claimant, Outcome
from orchestrator.execution.events import TaskSucceeded
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.store import Claim, StoreUnavailable
from tests.engine.pump import QUEUE, RESOURCE, WORKER, Pump

CLAIMANT = Claimant(WORKER, frozenset({RESOURCE}), frozenset(), lease_seconds=30.0)


def _chain(tasks: int, **fields: object) -> str:
    states = {
        f"T{n}": {
            "Type": "Task",
            "Resource": RESOURCE,
            **fields,
            **({"Next": f"T{n + 1}"} if n < tasks else {"End": True}),
        }
        for n in range(1, tasks + 1)
    }
    return json.dumps({"StartAt": "T1", "States": states})


def _result(claim: Claim) -> TaskSucceeded:
    return TaskSucceeded(
        claim.execution,
        claim.frame,
        claim.token,
        claim.delivery,
        claim.worker,
        claim.arguments,
        claim.claimed_at,
    )


def _first(pump: Pump) -> Claim:
    (claim,) = pump.store.claim(WORKER, [QUEUE], {RESOURCE}, limit=1)
    return claim


def test_a_slot_goes_from_task_to_task_without_claiming_again(database_url: str) -> None:
    with Pump(database_url) as pump:
        address = pump.start(_chain(3), '{"n": 1}')
        claim: Claim | None = _first(pump)
        view = None
        states = []
        while claim is not None:
            states.append(claim.state)
            assert (claim.delivery, claim.attempt) == (1, 1)
            handled = pump.engine.hand_in(Arrival(_result(claim), CLAIMANT, view))
            claim, view = handled.claim, handled.view

        assert states == ["T1", "T2", "T3"]
        found = pump.service.describe_execution(address)
    assert found.execution.status is ExecutionStatus.SUCCEEDED


def test_what_is_claimed_in_the_commit_is_claimed_for_all(database_url: str) -> None:
    with Pump(database_url) as pump:
        pump.start(_chain(2, HeartbeatSeconds=5, TimeoutSeconds=60))
        handled = pump.engine.hand_in(Arrival(_result(_first(pump)), CLAIMANT))

        assert handled.claim is not None
        assert pump.store.claim("another", [QUEUE], {RESOURCE}, limit=1) == []
        (frame,) = pump.store.frames(handled.claim.execution)
        assert frame == handled.claim.row
        assert frame.task is not None
        assert frame.wake_at is not None
        assert frame.timeout_at is not None
        assert frame.wake_at < frame.timeout_at
        assert pump.store.renew(WORKER, [handled.claim]) == []
        assert pump.store.heartbeat(handled.claim)


def test_without_a_claimant_the_next_task_is_anybodys(database_url: str) -> None:
    with Pump(database_url) as pump:
        pump.start(_chain(2))
        handled = pump.engine.hand_in(Arrival(_result(_first(pump))))

        assert handled.claim is None
        assert len(pump.store.claim("another", [QUEUE], {RESOURCE}, limit=1)) == 1


def test_a_task_that_the_claimant_does_not_serve_is_left_to_others(database_url: str) -> None:
    other = Claimant(WORKER, frozenset({"celery:else"}), frozenset(), lease_seconds=30.0)
    with Pump(database_url) as pump:
        pump.start(_chain(2))

        assert pump.engine.hand_in(Arrival(_result(_first(pump)), other)).claim is None


def test_an_at_most_once_handler_is_so_when_it_is_claimed_in_the_commit(database_url: str) -> None:
    once = Claimant(WORKER, frozenset({RESOURCE}), frozenset({RESOURCE}), lease_seconds=30.0)
    with Pump(database_url) as pump:
        pump.start(_chain(2))
        handled = pump.engine.hand_in(Arrival(_result(_first(pump)), once))

        assert handled.claim is not None
        assert handled.claim.at_most_once


def test_what_is_in_hand_is_read_again_when_something_else_came_first(database_url: str) -> None:
    with Pump(database_url) as pump:
        address = pump.start(_chain(3))
        first = pump.engine.hand_in(Arrival(_result(_first(pump)), CLAIMANT))
        assert first.claim is not None
        pump.store.heartbeat(first.claim)
        pump.service.stop_execution(address)
        late = pump.engine.hand_in(Arrival(_result(first.claim), CLAIMANT, first.view))

        assert late.outcome is Outcome.STALE
        assert late.claim is None


@pytest.mark.parametrize("stands", [True, False])
def test_a_claim_is_not_lost_in_a_commit_of_which_nobody_knows_whether_it_stands(
    database_url: str, stands: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Pump(database_url) as pump:
        pump.start(_chain(2))
        arrival = Arrival(_result(_first(pump)), CLAIMANT)
        commit = pump.store.commit

        def dies(decisions):  # type: ignore[no-untyped-def]
            if stands:
                commit(decisions)
            raise StoreUnavailable("the connection died", unknown=True)

        monkeypatch.setattr(pump.store, "commit", dies)
        with pytest.raises(StoreUnavailable):
            pump.engine.hand_in(arrival)
        monkeypatch.undo()
        again = pump.engine.hand_in(arrival)

        assert again.outcome is Outcome.COMMITTED
        assert again.claim is not None
        assert again.claim.state == "T2"
        assert pump.engine.hand_in(arrival).outcome is Outcome.STALE
        assert pump.engine.hand_in(Arrival(_result(again.claim))).outcome is Outcome.COMMITTED
