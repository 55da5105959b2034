from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.api.stage import ROLE, Stage, eventually

PASSES = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}
WAITS = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 3600, "End": True}}}


def _refusal(call: Any, **arguments: object) -> tuple[str, str]:
    with pytest.raises(ClientError) as raised:
        call(**arguments)
    error = raised.value.response["Error"]
    return error["Code"], error["Message"]


def test_the_same_machine_again_is_the_same_and_another_text_is_refused(stage: Stage) -> None:
    create = stage.client.create_state_machine
    first = create(name="m", definition=json.dumps(PASSES), roleArn=ROLE)
    again = create(name="m", definition=json.dumps(PASSES), roleArn=f"{ROLE}/other")
    assert first["creationDate"] == again["creationDate"]
    code, text = _refusal(create, name="m", definition=json.dumps(PASSES, indent=1), roleArn=ROLE)
    assert code == "StateMachineAlreadyExists"
    assert first["stateMachineArn"] in text
    assert (
        _refusal(create, name="m", definition=json.dumps(PASSES), roleArn=ROLE, type="EXPRESS")[0]
        == "StateMachineAlreadyExists"
    )


def test_an_update_makes_a_revision_and_what_runs_keeps_its_own(stage: Stage) -> None:
    machine = stage.machine(WAITS)
    assert "revisionId" not in stage.client.describe_state_machine(stateMachineArn=machine)
    execution = stage.start(machine)
    update = stage.client.update_state_machine
    first = update(stateMachineArn=machine, definition=json.dumps(PASSES))
    second = update(stateMachineArn=machine, roleArn=f"{ROLE}/2")
    assert first["revisionId"] != second["revisionId"]
    now = stage.client.describe_state_machine(stateMachineArn=machine)
    assert (json.loads(now["definition"]), now["roleArn"]) == (PASSES, f"{ROLE}/2")
    assert now["revisionId"] == second["revisionId"]
    kept = stage.client.describe_state_machine_for_execution(executionArn=execution)
    assert json.loads(kept["definition"]) == WAITS
    assert _refusal(update, stateMachineArn=machine)[0] == "MissingRequiredParameter"


def test_a_deleted_machine_stops_what_runs_and_frees_its_name(stage: Stage) -> None:
    machine = stage.machine(WAITS)
    execution = stage.start(machine)
    stage.client.delete_state_machine(stateMachineArn=machine)
    assert stage.ended(execution)["status"] == "ABORTED"
    describe = stage.client.describe_state_machine
    assert _refusal(describe, stateMachineArn=machine)[0] == "StateMachineDoesNotExist"
    assert _refusal(stage.start, machine=machine)[0] == "StateMachineDoesNotExist"
    assert stage.machine(PASSES) == machine
    assert stage.ended(stage.start(machine))["status"] == "SUCCEEDED"
    stage.client.delete_state_machine(stateMachineArn=machine.replace(":m", ":nobody"))


def test_machines_are_listed_page_by_page_while_others_come_and_go(on_sqlite: Stage) -> None:
    names = [f"machine-{number:02}" for number in range(7)]
    arns = [on_sqlite.machine(PASSES, name) for name in names]
    seen, token = [], None
    for _ in range(10):
        more: dict[str, str] = {} if token is None else {"nextToken": token}
        page = on_sqlite.client.list_state_machines(maxResults=2, **more)
        seen += [one["name"] for one in page["stateMachines"]]
        token = page.get("nextToken")
        if token is None:
            break
        if len(seen) == 2:
            on_sqlite.machine(PASSES, "a-new-one")
            on_sqlite.client.delete_state_machine(stateMachineArn=arns[0])
    assert seen == names


@pytest.mark.parametrize("token", ["nonsense", "", "A" * 40, "é", "A" * 1025])
def test_a_made_up_paging_token_is_refused(on_sqlite: Stage, token: str) -> None:
    answer = on_sqlite.post("ListStateMachines", json.dumps({"nextToken": token}))
    assert answer.status_code == 400
    assert answer.json()["__type"] in ("InvalidToken", "ValidationException")


def test_a_paging_token_belongs_to_its_question(on_sqlite: Stage) -> None:
    for name in "ab":
        on_sqlite.machine(PASSES, name)
        on_sqlite.client.create_activity(name=name)
    token = on_sqlite.client.list_activities(maxResults=1)["nextToken"]
    code, text = _refusal(on_sqlite.client.list_state_machines, nextToken=token)
    assert (code, text) == ("InvalidToken", "Invalid Token: 'Invalid token'")


@pytest.mark.parametrize(
    ("resource", "what"),
    [
        ("arn:aws:states:::sqs:sendMessage.waitForTaskToken", "'.waitForTaskToken'"),
        ("arn:aws:states:::states:startExecution.sync:2", "'.sync'"),
        ("arn:aws:states:us-east-1:000000000000:activity:a", "activities"),
    ],
)
def test_express_machines_wait_for_nobody(on_sqlite: Stage, resource: str, what: str) -> None:
    task = {
        "Type": "Task",
        "Resource": resource,
        "Parameters": {"StateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:m"},
        "End": True,
    }
    definition = json.dumps({"StartAt": "A", "States": {"A": task}})
    code, text = _refusal(
        on_sqlite.client.create_state_machine,
        name="m",
        definition=definition,
        roleArn=ROLE,
        type="EXPRESS",
    )
    assert code == "InvalidDefinition"
    assert what in text
    found = on_sqlite.client.validate_state_machine_definition(
        definition=definition, type="EXPRESS"
    )
    assert found["result"] == "FAIL"
    assert [one["location"] for one in found["diagnostics"]] == ["/States/A/Resource"]


def test_what_comes_later_says_so(on_sqlite: Stage) -> None:
    machine = on_sqlite.machine(PASSES)
    code, text = _refusal(on_sqlite.client.publish_state_machine_version, stateMachineArn=machine)
    assert (code, text) == (
        "NotImplemented",
        "PublishStateMachineVersion comes with a later release",
    )
    assert on_sqlite.post("DanceStep", "{}").json()["__type"] == "UnknownOperationException"


def test_a_machine_can_be_started_as_soon_as_it_is_created(stage: Stage) -> None:
    for number in range(20):
        execution = stage.start(stage.machine(PASSES, f"m{number}"))
        assert stage.client.describe_execution(executionArn=execution)["name"]
    eventually(lambda: len(stage.client.list_state_machines()["stateMachines"]) == 20)
