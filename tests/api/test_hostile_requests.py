"""Whatever is sent, the answer is 2xx or 4xx, in AWS's shapes and soon, and the door stays open."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final

import httpx
import pytest

from orchestrator.api.aws import ACTIONS, LATER
from tests.api.stage import ROLE, Stage
from tests.robustness.words import PYTHON

PASS: Final = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}
WAIT: Final = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 600, "End": True}}}
ARN: Final = "arn:aws:states:us-east-1:000000000000:"
LATEST_SECONDS: Final = 3.0

VALUES: Final = {
    "nul": r'"\u0000"',
    "half a surrogate pair": r'"\ud800"',
    "a document with both": r'"{\"a\": \"\\u0000\\ud800\"}"',
    "a number beyond binary64": "1e400",
    "NaN": "NaN",
    "a document with NaN": '"NaN"',
    "400 digits": "9" * 400,
    "a document of 400 digits": f'"{"9" * 400}"',
    "a deep document": f'"{"[" * 100_000}"',
    "a deep value": "[" * 150 + "]" * 150,
    "a long text": f'"{"x" * 300_000}"',
    "nothing": '""',
    "null": "null",
    "a number": "7",
    "a list": '[{"a": null}, 1]',
    "an object": '{"level": {"a": []}, "destinations": 1, "enabled": "x", "type": ["x"]}',
    "true": "true",
    "-1": "-1",
    "no JSON": '"{"',
    "a definition with keys that stand twice": json.dumps(
        '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true, "End": true}}}'
    ),
    "half an ARN": f'"{ARN}"',
    "an ARN of something else": f'"{ARN}mapRun:m/l:u"',
    "an ARN with a label": f'"{ARN}stateMachine:m/l"',
    "an ARN of an execution that has many names": f'"{ARN}execution:m:a:b:c:d"',
    "an ARN with a path in it": f'"{ARN}activity:../../etc/passwd"',
    "a way out of SQL": '"\'; DROP TABLE machines; --"',
    "a page": '"<script>alert(1)</script>"',
}


@pytest.fixture
def served(stage: Stage) -> Iterator[Stage]:
    """A server that is as it was when the test has ended."""
    machine = stage.machine(WAIT, "m")
    stage.start(machine, name="e")
    yield stage
    names = [one["name"] for one in stage.client.list_state_machines()["stateMachines"]]
    assert "m" in names
    assert stage.client.describe_execution(executionArn=f"{ARN}execution:m:e")["name"] == "e"


def requests() -> Mapping[str, dict[str, Any]]:
    """A request of each action that is as it should be."""
    machine, execution = f"{ARN}stateMachine:m", f"{ARN}execution:m:e"
    activity = f"{ARN}activity:none"
    definition = json.dumps(PASS)
    made = {"definition": definition, "roleArn": ROLE}
    return {
        "CreateStateMachine": {"name": "made", **made},
        "UpdateStateMachine": {"stateMachineArn": machine, **made},
        "DescribeStateMachine": {"stateMachineArn": machine},
        "DescribeStateMachineForExecution": {"executionArn": execution},
        "ListStateMachines": {},
        "DeleteStateMachine": {"stateMachineArn": f"{ARN}stateMachine:none"},
        "ValidateStateMachineDefinition": {"definition": definition},
        "StartExecution": {"stateMachineArn": machine, "input": "{}"},
        "StartSyncExecution": {"stateMachineArn": machine, "input": "{}"},
        "StopExecution": {"executionArn": f"{ARN}execution:m:none"},
        "DescribeExecution": {"executionArn": execution},
        "ListExecutions": {"stateMachineArn": machine},
        "GetExecutionHistory": {"executionArn": execution},
        "CreateActivity": {"name": "made"},
        "DescribeActivity": {"activityArn": activity},
        "ListActivities": {},
        "DeleteActivity": {"activityArn": activity},
        "GetActivityTask": {"activityArn": activity},
        "SendTaskSuccess": {"taskToken": "v1.1..a.b", "output": "{}"},
        "SendTaskFailure": {"taskToken": "v1.1..a.b"},
        "SendTaskHeartbeat": {"taskToken": "v1.1..a.b"},
    }


def test_every_action_is_tried() -> None:
    assert requests().keys() == set(ACTIONS)


def fields_of(stage: Stage, action: str) -> list[str]:
    """The fields that AWS's model of an action has."""
    return list(stage.client.meta.service_model.operation_model(action).input_shape.members)


def headers_of(action: str) -> dict[str, str]:
    return {
        "X-Amz-Target": f"AWSStepFunctions.{action}",
        "Content-Type": "application/x-amz-json-1.0",
    }


def fault(answer: httpx.Response, seconds: float) -> str | None:
    """What is wrong with an answer."""
    if seconds > LATEST_SECONDS:
        return f"{seconds} s"
    if answer.status_code == 200:
        return None
    if not 400 <= answer.status_code < 500:
        return f"{answer.status_code}: {answer.text}"
    shown = answer.json()
    if shown.keys() - {"reason"} != {"__type", "message"} or not re.fullmatch(
        r"[A-Z]\w+", shown["__type"]
    ):
        return answer.text
    return answer.text if PYTHON.search(answer.text) else None


def test_a_hostile_field_is_answered_soon_in_aws_s_shapes(served: Stage) -> None:
    found = {}
    with httpx.Client(timeout=10) as client:
        for (action, right), (name, text) in product(requests().items(), VALUES.items()):
            for field in fields_of(served, action):
                others = {key: value for key, value in right.items() if key != field}
                body = json.dumps(others)[:-1] + f'{", " if others else ""}"{field}": {text}}}'
                begun = time.monotonic()
                answer = client.post(served.url, content=body, headers=headers_of(action))
                wrong = fault(answer, time.monotonic() - begun)
                if wrong is not None:
                    found[f"{action}, {field}, {name}"] = wrong[:300]
    assert found == {}


BODIES: Final = {
    "none": b"",
    "no JSON": b"{",
    "no object": b"[]",
    "null": b"null",
    "no UTF-8": b"\xff\xfe\x00",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "something behind it": b"{}\x00",
    "100,000 deep": b'{"a":' * 100_000,
    "20 MB": b'{"a": "' + b"x" * 20_000_000 + b'"}',
    "a form": b"Action=ListStateMachines&Version=1",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_that_is_none_is_refused_soon(on_sqlite: Stage, body: bytes) -> None:
    for action in ("ListStateMachines", "CreateStateMachine", "StartSyncExecution"):
        begun = time.monotonic()
        answer = on_sqlite.post(action, body)
        assert fault(answer, time.monotonic() - begun) is None


METHODS: Final = ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE")
PATHS: Final = ("/", "/elsewhere", "/../../etc/passwd", "//")


def test_what_is_no_post_to_the_root_is_refused_in_aws_s_shapes(on_sqlite: Stage) -> None:
    with httpx.Client() as client:
        for method, path in product(METHODS, PATHS):
            answer = client.request(method, on_sqlite.url + path)
            assert answer.status_code == (405 if path == "/" else 404)
            assert "x-amzn-requestid" in answer.headers
            assert method == "HEAD" or fault(answer, 0) is None


@pytest.mark.parametrize("target", [None, "", "Nope", "AWSStepFunctions.", "AWSStepFunctions._act"])
def test_a_request_without_a_known_action_is_refused(on_sqlite: Stage, target: str | None) -> None:
    answer = httpx.post(
        on_sqlite.url, content=b"{}", headers={} if target is None else {"X-Amz-Target": target}
    )
    assert answer.status_code == 400
    assert answer.json()["__type"] == "UnknownOperationException"


def test_every_action_of_aws_is_served_or_comes_later(on_sqlite: Stage) -> None:
    model = on_sqlite.client.meta.service_model
    assert {*ACTIONS, *LATER} == set(model.operation_names)
    with httpx.Client() as client:
        for action in LATER:
            answer = client.post(on_sqlite.url, content=b"{}", headers=headers_of(action))
            assert answer.status_code == 400
            assert answer.json() == {
                "__type": "NotImplemented",
                "message": f"{action} comes with a later release",
            }


def test_signatures_and_types_that_make_no_sense_are_not_asked_after(on_sqlite: Stage) -> None:
    for headers in (
        {"Authorization": "AWS4-HMAC-SHA256 Credential=a/b, Signature="},
        {"Authorization": "x" * 8_000},
        {"Content-Type": "application/json; charset=utf-8"},
    ):
        answer = httpx.post(
            on_sqlite.url,
            content=b"{}",
            headers={"X-Amz-Target": "AWSStepFunctions.ListStateMachines", **headers},
        )
        assert answer.status_code == 200


def test_a_type_that_a_form_of_another_site_can_send_is_refused(on_sqlite: Stage) -> None:
    for kind in (
        "text/html",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=a",
        "\x7f",
        "application/jsonx",
    ):
        answer = on_sqlite.post("CreateActivity", '{"name": "made"}', kind)
        assert answer.status_code == 415
        assert answer.json()["__type"] == "UnsupportedMediaTypeException"
    assert on_sqlite.client.list_activities()["activities"] == []


def test_only_the_names_of_this_machine_are_answered(on_sqlite: Stage) -> None:
    port = on_sqlite.url.rpartition(":")[2]
    known = ("localhost", "127.0.0.1", "[::1]", "LocalHost", "sync-localhost", "sync-127.0.0.1")
    for name in (*known, *(f"{one}:{port}" for one in known)):
        answer = on_sqlite.post("ListActivities", "{}", host=name)
        assert answer.status_code == 200, name
    for name in (
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "[::1].x",
        "localhost:80:80",
        "127.0.0.1@evil.example",
        "sync-evil.example",
        "[::2]",
        "0",
    ):
        answer = on_sqlite.post("CreateActivity", '{"name": "made"}', host=name)
        assert answer.status_code == 421, name
    assert on_sqlite.client.list_activities()["activities"] == []


def test_a_body_that_is_announced_as_too_long_is_not_waited_for(on_sqlite: Stage) -> None:
    host, port = on_sqlite.url.removeprefix("http://").split(":")
    for announced in ("99999999999", "9" * 19):
        with socket.create_connection((host, int(port)), timeout=LATEST_SECONDS) as connection:
            connection.sendall(
                b"POST / HTTP/1.1\r\nHost: localhost\r\n"
                b"X-Amz-Target: AWSStepFunctions.ListActivities\r\nContent-Length: "
                + announced.encode()
                + b"\r\n\r\n{"
            )
            assert connection.recv(4_096).startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 400 "))


def test_a_body_in_pieces_is_read_up_to_its_limit(on_sqlite: Stage) -> None:
    assert on_sqlite.post("ListActivities", iter([b"{", b"}"])).json() == {"activities": []}
    answer = on_sqlite.post("ListActivities", iter([b"x" * 1_000_000] * 20))
    assert answer.status_code == 413
    assert fault(answer, 0) is None
