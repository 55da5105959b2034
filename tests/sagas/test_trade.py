"""Sagas end to end: workers, scheduler and engine over each database, in one process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.cli import main as command
from orchestrator.client import CallError, Client
from tests.calls.house import serving
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


def words(database_url: str, address: str) -> list[str]:
    return in_words(effects(database_url, address))


def test_what_blocks_is_seen_retried_and_skipped_through_every_door(
    trade: Deployment, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A compensation fails for good: undoing stops there until an operator does something."""
    trade.service.deploy("six", json.dumps(chain(SIX)))
    given = {"trouble": {"fail": ["e", "undo c", "undo b"]}}
    address = trade.service.start_execution("six", "stuck", json.dumps(given)).address
    with serving(trade.parts) as url, Client(url) as client:
        trade.until(lambda: client.get(address)["compensation"] == "blocked")
        found = client.get(address)
        assert (found["status"], found["phase"], found["outcome"]) == (
            "RUNNING",
            "undoing",
            "FAILED",
        )
        states = {one["state"]: one["status"] for one in client.compensations(address)}
        assert states == {"a": "pending", "b": "pending", "c": "blocked", "d": "done"}
        (blocked,) = [one for one in client.compensations(address) if one["status"] == "blocked"]
        assert (blocked["error"], blocked["cause"]) == ("Stuck", "c cannot be undone")
        (attention,) = [
            one for one in trade.service.operations.attention() if one.subject == address
        ]
        assert blocked["id"] in attention.text
        assert attention.kind == "compensation blocked"

        with pytest.raises(CallError) as no_reason:
            client.skip(address, " ")
        assert no_reason.value.status == 400
        with pytest.raises(CallError) as none_such:
            client.retry(address, "why not", "~999")
        assert none_such.value.status == 409
        # A retry runs it again under the same key; it fails again.
        assert client.retry(address, "the bank is back", who="ann") == [blocked["id"]]
        trade.until(lambda: client.get(address)["compensation"] == "blocked")
        assert client.stop(address)["phase"] == "undoing"
        assert client.skip(address, "done by hand", blocked["id"], "ann") == [blocked["id"]]
        trade.until(lambda: client.get(address)["compensation"] == "blocked")

    assert [one for one in trade.service.operations.diagnose().findings if one.execution] == []
    options = ["--database-url", database_url, "--json"]
    for arguments in (["skip", address], ["retry", address]):
        with pytest.raises(SystemExit) as refused:
            command([*arguments, *options])
        assert refused.value.code == 2  # no reason
    capsys.readouterr()
    with pytest.raises(SystemExit) as skipped:
        command(["skip", address, "--reason", "done by hand, too", *options])
    assert skipped.value.code in (0, None)
    assert ended(trade, address) == "FAILED"
    assert words(database_url, address) == [*"abcd", "undo d", "undo a"]
    run = trade.service.describe_execution(address)
    assert (run.execution.error, run.undoing) == ("Broken", "completed")
    trail = [
        (row.who, row.what.split()[0], row.reason)
        for row in trade.service.operations.trail(address)
    ]
    assert trail[:2] == [("ann", "retry", "the bank is back"), ("ann", "skip", "done by hand")]
    assert trail[2][1:] == ("skip", "done by hand, too")


def test_a_stop_undoes_and_an_abort_does_not(trade: Deployment, database_url: str) -> None:
    trade.service.deploy("six", json.dumps(chain(SIX)))
    given = json.dumps({"trouble": {"slow": {"c": 1.0}}})
    one, two = (
        trade.service.start_execution("six", name, given).address for name in ("stopped", "aborted")
    )
    trade.until(
        lambda: [words(database_url, address) for address in (one, two)] == [["a", "b"]] * 2
    )
    trade.service.stop_execution(one, "Enough", "because")
    trade.service.stop_execution(two, abort=True)
    assert ended(trade, two) == "ABORTED"
    assert trade.service.describe_execution(two).undoing == "abandoned"
    assert ended(trade, one) == "ABORTED"
    # The handler of c was waited for: what it did after all is undone.
    assert words(database_url, one) == ["a", "b", "c", "undo c", "undo b", "undo a"]
    left = {
        row.compensation.state: row.compensation.status
        for row in trade.service.compensations.of(two)
    }
    assert left == {"a": "pending", "b": "pending"}
