"""The whole table of the order, through HTTP, the client and the command; and bad input."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from orchestrator.cli import main as command
from orchestrator.client import CallError, Refused
from tests.calls.house import House, eventually, house
from workers.ledger import kept_at

STATES = ("Pending", "OnHold", "Paid", "Shipped", "Cancelled")
JSON = {"Content-Type": "application/json"}
REVIEW = "the fraud review is not finished"
TABLE: dict[tuple[str, str], str] = {
    ("Pending", "pay"): "→ ScreenForFraud",
    ("Pending", "ship"): "Pending: pay first",
    ("Pending", "cancel"): "→ Cancelled",
    ("OnHold", "pay"): f"OnHold: {REVIEW}",
    ("OnHold", "cleared"): "→ Paid",
    ("OnHold", "ship"): f"OnHold: {REVIEW}",
    ("OnHold", "cancel"): "→ Cancelled",
    ("Paid", "pay"): "Paid: already paid",
    ("Paid", "ship"): "→ Shipped",
    ("Paid", "cancel"): "→ Cancelled",
    ("Shipped", "pay"): "Shipped: already paid",
    ("Shipped", "ship"): "Shipped: already shipped",
    ("Shipped", "cancel"): "Shipped: too late, start a return",
    ("Cancelled", "pay"): "Cancelled: order is cancelled",
    ("Cancelled", "ship"): "Cancelled: order is cancelled",
    ("Cancelled", "cancel"): "Cancelled: order is cancelled",
}
WAY: dict[str, list[tuple[str, Any, str]]] = {
    "Pending": [],
    "OnHold": [("pay", {"amount": 7}, "OnHold")],
    "Paid": [("pay", {"amount": 7}, "OnHold"), ("pay", {"cleared": True}, "Paid")],
    "Shipped": [
        ("pay", {"amount": 7}, "OnHold"),
        ("pay", {"cleared": True}, "Paid"),
        ("ship", {}, "Shipped"),
    ],
    "Cancelled": [("cancel", {}, "Cancelled")],
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ORCHESTRATOR_LEDGER_URL", raising=False)
        patch.setenv("ORCHESTRATOR_DATA", "")
        with house(tmp_path_factory.mktemp("orders")) as found:
            yield found


def order_in(home: House, state: str, name: str) -> str:
    address = home.start(name)
    home.until(address, "Pending")
    for call, given, then in WAY[state]:
        home.client.call(address, call, given)
        home.until(address, then)
    return address


def cell(column: str) -> tuple[str, Any]:
    return ("pay", {"cleared": True}) if column == "cleared" else (column, {})


def effects(home: House, address: str) -> list[tuple[str, Any]]:
    with kept_at(f"sqlite:///{home.data / 'ledger.db'}") as ledger:
        return [(one.handler, one.what) for one in ledger.effects(address)]


@pytest.mark.parametrize(("state", "column"), TABLE)
def test_the_client_is_told_what_the_table_says(home: House, state: str, column: str) -> None:
    address = order_in(home, state, f"client-{state}-{column}")
    assert home.said(address, *cell(column)) == TABLE[state, column]


@pytest.mark.parametrize(("state", "column"), TABLE)
def test_http_answers_what_the_table_says(home: House, state: str, column: str) -> None:
    address = order_in(home, state, f"http-{state}-{column}")
    call, given = cell(column)
    response = httpx.post(
        f"{home.url}/v1/executions/{address}/calls/{call}",
        json=given,
        headers={"Idempotency-Key": "k1"},
    )
    expected = TABLE[state, column]
    if expected.startswith("→"):
        assert response.status_code == 200
        to = expected.removeprefix("→ ")
        assert response.json() == {
            "verdict": "accepted",
            "call": call,
            "from": state,
            "to": to,
            "callId": "k1",
        }
    else:
        where, reason = expected.split(": ", 1)
        assert response.status_code == 409
        assert response.json() == {
            "verdict": "refused",
            "call": call,
            "state": where,
            "reason": reason,
            "callId": "k1",
        }


@pytest.mark.parametrize(("state", "column"), TABLE)
def test_the_command_says_what_the_table_says(
    home: House,
    state: str,
    column: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = f"sqlite:///{home.data / 'orchestrator.db'}"
    monkeypatch.setenv("ORCHESTRATOR_DATABASE_URL", url)
    address = order_in(home, state, f"cli-{state}-{column}")
    call, given = cell(column)
    with pytest.raises(SystemExit) as ended:
        command(["call", address, call, "--input", json.dumps(given), "--json"])
    said = json.loads(capsys.readouterr().out)
    expected = TABLE[state, column]
    if said["verdict"] == "accepted":
        assert (f"→ {said['to']}", ended.value.code) == (expected, 0)
    else:
        assert (f"{said['state']}: {said['reason']}", ended.value.code) == (expected, 1)


@pytest.mark.parametrize("state", ["Pending", "OnHold", "Paid"])
def test_what_is_paid_is_refunded_once_and_what_is_not_is_not(home: House, state: str) -> None:
    address = order_in(home, state, f"refund-{state}")
    home.client.call(address, "cancel")
    home.until(address, "Cancelled")
    wanted = {"Pending": 0, "OnHold": 2, "Paid": 4}[state]
    eventually(lambda: len(effects(home, address)) == wanted + (state != "Pending"))
    refunds = [what for handler, what in effects(home, address) if handler == "payments.refund"]
    assert refunds == ([{"refund": f"re_refund-{state}", "amount": 7}] if state == "Paid" else [])


def rows(home: House, execution: int) -> list[object]:
    """What the database holds of an execution, but for the records of its calls."""
    with closing(sqlite3.connect(home.data / "orchestrator.db")) as database:
        return [
            database.execute(query, [execution]).fetchall()
            for query in (
                "SELECT * FROM executions WHERE id = ?",
                "SELECT * FROM frames WHERE execution = ?",
                "SELECT * FROM forks WHERE execution = ?",
                "SELECT * FROM documents WHERE execution = ?",
                "SELECT * FROM history WHERE execution = ?",
            )
        ]


def on_the_wire(home: House, action: str, arn: str) -> bytes:
    """What AWS's door answers about an execution."""
    response = httpx.post(
        home.url,
        headers={
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"AWSStepFunctions.{action}",
        },
        content=json.dumps({"executionArn": arn}),
    )
    assert response.status_code == 200, response.text
    return response.content


def test_the_wire_of_aws_carries_id_type_and_time_of_what_it_does_not_know(home: House) -> None:
    address = order_in(home, "Cancelled", "wire")
    arn = home.parts.service.describe_execution(address).arn
    events = json.loads(on_the_wire(home, "GetExecutionHistory", arn))["events"]
    ours = [one for one in events if one["type"].startswith(("Await", "Call"))]
    assert [one["type"] for one in ours] == [
        "AwaitStateEntered",
        "CallAccepted",
        "AwaitStateExited",
    ]
    assert {name for one in ours for name in one} == {"id", "previousEventId", "timestamp", "type"}


def test_a_refusal_changes_nothing_that_can_be_seen(home: House) -> None:
    address = order_in(home, "OnHold", "unchanged")
    base = f"{home.url}/v1/executions/{address}"
    found = home.parts.service.describe_execution(address)

    def seen() -> list[object]:
        pages = [httpx.get(f"{base}{path}").content for path in ("", "/waits", "/history")]
        described = on_the_wire(home, "DescribeExecution", found.arn)
        return [*pages, described, *rows(home, found.execution.id)]

    service = home.parts.service
    eventually(lambda: all(one.status == "ended" for one in service.execution_effects(address)))
    before = seen()
    with pytest.raises(Refused, match="fraud review"):
        home.client.call(address, "ship", call_id="refused")
    assert seen() == before
    (record,) = [one for one in home.client.calls(address) if one["callId"] == "refused"]
    assert record["answer"]["reason"] == REVIEW
    assert httpx.get(f"{base}/calls/refused").json() == record


def test_waits_says_what_is_taken_now_and_which_timer_fires_next(home: House) -> None:
    address = order_in(home, "OnHold", "waits")
    (waits,) = home.client.waits(address)
    assert (waits["state"], waits["on"], waits["calls"]) == ("OnHold", "call", ["pay", "cancel"])
    assert (waits["timer"]["place"], waits["timer"]["next"]) == (0, None)
    assert waits["since"] < waits["timer"]["at"]


def test_a_repeat_is_answered_byte_for_byte_also_when_the_order_has_moved_on(home: House) -> None:
    address = order_in(home, "Pending", "repeat")
    url = f"{home.url}/v1/executions/{address}/calls"
    key = {"Idempotency-Key": "once"}
    first = httpx.post(f"{url}/pay", json={"amount": 1, "b": 2.0}, headers=key)
    home.until(address, "OnHold")
    again = httpx.post(f"{url}/pay", content='{"b": 2, "amount": 1}', headers={**JSON, **key})
    assert (again.status_code, again.content) == (200, first.content)
    for path, given in (("pay", {"amount": 2}), ("ship", {"amount": 1})):
        other = httpx.post(f"{url}/{path}", json=given, headers=key)
        assert other.status_code == 422
        assert other.headers["content-type"] == "application/problem+json"


def test_a_call_made_while_the_task_runs_is_kept_and_hears_later(home: House) -> None:
    address = home.start("slow", simulate={"fraud.screen": {"seconds": 1.5}})
    home.until(address, "Pending")
    assert home.client.call(address, "pay").to == "ScreenForFraud"
    pending = home.client.call(address, "pay", {"cleared": True}, call_id="early")
    assert pending.verdict == "pending"
    early = httpx.post(
        f"{home.url}/v1/executions/{address}/calls/pay",
        json={"cleared": True},
        headers={"Idempotency-Key": "early"},
    )
    said = {"verdict": "pending", "call": "pay", "callId": "early"}
    assert (early.status_code, early.json()) == (202, said)
    assert home.client.get(address)["keptCalls"] == 1
    assert home.client.call(address, "ship", wait_seconds=20).to == "Shipped"
    assert home.client.call(address, "pay", {"cleared": True}, call_id="early").origin == "OnHold"


# -------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("path", "body", "status", "pointer"),
    [
        ("bad/calls/sing", "{}", 400, None),
        ("bad/calls/pay", "{", 400, None),
        ("bad/calls/pay", "", 200, None),
        ("bad/calls/pay", '{"amount": "much"}', 422, "/amount"),
        ("bad/calls/pay", "[]", 422, ""),
        ("nobody/calls/sing", "[]", 404, None),
        ("bad/calls/sing", "[]", 400, None),
        ("bad/calls/pay?wait=61", "{}", 400, None),
        ("bad/calls/pay?wait=x", "{}", 400, None),
        ("bad/calls/pay?wait=1_0", "{}", 400, None),
        ("bad/calls/pay?wait=%D9%A1", "{}", 400, None),  # a digit, but none of ours
        ("bad/calls/pay?at=there", "{}", 400, None),
        ("bad/calls/ship?at=/9.9", "{}", 409, None),
    ],
)
def test_bad_input_is_a_problem_with_its_place(
    home: House, path: str, body: str, status: int, pointer: str | None
) -> None:
    name = f"bad-{abs(hash((path, body)))}"
    order_in(home, "Pending", name)
    target = path.replace("bad/", f"{name}/")
    url = f"{home.url}/v1/executions/order:{target}"
    response = httpx.post(url, content=body, headers=JSON)
    assert response.status_code == status, response.text
    if status in (400, 404, 422):
        assert response.headers["content-type"] == "application/problem+json"
        problem = response.json()
        assert problem["status"] == status
        assert problem.get("pointer") == pointer


def test_an_input_over_the_limit_is_refused(home: House) -> None:
    address = order_in(home, "Pending", "large")
    with pytest.raises(CallError) as error:
        home.client.call(address, "pay", {"x": "x" * 70_000})
    assert error.value.status == 422


def test_a_condition_that_fails_to_evaluate_refuses_and_leaves_the_state_alone(home: House) -> None:
    definition = {
        "QueryLanguage": "JSONata",
        "Calls": {"go": {}},
        "StartAt": "A",
        "States": {
            "A": {
                "Type": "Await",
                "On": {
                    "go": [
                        {"Condition": "{% $states.input.none %}", "Next": "B"},
                        {"Refuse": "else"},
                    ]
                },
            },
            "B": {"Type": "Succeed"},
        },
    }
    home.client.deploy("picky", json.dumps(definition))
    address = home.client.start("picky", "one")
    with pytest.raises(Refused) as refused:
        home.client.call(address, "go")
    assert (refused.value.state, refused.value.reason != "else") == ("A", True)
    assert home.client.get(address)["state"] == "A"


def test_the_native_routes_answer_problems(home: House) -> None:
    machines = f"{home.url}/v1/machines"
    assert httpx.put(f"{machines}/x", content="{", headers=JSON).status_code == 400
    states = '{"StartAt": "A", "States": {}}'
    faulty = httpx.put(f"{machines}/x", content=states, headers=JSON)
    assert faulty.status_code == 422
    assert faulty.json()["pointer"] == "/States"
    assert httpx.put(f"{machines}/a%20b", content="{}", headers=JSON).status_code in (400, 422)
    assert httpx.post(f"{machines}/nothing/executions", json={}).status_code == 404
    started = f"{machines}/order/executions"
    assert httpx.post(started, content="[]", headers=JSON).status_code == 400
    taken = {"name": "taken", "input": {"a": 1}}
    assert httpx.post(f"{machines}/order/executions", json=taken).status_code == 201
    assert httpx.post(f"{machines}/order/executions", json=taken).status_code == 200
    other = httpx.post(f"{machines}/order/executions", json={"name": "taken", "input": {}})
    assert other.status_code == 409
    plain: list[dict[str, str]] = [{}, {"Content-Type": "text/plain"}]
    for headers in (*plain, {"Content-Type": "application/x-www-form-urlencoded"}):
        name = {"name": f"plain{len(headers)}"}
        answer = httpx.post(started, content=json.dumps(name), headers=headers)
        assert answer.status_code == 415
        assert answer.json()["type"] == "urn:durable-orchestrator:not-json"
        cancel = f"{home.url}/v1/executions/order:taken/calls/cancel"
        assert httpx.post(cancel, headers=headers).status_code == 415
    assert home.client.get("order:taken")["state"] == "Pending"
    assert httpx.get(f"{home.url}/v1/executions/order:plain0").status_code == 404
    assert httpx.get(f"{home.url}/v1/executions/order:nobody").status_code == 404


def test_table_and_waits_of_the_command(
    home: House, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = f"sqlite:///{home.data / 'orchestrator.db'}"
    monkeypatch.setenv("ORCHESTRATOR_DATABASE_URL", url)
    address = order_in(home, "Paid", "command")

    def printed(*arguments: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            command(list(arguments))
        assert ended.value.code == code
        return capsys.readouterr().out

    shown = json.loads(printed("table", "definitions/order.asl.json", "--json"))
    assert shown["Paid"]["ship"] == "→ Shipped"
    assert "refused: pay first" in printed("table", "definitions/order.asl.json")
    assert "takes ship, cancel" in printed("waits", address)
    assert "pay accepted: OnHold → Paid" in printed("calls", address)
    eventually(lambda: "warehouse.announce  ended" in printed("effects", address))
    uses = printed("validate", "--portable", "definitions/order.asl.json", code=2)
    assert "/States/OnHold/OnExit: OnExit" in uses
    plain = tmp_path / "plain.asl.json"
    plain.write_text('{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}')
    assert printed("validate", "--portable", str(plain)).endswith("portable\n")
