"""Sagas end to end: workers, scheduler and engine over each database, in one process."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.cli import main as command
from orchestrator.client import CallError, Client
from orchestrator.execution.events import DeadlinePassed
from orchestrator.store import Pauses
from tests.calls.house import serving
from tests.calls.machines import Deployment, deployment
from tests.sagas.trade import GATES, chain, step
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
        _told_by_commands(trade, database_url, address, blocked["id"], capsys)
        (wait,) = [one for one in client.waits(address) if one["on"] == "operator"]
        assert (wait["state"], wait["why"]) == ("c", attention.text)

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

    _skip_by_command(trade, database_url, address, capsys)


def _told_by_commands(
    trade: Deployment,
    database_url: str,
    address: str,
    blocked: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every command that asks how it stands says what is blocked, and what to type."""
    (finding,) = trade.service.operations.diagnose().findings
    assert (finding.kind, finding.execution, finding.state, finding.part) == (
        "compensation blocked",
        address,
        "c",
        blocked,
    )
    for asks in (["doctor"], ["attention"], ["describe", address], ["waits", address]):
        capsys.readouterr()
        with pytest.raises(SystemExit) as asked:
            command([*asks, "--database-url", database_url])
        assert asked.value.code == (1 if asks == ["doctor"] else 0)
        said = capsys.readouterr().out
        assert f"compensation {blocked} of c has failed for good: Stuck: c cannot be undone" in said
        assert "waits to begin" not in said
        for verb in ("retry", "skip"):
            assert f"orchestrator {verb} {address} --compensation '{blocked}' --reason WHY" in said


def _skip_by_command(
    trade: Deployment, database_url: str, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [one for one in trade.service.operations.diagnose().findings if one.execution]
    assert [one.kind.value for one in found] == ["compensation blocked"]  # nothing else is wrong
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
    assert (run.execution.error, run.undoing, run.skipped) == ("Broken", "completed", 2)
    capsys.readouterr()
    with pytest.raises(SystemExit):
        command(["describe", address, "--database-url", database_url])
    assert "  undoing  completed, 2 skipped\n" in capsys.readouterr().out
    trail = [
        (row.who, row.what.split()[0], row.reason)
        for row in trade.service.operations.trail(address)
    ]
    assert trail[:2] == [("ann", "retry", "the bank is back"), ("ann", "skip", "done by hand")]
    assert trail[2][1:] == ("skip", "done by hand, too")


def test_a_retry_decides_what_is_kept_and_runs_again_what_is_blocked(
    trade: Deployment, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    caught = {"ErrorEquals": ["States.ALL"], "Compensate": True, "Next": "end"}
    both = {"Type": "Parallel", "Branches": [chain(["a", "b"])], "Catch": [caught], "End": True}
    states = {"both": both, "end": {"Type": "Succeed"}}
    definition = {"StartAt": "both", "States": states, "TimeoutSeconds": 3_600}
    trade.service.deploy("two", json.dumps(definition))
    given = json.dumps({"trouble": {"fail": ["b", "undo a"]}})
    address = trade.service.start_execution("two", "one", given).address
    trade.until(lambda: trade.service.describe_execution(address).undoing == "blocked")
    run = trade.service.find_execution(address)
    assert run.deadline_at is not None
    kept = DeadlinePassed(run.id, run.deadline_at)
    assert trade.store.strike(kept, "a fault of ours", Pauses(first_seconds=3_600)) == 1
    capsys.readouterr()
    for least in (1, 0):
        with pytest.raises(SystemExit) as done:
            command(["retry", address, "--reason", "mended", "--database-url", database_url])
        assert done.value.code in (0, None)
        said = capsys.readouterr().out
        assert said.count("1 applied") == least
        assert said.count("run again") == 1
        trade.until(lambda: trade.service.describe_execution(address).undoing == "blocked")
    trade.service.stop_execution(address, abort=True)
    assert ended(trade, address) == "TIMED_OUT"


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


def nested(*, adopts: bool, after: str | None, **fields: Any) -> dict[str, Any]:
    """Return a machine of a step, of a trip that another execution makes, and of another step."""
    trip: dict[str, Any] = {
        "Type": "Task",
        "Resource": "arn:aws:states:::states:startExecution.sync:2",
        "Parameters": {
            "StateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:trip",
            "Input.$": "$",
        },
        "ResultPath": None,
        **({"Compensate": True} if adopts else {}),
        **({"Next": after} if after else {"End": True}),
        **fields,
    }
    states: dict[str, Any] = {"first": step("first", "trip"), "trip": trip}
    if after:
        states[after] = step(after, None)
    return {"StartAt": "first", "States": states}


TRIP: dict[str, Any] = {
    "StartAt": "book",
    "States": {
        "book": step("book", "both"),
        "both": {
            "Type": "Parallel",
            "Branches": [chain(["x1", "x2"]), chain(["y1"])],
            "ResultPath": None,
            "Next": "tickets",
        },
        "tickets": step("tickets", None),
    },
}


def test_what_a_child_has_done_is_its_parents_to_undo_if_the_parent_says_so(
    trade: Deployment, database_url: str
) -> None:
    trade.service.deploy("trip", json.dumps(TRIP))
    given = json.dumps({"trouble": {"fail": ["last"]}})
    ledgers = {}
    for adopts in (True, False):
        trade.service.deploy("parent", json.dumps(nested(adopts=adopts, after="last")))
        address = trade.service.start_execution("parent", f"adopts-{adopts}", given).address
        assert ended(trade, address) == "FAILED"
        ledgers[adopts] = words(database_url, address)
    assert ledgers[False] == ["first", "undo first"]
    undone = ledgers[True][1:]
    assert undone[0] == "undo tickets"
    assert undone.index("undo x2") < undone.index("undo x1")
    assert undone[-2:] == ["undo book", "undo first"]
    assert len(undone) == 6
    # What the child could undo is nobody's any more.
    for child in trade.service.list_executions("trip"):
        assert trade.service.compensations.of(f"trip:{child.name}") == []


@pytest.mark.parametrize(("limit", "outcome"), [({}, "ABORTED"), ({"TimeoutSeconds": 4}, "FAILED")])
def test_a_stopped_child_undoes_itself_before_its_parent_goes_on(
    trade: Deployment,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    limit: dict[str, int],
    outcome: str,
) -> None:
    monkeypatch.setitem(GATES, "tickets", gate := threading.Event())
    trade.service.deploy("trip", json.dumps(TRIP))
    trade.service.deploy("parent", json.dumps(nested(adopts=True, after=None, **limit)))
    given = json.dumps({"trouble": {"slow": {"undo x2": 0.5}}})
    address = trade.service.start_execution("parent", "stopped", given).address

    def everything() -> list[Any]:
        with kept_at(database_url) as ledger:
            return in_words([one.what for one in ledger.effects()])

    trade.until(lambda: "x2" in everything() and "y1" in everything())
    if not limit:
        trade.service.stop_execution(address)
    trade.until(lambda: trade.service.list_executions("trip")[0].phase == "undoing")
    assert trade.store.children.orphaned(10) == []  # those still to be stopped
    gate.set()
    assert ended(trade, address) == outcome
    undone = [one for one in everything() if one.startswith("undo")]
    assert undone[-1] == "undo first"
    assert undone.index("undo x2") < undone.index("undo x1") < undone.index("undo book")
    (child,) = trade.service.list_executions("trip")
    assert child.status == "ABORTED"


def test_what_was_undone_on_the_way_to_success_stays_on_record(trade: Deployment) -> None:
    """The last of it is over in the transaction that ends the execution and drops the rest."""
    definition = {
        "StartAt": "a",
        "States": {
            "a": step("a", "b"),
            "b": step("b", "back"),
            "back": {"Type": "Compensate", "Next": "good"},
            "good": {"Type": "Succeed"},
        },
    }
    trade.service.deploy("back", json.dumps(definition))
    address = trade.service.start_execution("back", "one", '{"trouble": {}}').address
    assert ended(trade, address) == "SUCCEEDED"
    found = {
        one.compensation.state: one.compensation.status.value
        for one in trade.service.compensations.of(address)
    }
    assert found == {"a": "done", "b": "done"}
