"""What goes wrong with one execution of a group costs the others one more try, and nothing else."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from orchestrator.engine import Arrival, Handled, Outcome
from orchestrator.execution.events import TaskSucceeded
from orchestrator.execution.payload import Payload
from orchestrator.store import Claim
from tests.engine.pump import QUEUE, RESOURCE, WORKER, Pump

TOGETHER = 8


@pytest.fixture
def pump(database_url: str) -> Iterator[Pump]:
    with Pump(database_url) as pump:
        first = {"Type": "Task", "Resource": RESOURCE, "Next": "Second"}
        second = {"Type": "Task", "Resource": RESOURCE, "End": True}
        states = {"StartAt": "First", "States": {"First": first, "Second": second}}
        pump.service.deploy("two", json.dumps(states))
        yield pump


def _claims(pump: Pump, count: int = TOGETHER, lease_seconds: float = 30.0) -> list[Claim]:
    """Claims of the first tasks of new executions, with what their results will find."""
    for _ in range(count):
        pump.service.start_execution("two")
    claims = pump.store.claim(WORKER, [QUEUE], {RESOURCE}, limit=count, lease_seconds=lease_seconds)
    assert len(claims) == count
    views = pump.store.read([(claim.execution, "") for claim in claims])
    return [replace(claim, view=views[claim.execution, ""]) for claim in claims]


def _result(claim: Claim) -> TaskSucceeded:
    return TaskSucceeded(
        claim.execution,
        claim.frame,
        claim.token,
        claim.delivery,
        claim.worker,
        Payload.of({}),
        claim.claimed_at,
    )


def _hand_in_together(pump: Pump, claims: list[Claim]) -> list[Handled]:
    """Hand all results in at once, each with what its claim has seen; they form few groups."""
    answers: dict[int, Handled] = {}
    meet = threading.Barrier(len(claims))

    def hand_in(number: int) -> None:
        meet.wait()
        arrival = Arrival(_result(claims[number]), view=claims[number].view)
        answers[number] = pump.engine.hand_in(arrival)

    threads = [threading.Thread(target=hand_in, args=(n,)) for n in range(len(claims))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[number] for number in range(len(claims))]


@pytest.fixture
def commits(pump: Pump, monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The executions of every commit that the engine asked for."""
    asked: list[list[int]] = []
    commit = pump.store.commit

    def noted(decisions):  # type: ignore[no-untyped-def]
        asked.append([decision.execution.id for decision in decisions])
        return commit(decisions)

    monkeypatch.setattr(pump.store, "commit", noted)
    return asked


def test_a_claim_that_was_lost_meanwhile_is_stale_and_the_others_are_committed_at_once(
    pump: Pump, commits: list[list[int]]
) -> None:
    (lost,) = _claims(pump, 1, lease_seconds=0.0)
    pump.store.lapse(10)  # nothing of the execution tells: its version is the same
    (again,) = pump.store.claim("another", [QUEUE], {RESOURCE}, limit=1)
    assert again.execution == lost.execution
    handled = _hand_in_together(pump, [lost, *_claims(pump)])
    assert handled[0].outcome is Outcome.STALE
    assert {one.outcome for one in handled[1:]} == {Outcome.COMMITTED}
    for one in handled:
        assert sum(one.event.execution in asked for asked in commits) == 1


def test_who_was_overtaken_is_decided_again_and_the_others_are_not(
    pump: Pump, commits: list[list[int]]
) -> None:
    claims = _claims(pump)
    pump.service.stop_execution(f"two:{claims[3].execution_name}")
    commits.clear()
    handled = _hand_in_together(pump, claims)
    outcomes = [one.outcome for one in handled]
    assert outcomes[3] is Outcome.STALE
    assert outcomes.count(Outcome.COMMITTED) == TOGETHER - 1
    for claim in claims:
        assert sum(claim.execution in asked for asked in commits) == 1


def test_what_cannot_be_written_is_kept_alone(
    pump: Pump, commits: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = _claims(pump)
    unwritable = claims[5]
    commit = pump.store.commit

    def spoiled(decisions):  # type: ignore[no-untyped-def]
        return commit(
            [
                replace(one, execution=replace(one.execution, final_state="\ud800"))
                if one.execution.id == unwritable.execution
                else one
                for one in decisions
            ]
        )

    monkeypatch.setattr(pump.store, "commit", spoiled)
    handled = _hand_in_together(pump, claims)
    outcomes = [one.outcome for one in handled]
    assert outcomes.count(Outcome.COMMITTED) == TOGETHER - 1
    assert outcomes[5] is Outcome.KEPT
    for claim in claims:
        assert sum(claim.execution in asked for asked in commits) == 1
