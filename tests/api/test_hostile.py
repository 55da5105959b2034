"""What nobody should send: an answer within three seconds, in AWS's shape, and nothing breaks."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.api.stage import ROLE, Stage
from tests.api.test_machines import PASSES

DEEP = 100_000
ECHO = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}

ENVELOPES: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "NaN": b'{"maxResults": NaN}',
    "Infinity": b'{"maxResults": Infinity}',
    "1e400": b'{"maxResults": 1e400}',
    "an integer of 400 digits": b'{"maxResults": ' + b"9" * 400 + b"}",
    "100,000 levels": b"[" * DEEP + b"]" * DEEP,
    "100,000 objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "invalid UTF-8": b'{"nextToken": "\xff\xfe"}',
    "a lone surrogate": b'{"nextToken": "\\ud800"}',
    "NUL": b'{"nextToken": "\\u0000"}',
    "a number for a text": b'{"nextToken": 5}',
    "a text for a number": b'{"maxResults": "5"}',
    "true for a number": b'{"maxResults": true}',
    "too many": b'{"maxResults": 1001}',
    "too few": b'{"maxResults": -1}',
}
INPUTS: dict[str, str] = {
    "NUL": '"a\\u0000b"',
    "a lone surrogate": '"\\ud800"',
    "a surrogate as a key": '{"\\udfff": 1}',
    "an integer of 300 digits": "9" * 300,
    "an integer of 309 digits": "9" * 309,
    "NaN": "NaN",
    "-Infinity": "[-Infinity]",
    "1e400": "1e400",
    "duplicate keys": '{"a": 1, "a": 2}',
    "200 levels": "[" * 200 + "]" * 200,
    "201 levels": "[" * 201 + "]" * 201,
    "100,000 levels": "[" * DEEP + "]" * DEEP,
    "9 MiB": json.dumps("a" * 9 * 1024 * 1024),
    "a BOM": "\ufeff{}",
}
DEFINITIONS: dict[str, str] = {
    "nothing": " ",
    "no JSON": "nonsense",
    "NUL": '{"Comment": "\\u0000", "StartAt": "A", "States": {"A": {"Type": "Succeed"}}}',
    "NUL in a name": '{"StartAt": "\\u0000", "States": {"\\u0000": {"Type": "Succeed"}}}',
    "a surrogate": '{"StartAt": "\\ud800", "States": {"\\ud800": {"Type": "Succeed"}}}',
    "duplicate states": '{"StartAt":"A","States":{"A":{"Type":"Succeed"},"A":{"Type":"Succeed"}}}',
    "100,000 levels": '{"a":' * DEEP + "1" + "}" * DEEP,
    "65 levels": '{"a":' * 65 + "1" + "}" * 65,
    "endless recursion": json.dumps(
        {
            "QueryLanguage": "JSONata",
            "StartAt": "A",
            "States": {
                "A": {
                    "Type": "Pass",
                    "Output": "{% ($f := function($n) { $f($n + 1) }; $f(1)) %}",
                    "End": True,
                }
            },
        }
    ),
}


def _answered(stage: Stage, action: str, content: bytes | str) -> dict[str, Any]:
    began = time.monotonic()
    answer = stage.post(action, content)
    assert time.monotonic() - began < 3
    assert 200 <= answer.status_code < 500, answer.text
    shown: dict[str, Any] = answer.json()
    assert answer.headers["content-type"] == "application/x-amz-json-1.0"
    assert answer.headers["x-amzn-requestid"]
    if answer.status_code >= 400:
        assert {"__type", "message"} <= shown.keys()
        assert "Traceback" not in answer.text
    return shown


def _goes_on(stage: Stage) -> None:
    assert "stateMachines" in _answered(stage, "ListStateMachines", "{}")


@pytest.mark.parametrize("name", ENVELOPES)
def test_hostile_requests(on_sqlite: Stage, name: str) -> None:
    for action in ("ListStateMachines", "StartExecution", "GetActivityTask", "SendTaskSuccess"):
        _answered(on_sqlite, action, ENVELOPES[name])
    _goes_on(on_sqlite)


def test_hostile_inputs_are_refused_or_come_back_as_they_were(stage: Stage) -> None:
    machine = stage.machine(ECHO)
    refused = set()
    for name, given in INPUTS.items():
        request = json.dumps({"stateMachineArn": machine, "input": given})
        answer = _answered(stage, "StartExecution", request)
        if "__type" in answer:
            refused.add(name)
            continue
        output = stage.ended(answer["executionArn"])["output"]
        assert json.loads(output) == json.loads(given), name
        assert stage.history(answer["executionArn"])
    assert refused == {
        "an integer of 309 digits",
        "NaN",
        "-Infinity",
        "1e400",
        "201 levels",
        "100,000 levels",
        "9 MiB",
        "a BOM",
    }
    _goes_on(stage)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_hostile_definitions(on_sqlite: Stage, name: str) -> None:
    text = DEFINITIONS[name]
    found = _answered(on_sqlite, "ValidateStateMachineDefinition", json.dumps({"definition": text}))
    assert found["result"] in ("OK", "FAIL")
    request = json.dumps({"name": "hostile", "definition": text, "roleArn": ROLE})
    made = _answered(on_sqlite, "CreateStateMachine", request)
    assert ("stateMachineArn" in made) == (found["result"] == "OK")
    if "stateMachineArn" in made:
        request = json.dumps({"stateMachineArn": made["stateMachineArn"]})
        assert on_sqlite.ended(_answered(on_sqlite, "StartExecution", request)["executionArn"])
    _goes_on(on_sqlite)


def test_hostile_names_and_errors(stage: Stage) -> None:
    machine = stage.machine(PASSES)
    for name in ("a\x00b", "\ud800", "a b", "a/b", "a:b", "", "n" * 81, "<b>", "a\x7fb", "é"):
        request = json.dumps({"stateMachineArn": machine, "name": name})
        shown = _answered(stage, "StartExecution", request)
        assert ("executionArn" in shown) == (name == "é")
        _answered(stage, "CreateActivity", json.dumps({"name": name}))
        for field, action in (
            ("stateMachineArn", "DescribeStateMachine"),
            ("executionArn", "DescribeExecution"),
            ("activityArn", "DescribeActivity"),
        ):
            kind = {"stateMachineArn": "stateMachine", "activityArn": "activity"}.get(
                field, "execution:m"
            )
            arn = f"arn:aws:states:us-east-1:000000000000:{kind}:{name}"
            _answered(stage, action, json.dumps({field: arn}))
    waits = stage.machine(
        {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 99, "End": True}}}, "w"
    )
    execution = stage.start(waits)
    for text in ("\x00", "\ud800", "c" * 32_768):
        wish = {"executionArn": execution, "error": text[:256], "cause": text}
        assert "stopDate" in _answered(stage, "StopExecution", json.dumps(wish))
    assert stage.client.describe_execution(executionArn=execution)["status"] == "ABORTED"
    _goes_on(stage)


def test_a_request_that_never_ends_is_cut_off(on_sqlite: Stage) -> None:
    most = 2 * 8 * 1024 * 1024 + 64 * 1024
    answer = on_sqlite.post("StartExecution", b" " * (most + 1))
    assert answer.status_code == 413
    assert answer.json()["__type"] == "RequestEntityTooLargeException"
    _goes_on(on_sqlite)
