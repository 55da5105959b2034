"""Whatever the native door is asked, it answers in problem documents that everybody can read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Final

import httpx
import pytest

from tests.calls.house import House, house
from tests.robustness.words import PYTHON

MACHINE: Final = {
    "Calls": {"go": {}, "pay": {"InputSchema": {"type": "object", "required": ["amount"]}}},
    "StartAt": "A",
    "States": {
        "A": {
            "Type": "Await",
            "On": {"go": {"Stay": True}, "pay": {"Stay": True}},
            "After": [{"Seconds": 9999, "Next": "B"}],
        },
        "B": {"Type": "Succeed"},
    },
}
HERE: Final = "/v1/executions/asks:one"
JSON: Final = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ORCHESTRATOR_LEDGER_URL", raising=False)
        patch.setenv("ORCHESTRATOR_DATA", "")
        with house(tmp_path_factory.mktemp("door")) as found:
            found.client.deploy("asks", json.dumps(MACHINE))
            found.client.start("asks", "one")
            found.client.start("asks", "two")
            yield found


@pytest.fixture
def http(home: House) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=home.url, timeout=60) as client:
        yield client


def problem(answer: httpx.Response, status: int) -> str:
    """What a problem document says, which has that status and is fit to be read."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    shown = answer.json()
    assert shown["status"] == status
    assert set(shown) >= {"type", "title", "detail"}
    assert not PYTHON.search(answer.text), answer.text
    return str(shown["detail"])


def test_paths_that_lead_nowhere_and_methods_that_are_not_answered(http: httpx.Client) -> None:
    for path in ("/v1/", "/v1/nothing", "/v1/machines", f"{HERE}/", f"{HERE}/calls/a/b", "/v1//x"):
        for method in ("GET", "POST", "PROPFIND"):
            assert "nothing at this path" in problem(http.request(method, path), 404)
    for method, path, allowed in (
        ("POST", HERE, "GET"),
        ("DELETE", f"{HERE}/calls/pay", "POST, GET"),
        ("GET", "/v1/machines/asks", "PUT"),
        ("PROPFIND", f"{HERE}/stop", "POST"),
        ("PUT", "/v1", "GET"),
    ):
        answer = http.request(method, path)
        assert f"{method} is not answered here" in problem(answer, 405)
        assert answer.headers["allow"] == allowed
    assert "not UTF-8" in problem(http.get("/v1/executions/%ff"), 400)
    routes = http.get("/v1").json()["routes"]
    assert "POST /v1/executions/{id}/calls/{name}" in routes


def test_an_escaped_slash_is_part_of_a_name(home: House, http: httpx.Client) -> None:
    said = http.post(f"{HERE}/calls/g%6f", json={}, headers={"Idempotency-Key": "1/2"})
    assert (said.status_code, said.json()["callId"]) == (200, "1/2")
    assert http.get(f"{HERE}/calls/1%2F2").json()["callId"] == "1/2"
    assert home.client.call("asks:one", "go", call_id="1/2").accepted
    assert "no call 'a/b'" in problem(http.post(f"{HERE}/calls/a%2Fb", json={}), 400)
    assert "'asks:o/ne'" in problem(http.get("/v1/executions/asks:o%2Fne"), 404)
    assert "'/'" in problem(http.put("/v1/machines/a%2Fb", json=MACHINE), 400)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("calls/pay?at=there", "at='there' is the id of no frame"),
        ("calls/pay?at=", "at='' is the id of no frame"),
        ("calls/pay?wait=61", "wait='61' is no number from 0 to 60"),
        ("calls/pay?wait=-1", "wait='-1' is no number from 0 to 60"),
        ("waits?after=x", "after='x' is the id of no frame"),
        ("waits?limit=0", "limit='0' is no number from 1 to 1000"),
        ("waits?limit=1001", "limit='1001' is no number from 1 to 1000"),
        ("calls?limit=", "limit='' is no number from 1 to 1000"),
        ("calls?after=None", "after='None' is no number"),
        ("history?after=-1", "after='-1' is no number"),
        ("history?limit=1e3", "limit='1e3' is no number from 1 to 1000"),
    ],
)
def test_a_parameter_that_cannot_be_is_named(http: httpx.Client, path: str, told: str) -> None:
    method = "POST" if path.startswith("calls/") else "GET"
    answer = http.request(method, f"{HERE}/{path}", headers=JSON, content=b'{"amount": 1}')
    assert answer.status_code == 400
    assert answer.json()["detail"] == told


VALUES: Final = ("null", "true", "7", "1e400", '"x"', "[]", "[null, true]", '{"a": null}')
ROUTES: Final = (
    ("PUT", "/v1/machines/made", ("Calls", "StartAt", "States", "QueryLanguage", "TimeoutSeconds")),
    ("POST", "/v1/machines/asks/executions", ("name", "input")),
    ("POST", "/v1/executions/asks:two/stop", ("abort", "error", "cause")),
    ("POST", f"{HERE}/retry", ("reason", "compensation", "who")),
    ("POST", f"{HERE}/skip", ("reason", "compensation", "who")),
    ("POST", f"{HERE}/calls/pay", ("amount",)),
    ("POST", f"{HERE}/calls/nobody", ("amount",)),
)


def test_no_body_is_answered_in_the_words_of_the_engine_s_making(http: httpx.Client) -> None:
    for (method, path, members), value in product(ROUTES, VALUES):
        whole = [f'{{"{member}": {value}}}' for member in members]
        if path == "/v1/machines/made":
            whole += [json.dumps({**MACHINE, "Calls": "?"}).replace('"?"', value)]
            whole += [json.dumps({**MACHINE, "States": {"A": "?"}}).replace('"?"', value)]
        for body in (*whole, value):
            answer = http.request(method, path, content=body, headers=JSON)
            if answer.is_success:
                continue
            assert answer.status_code in (400, 404, 409, 413, 422), (path, body, answer.text)
            problem(answer, answer.status_code)


def test_calls_as_deep_and_as_many_as_are_taken_can_be_read_again(
    home: House, http: httpx.Client
) -> None:
    home.client.start("asks", "deep")
    path, deep = "/v1/executions/asks:deep/calls", "[" * 199 + "]" * 199
    answer = http.post(f"{path}/go", content=deep, headers={**JSON, "Idempotency-Key": "deep"})
    assert answer.status_code == 200, answer.text
    large = json.dumps("x" * 60_000)
    for _ in range(141):  # more than a document may have
        assert http.post(f"{path}/go", content=large, headers=JSON).status_code == 200
    everything = http.get(path)
    assert everything.status_code == 200, everything.text[:200]
    assert len(everything.json()["calls"]) == 142
    assert http.get(f"{path}/deep").json()["input"] == json.loads(deep)
    assert http.get("/v1/executions/asks:deep/history").status_code == 200


def test_what_can_be_the_id_of_no_call_is_told_so(http: httpx.Client) -> None:
    assert "afterId" in problem(http.get(f"{HERE}/calls", params={"afterId": "a\0"}), 400)
    problem(http.get(f"{HERE}/calls/%00"), 404)
    several = [*JSON.items(), ("Idempotency-Key", "one"), ("Idempotency-Key", "two")]
    answer = http.post(f"{HERE}/calls/go", content="{}", headers=several)
    assert "one Idempotency-Key" in problem(answer, 400)
