from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api.stage import Stage
from tests.api.test_machines import PASSES, WAITS, _refusal

SHORT = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 1, "End": True}}}
LONG = {
    "StartAt": "A",
    "States": {
        f"{letter}": {"Type": "Pass", "Next": following}
        for letter, following in zip("ABCDEFGH", "BCDEFGHI", strict=True)
    }
    | {"I": {"Type": "Wait", "Seconds": 3600, "Next": "J"}, "J": {"Type": "Succeed"}},
}


def test_the_same_start_again_is_the_same_while_it_runs_and_taken_afterwards(
    stage: Stage,
) -> None:
    machine = stage.machine(WAITS)
    start = stage.client.start_execution
    wish = {"stateMachineArn": machine, "name": "one"}
    first, again = start(**wish, input='{"a": 1}'), start(**wish, input='{"a":1}')
    assert first["executionArn"] == again["executionArn"]
    assert first["startDate"] == again["startDate"]
    assert _refusal(start, **wish, input='{"a":2}')[0] == "ExecutionAlreadyExists"
    stage.client.stop_execution(executionArn=first["executionArn"], error="E", cause="c")
    code, text = _refusal(start, **wish, input='{"a":1}')
    assert (code, text) == (
        "ExecutionAlreadyExists",
        f"Execution Already Exists: '{first['executionArn']}'",
    )


def test_a_stopped_execution_tells_why_and_stays_stopped(stage: Stage) -> None:
    execution = stage.start(stage.machine(WAITS))
    stop = stage.client.stop_execution
    first = stop(executionArn=execution, error="Enough", cause="it is late")
    again = stop(executionArn=execution, error="Other")
    assert first["stopDate"] == again["stopDate"]
    found = stage.client.describe_execution(executionArn=execution)
    assert (found["status"], found["error"], found["cause"]) == ("ABORTED", "Enough", "it is late")
    last = stage.history(execution)[-1]
    assert last["executionAbortedEventDetails"] == {"error": "Enough", "cause": "it is late"}


def test_executions_are_listed_newest_first_while_others_start(stage: Stage) -> None:
    machine = stage.machine(PASSES)
    names = [f"e{number}" for number in range(6)]
    for name in names:
        stage.start(machine, name=name)
    listing = stage.client.list_executions
    first = listing(stateMachineArn=machine, maxResults=4)
    stage.start(machine, name="late")
    second = listing(stateMachineArn=machine, maxResults=4, nextToken=first["nextToken"])
    seen = [one["name"] for one in first["executions"] + second["executions"]]
    assert seen == names[::-1]
    assert "nextToken" not in second
    assert listing(stateMachineArn=machine, statusFilter="RUNNING")["executions"] == []


def test_a_history_is_read_page_by_page_both_ways_while_it_grows(stage: Stage) -> None:
    execution = stage.start(stage.machine(LONG))
    read = stage.client.get_execution_history
    first = read(executionArn=execution, maxResults=5)
    backwards = read(executionArn=execution, maxResults=5, reverseOrder=True)
    stage.client.stop_execution(executionArn=execution)
    ids, token = [event["id"] for event in first["events"]], first["nextToken"]
    while token:
        page = read(executionArn=execution, maxResults=5, nextToken=token)
        ids += [event["id"] for event in page["events"]]
        token = page.get("nextToken")
    assert ids == list(range(1, len(stage.history(execution)) + 1))
    down = [event["id"] for event in backwards["events"]]
    page = read(
        executionArn=execution,
        maxResults=5,
        reverseOrder=True,
        nextToken=backwards["nextToken"],
    )
    down += [event["id"] for event in page["events"]]
    assert down == list(range(down[0], down[0] - 10, -1))


def test_a_history_without_its_data(on_sqlite: Stage) -> None:
    execution = on_sqlite.start(on_sqlite.machine(PASSES), {"secret": 1})
    read = on_sqlite.client.get_execution_history
    assert "secret" in json.dumps(read(executionArn=execution), default=str)
    bare = read(executionArn=execution, includeExecutionData=False)
    assert "secret" not in json.dumps(bare, default=str)
    assert [event["type"] for event in bare["events"]] == on_sqlite.types(execution)


def test_metadata_alone(on_sqlite: Stage) -> None:
    execution = on_sqlite.start(on_sqlite.machine(PASSES), {"secret": 1}, traceHeader="Root=1")
    found = on_sqlite.client.describe_execution(
        executionArn=execution, includedData="METADATA_ONLY"
    )
    assert "input" not in found
    assert "output" not in found
    assert found["inputDetails"] == {"included": False}
    assert found["traceHeader"] == "Root=1"


def test_a_sync_execution_is_answered_with_its_end(stage: Stage) -> None:
    machine = stage.machine(SHORT, type="EXPRESS")
    began = time.monotonic()
    found = stage.client.start_sync_execution(stateMachineArn=machine, name="same", input='{"a":1}')
    assert 1 <= time.monotonic() - began < 5
    assert (found["status"], found["output"], found["name"]) == ("SUCCEEDED", '{"a":1}', "same")
    assert ":express:m:same:" in found["executionArn"]
    again = stage.client.start_sync_execution(stateMachineArn=machine, name="same")
    assert again["executionArn"] != found["executionArn"]


def test_a_failed_sync_execution_is_an_answer_too(stage: Stage) -> None:
    fails = {"StartAt": "A", "States": {"A": {"Type": "Fail", "Error": "E", "Cause": "c"}}}
    machine = stage.machine(fails, type="EXPRESS")
    found = stage.client.start_sync_execution(stateMachineArn=machine)
    assert (found["status"], found["error"], found["cause"]) == ("FAILED", "E", "c")


def test_express_executions_are_not_to_be_asked_after(on_sqlite: Stage) -> None:
    machine = on_sqlite.machine(PASSES, type="EXPRESS")
    execution = on_sqlite.client.start_sync_execution(stateMachineArn=machine)["executionArn"]
    code, text = _refusal(on_sqlite.client.describe_execution, executionArn=execution)
    assert (code, text) == (
        "InvalidArn",
        "Invalid Arn: 'Resource type not valid in this context: express'",
    )
    listing = on_sqlite.client.list_executions
    assert _refusal(listing, stateMachineArn=machine)[0] == "StateMachineTypeNotSupported"
    standard = on_sqlite.machine(PASSES, "s")
    sync = on_sqlite.client.start_sync_execution
    assert _refusal(sync, stateMachineArn=standard)[0] == "StateMachineTypeNotSupported"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("", "Invalid execution input."),
        ("nope", "Unrecognized token 'nope': was expecting (JSON String, Number, Array, Object or"),
        ("{'a': 1}", "Unexpected character (''' (code 39)): was expecting double-quote to start"),
    ],
)
def test_a_wrong_input_is_said_as_aws_says_it(on_sqlite: Stage, given: str, why: str) -> None:
    machine = on_sqlite.machine(PASSES)
    start = on_sqlite.client.start_execution
    code, text = _refusal(start, stateMachineArn=machine, input=given)
    assert code == "InvalidExecutionInput"
    assert why in text


def test_what_was_started_is_there_for_whoever_asks_next(stage: Stage) -> None:
    machine = stage.machine(PASSES)

    def asked(number: int) -> str:
        execution = stage.start(machine, name=f"e{number}")
        return str(stage.client.describe_execution(executionArn=execution)["name"])

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(asked, range(100))) == sorted(f"e{n}" for n in range(100))
