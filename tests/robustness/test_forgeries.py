"""20,000 results that are stale, doubled or forged change not one byte."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
import sqlalchemy as sa

from orchestrator.engine import Outcome
from orchestrator.execution.events import (
    CallbackSucceeded,
    DeadlinePassed,
    Event,
    MomentDue,
    TaskFailed,
    TaskLost,
    TaskSucceeded,
)
from orchestrator.execution.payload import Payload
from orchestrator.store import Claim
from tests.engine.pump import QUEUE, RESOURCE, WORKER, Pump
from tests.robustness.rows import everything

FORGERIES = 20_000
TOGETHER = 500

TASK = {"Type": "Task", "Resource": RESOURCE, "TimeoutSeconds": 9_999, "HeartbeatSeconds": 999}
MACHINES = {
    "asks": {"StartAt": "A", "States": {"A": {**TASK, "Next": "B"}, "B": {**TASK, "End": True}}},
    "waits": {
        "TimeoutSeconds": 99_999,
        "StartAt": "W",
        "States": {"W": {"Type": "Wait", "Seconds": 86_400, "End": True}},
    },
    "few": {
        "StartAt": "F",
        "States": {
            "F": {
                "Type": "Map",
                "ItemsPath": "$",
                "ItemProcessor": {"StartAt": "C", "States": {"C": {**TASK, "End": True}}},
                "End": True,
            }
        },
    },
    "ends": {"StartAt": "E", "States": {"E": {"Type": "Succeed"}}},
}


@pytest.fixture
def engine(database_url: str) -> Iterator[sa.Engine]:
    made = sa.create_engine(database_url)
    yield made
    made.dispose()


def _result(claim: Claim) -> TaskSucceeded:
    return TaskSucceeded(
        claim.execution,
        claim.frame,
        claim.token,
        claim.delivery,
        claim.worker,
        Payload.of("forged"),
        claim.claimed_at,
    )


def _scene(pump: Pump) -> tuple[list[Claim], list[Claim]]:
    """Executions at every kind of rest; the claims that hold, and those that are over."""
    for name, definition in MACHINES.items():
        pump.service.deploy(name, json.dumps(definition))
        for number in range(6):
            pump.service.start_execution(name, f"{name}{number}", "[1, 2, 3]")
    claims = pump.store.claim(WORKER, [QUEUE], {RESOURCE}, limit=12)
    over, held = claims[:4], claims[4:]
    pump.engine.handle_many([_result(claim) for claim in over[:2]])
    pump.store.release(WORKER, over[2:])
    held += pump.store.claim("w2", [QUEUE], {RESOURCE}, limit=2)
    return held, over


def _forged(draw: Random, held: list[Claim], over: list[Claim]) -> Event:
    """An event that answers nothing that is asked, however near it comes."""
    claim = draw.choice(held)
    result = _result(claim)
    failed = TaskFailed(*_result_fields(result), "E", "c", claim.claimed_at)
    forgeries: list[Event] = [
        _result(draw.choice(over)),
        replace(result, token=secrets.token_hex(32)),
        replace(result, token=draw.choice(held + over).token + "0"),
        replace(result, delivery=claim.delivery + 1),
        replace(result, delivery=claim.delivery - 1),
        replace(result, claimed_by="somebody else"),
        replace(result, claimed_by=""),
        replace(result, frame=f"/{draw.randint(1, 9)}.{draw.randint(3, 99)}"),
        replace(result, execution=draw.randint(1, 99)),
        replace(failed, token=secrets.token_hex(32)),
        replace(failed, delivery=claim.delivery + 7),
        TaskLost(claim.execution, claim.frame, claim.token, claim.delivery + 1),
        TaskLost(claim.execution, claim.frame, secrets.token_hex(32), claim.delivery),
        CallbackSucceeded(claim.execution, claim.frame, secrets.token_hex(32), Payload.of(1)),
        MomentDue(claim.execution, claim.frame, claim.row.entry + 1, claim.claimed_at),
        MomentDue(claim.execution, claim.frame, claim.row.entry, claim.claimed_at),
        MomentDue(claim.execution, "", 2, claim.claimed_at + timedelta(days=9)),
        DeadlinePassed(claim.execution, claim.claimed_at),
    ]
    return draw.choice(forgeries)


def _result_fields(result: TaskSucceeded) -> tuple[int, str, str, int, str]:
    return result.execution, result.frame, result.token, result.delivery, result.claimed_by


def test_20000_stale_doubled_and_forged_results_change_nothing(
    database_url: str, engine: sa.Engine
) -> None:
    draw = Random(20_000)
    with Pump(database_url) as pump:
        held, over = _scene(pump)
        before = everything(engine)
        outcomes: Counter[Outcome] = Counter()
        for _ in range(FORGERIES // TOGETHER):
            forged = [_forged(draw, held, over) for _ in range(TOGETHER)]
            outcomes.update(one.outcome for one in pump.engine.handle_many(forged))
        assert outcomes == {Outcome.STALE: FORGERIES}
        assert everything(engine) == before
        # And what is asked for counts still, once.
        handled = pump.engine.handle_many([_result(claim) for claim in held])
        assert {one.outcome for one in handled} == {Outcome.COMMITTED}
        assert everything(engine) != before
