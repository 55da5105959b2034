"""`--mock-config`: tasks whose answers a file gives."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from orchestrator.dispatch.mocked import Mocks, UnreadableMocks
from tests.api.stage import Stage, staged
from tests.api.test_machines import _refusal

LAMBDA = "arn:aws:lambda:us-east-1:000000000000:function:charge"
CHARGES = {
    "StartAt": "Charge",
    "States": {
        "Charge": {
            "Type": "Task",
            "Resource": LAMBDA,
            "Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 1, "MaxAttempts": 2}],
            "Next": "Tell",
        },
        "Tell": {
            "Type": "Task",
            "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
            "Parameters": {"token.$": "$$.Task.Token"},
            "End": True,
        },
    },
}


def written(path: Path, *charges: object, told: object = "heard") -> None:
    responses = {str(number): charge for number, charge in enumerate(charges)}
    case = {"Charge": "charge", "Tell": "tell"}
    path.write_text(
        json.dumps(
            {
                "StateMachines": {"m": {"TestCases": {"happy": case, "lone": {"Tell": "tell"}}}},
                "MockedResponses": {
                    "charge": responses,
                    "tell": {"0-9": {"Return": told}},
                },
            }
        )
    )


def paid(payload: object) -> dict[str, Any]:
    return {"Return": {"StatusCode": 200, "Payload": payload}}


def busy() -> dict[str, Any]:
    return {"Throw": {"Error": "Busy", "Cause": "later"}}


@pytest.fixture
def mocks(tmp_path: Path) -> Path:
    return tmp_path / "MockConfigFile.json"


def _ended(stage: Stage, machine: str, case: str) -> dict[str, Any]:
    return stage.ended(stage.start(f"{machine}#{case}"))


def test_each_call_gets_its_response(mocks: Path, sqlite_url: str) -> None:
    written(mocks, busy(), busy(), paid({"id": 1}))
    with staged(sqlite_url, mock_config=mocks) as stage:
        machine = stage.machine(CHARGES)
        execution = stage.start(f"{machine}#happy")
        assert stage.ended(execution)["output"] == '"heard"'
        types = stage.types(execution)
        assert types.count("LambdaFunctionFailed") == 2
        assert types[-5:-2] == ["TaskStarted", "TaskSubmitted", "TaskSucceeded"]


def test_the_file_is_read_again_when_it_changes(mocks: Path, sqlite_url: str) -> None:
    written(mocks, paid(1))
    with staged(sqlite_url, mock_config=mocks) as stage:
        machine = stage.machine(CHARGES)
        assert _ended(stage, machine, "happy")["output"] == '"heard"'
        written(mocks, paid(1), told="anew")
        os.utime(mocks, (1, 1))
        assert _ended(stage, machine, "happy")["output"] == '"anew"'
        mocks.write_text("{")
        assert _ended(stage, machine, "happy")["output"] == '"anew"'


def test_a_call_that_the_file_does_not_know_fails(mocks: Path, sqlite_url: str) -> None:
    written(mocks, busy())
    with staged(sqlite_url, mock_config=mocks) as stage:
        found = _ended(stage, stage.machine(CHARGES), "happy")
        assert "no mocked response of 'charge' for call 1" in found["cause"]


def test_a_function_s_error_is_raised(mocks: Path, sqlite_url: str) -> None:
    payload = {"errorType": "Declined", "errorMessage": "no"}
    written(mocks, {"Return": {"FunctionError": "Unhandled", "Payload": payload}})
    with staged(sqlite_url, mock_config=mocks) as stage:
        found = _ended(stage, stage.machine(CHARGES), "happy")
        assert (found["error"], json.loads(found["cause"])) == ("Declined", payload)


def test_a_test_case_is_no_machine_where_no_file_is_served(on_sqlite: Stage) -> None:
    machine = on_sqlite.machine(CHARGES)
    assert _refusal(on_sqlite.client.start_execution, stateMachineArn=f"{machine}#happy")[0] == (
        "InvalidArn"
    )


@pytest.mark.parametrize("text", ["{", "[]", '{"StateMachines": {}}', "\ud800"])
def test_a_file_that_cannot_be_read_is_said_at_the_start(mocks: Path, text: str) -> None:
    mocks.write_text(text, errors="surrogatepass")
    with pytest.raises(UnreadableMocks, match=str(mocks)):
        Mocks(mocks)
