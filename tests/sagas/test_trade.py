"""Sagas end to end: workers, scheduler and engine over each database, in one process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.calls.machines import Deployment, deployment
from tests.sagas.trade import chain
from workers.ledger import kept_at

SIX = ("a", "b", "c", "d", "e", "f")


@pytest.fixture
def trade(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    monkeypatch.setenv("ORCHESTRATOR_LEDGER_URL", database_url)
    with deployment(database_url, ["tests.sagas.trade"]) as found:
        yield found


def ended(trade: Deployment, address: str) -> str:
    trade.until(lambda: trade.service.find_execution(address).ended_at is not None)
    assert trade.service.operations.verify_execution(address) == ()
    return trade.service.find_execution(address).status.value


def effects(database_url: str, address: str) -> list[Any]:
    with kept_at(database_url) as ledger:
        return [one.what for one in ledger.effects(address)]


def in_words(found: list[Any]) -> list[str]:
    return [one if isinstance(one, str) else f"undo {one['undo']}" for one in found]


@pytest.mark.parametrize("language", ["JSONPath", "JSONata"])
def test_six_steps_failing_at_each_are_undone_in_order(
    trade: Deployment, database_url: str, language: str
) -> None:
    trade.service.deploy("six", json.dumps({**chain(SIX, language), "QueryLanguage": language}))
    names = [
        trade.service.start_execution(
            "six", f"at-{step}", json.dumps({"trouble": {"fail": [step]}})
        ).address
        for step in SIX
    ]
    for k, address in enumerate(names):
        assert ended(trade, address) == "FAILED"
        run = trade.service.find_execution(address)
        assert (run.error, run.cause) == ("Broken", f"{SIX[k]} is broken")
        done = effects(database_url, address)
        assert in_words(done) == [*SIX[:k], *(f"undo {one}" for one in reversed(SIX[:k]))]
        # The handler is told the key of what it undoes, which is the one the step acted under.
        assert all(one["undoes"] == one["done"] for one in done[k:])
