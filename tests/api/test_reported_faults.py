"""Faults that people have reported of other servers of this API: the right answer to each."""

from __future__ import annotations

import json
import time

import pytest
from botocore.exceptions import ClientError

from tests.api.stage import ROLE, Stage
from tests.api.test_tasks_from_outside import activity, polled

PASS = {"Type": "Pass", "End": True}
ARNS = "arn:aws:states:us-east-1:000000000000"
EXECUTION, MACHINE = f"{ARNS}:execution:none:none", f"{ARNS}:stateMachine:none"
CALLS = {
    "describe_execution": ("executionArn", EXECUTION, "ExecutionDoesNotExist"),
    "get_execution_history": ("executionArn", EXECUTION, "ExecutionDoesNotExist"),
    "list_executions": ("stateMachineArn", MACHINE, "StateMachineDoesNotExist"),
    "describe_state_machine": ("stateMachineArn", MACHINE, "StateMachineDoesNotExist"),
}


def test_unknown_and_malformed_arns_are_told_apart(on_sqlite: Stage) -> None:
    for call, (field, unknown, error) in CALLS.items():
        for arn, code in ((unknown, error), ("abc", "InvalidArn")):
            with pytest.raises(ClientError) as raised:
                getattr(on_sqlite.client, call)(**{field: arn})
            assert raised.value.response["Error"]["Code"] == code, (call, arn)


def test_input_and_output_are_texts_that_hold_json(on_sqlite: Stage) -> None:
    machine = on_sqlite.machine({"StartAt": "P", "States": {"P": PASS}})
    found = on_sqlite.ended(on_sqlite.start(machine, {"a": [1]}))
    for field in ("input", "output"):
        assert isinstance(found[field], str)
        assert json.loads(found[field]) == {"a": [1]}


def test_heartbeats_of_eight_executions_are_each_their_own(on_sqlite: Stage) -> None:
    arn, machine = activity(on_sqlite, HeartbeatSeconds=3)
    executions = {str(n): on_sqlite.start(machine, {"n": n}) for n in range(8)}
    tasks = [polled(on_sqlite, arn) for _ in executions]
    until = time.monotonic() + 5
    while time.monotonic() < until:
        for task in tasks:
            on_sqlite.client.send_task_heartbeat(taskToken=task["taskToken"])
        time.sleep(0.5)
    for task in tasks:
        on_sqlite.client.send_task_success(taskToken=task["taskToken"], output=task["input"])
    for number, execution in executions.items():
        found = on_sqlite.ended(execution)
        assert found["status"] == "SUCCEEDED"
        assert json.loads(found["output"]) == {"n": int(number)}


def test_an_update_leaves_what_already_runs_as_it_is(on_sqlite: Stage) -> None:
    def answers(what: str) -> dict[str, object]:
        waits = {"Type": "Wait", "Seconds": 1, "Next": "P"}
        return {"StartAt": "W", "States": {"W": waits, "P": {**PASS, "Result": what}}}

    machine = on_sqlite.machine(answers("v1"))
    first = on_sqlite.start(machine)
    on_sqlite.client.update_state_machine(
        stateMachineArn=machine, definition=json.dumps(answers("v2"))
    )
    second = on_sqlite.start(machine)
    assert on_sqlite.ended(first)["output"] == '"v1"'
    assert on_sqlite.ended(second)["output"] == '"v2"'


@pytest.mark.parametrize(
    "states",
    [
        {"A": {"Type": "Pass", "Next": "B"}},
        {"A": {"Type": "Pass"}},
        {"B": PASS},
        {"A": {"Type": "Dream", "End": True}},
        {
            "A": {
                "Type": "Map",
                "ItemProcessor": {"StartAt": "A", "States": {"A": PASS}},
                "End": True,
            }
        },
        {"A": {"Type": "Wait", "Timestamp": "2026-01-01T00:00:00", "End": True}},
        {"A": {**PASS, "Parameters": {"x.$": "States.Format('\\q')"}}},
    ],
)
def test_an_invalid_machine_is_refused_when_it_is_created(
    on_sqlite: Stage, states: dict[str, object]
) -> None:
    definition = json.dumps({"StartAt": "A", "States": states})
    with pytest.raises(ClientError) as raised:
        on_sqlite.client.create_state_machine(name="bad", definition=definition, roleArn=ROLE)
    assert raised.value.response["Error"]["Code"] == "InvalidDefinition"
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
