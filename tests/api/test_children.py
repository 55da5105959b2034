"""Executions that start executions: what they are told, and what becomes of whom."""

from __future__ import annotations

import json
from typing import Any

from tests.api.stage import Stage, eventually
from tests.api.test_machines import PASSES, WAITS

CHILD = "arn:aws:states:us-east-1:000000000000:stateMachine:child"
FAILS = {"StartAt": "A", "States": {"A": {"Type": "Fail", "Error": "E", "Cause": "c"}}}


def starts(pattern: str, **more: object) -> dict[str, Any]:
    resource = f"arn:aws:states:::states:startExecution{pattern}"
    parameters = {"StateMachineArn": CHILD, "Input.$": "$"}
    task = {"Type": "Task", "Resource": resource, "Parameters": parameters, "End": True, **more}
    return {"StartAt": "A", "States": {"A": task}}


def child_of(stage: Stage) -> str:
    """The one child's ARN, once it is there."""
    listing = stage.client.list_executions
    found = eventually(lambda: listing(stateMachineArn=CHILD)["executions"] or None)
    return str(found[0]["executionArn"])


def test_a_child_that_nobody_waits_for(stage: Stage) -> None:
    stage.machine(WAITS, "child")
    found = stage.ended(stage.start(stage.machine(starts(""))))
    assert json.loads(found["output"])["ExecutionArn"] == child_of(stage)
    assert stage.client.describe_execution(executionArn=child_of(stage))["status"] == "RUNNING"


def test_a_child_s_output_is_the_result(stage: Stage) -> None:
    stage.machine(PASSES, "child")
    for pattern, output in ((".sync", '{"a":1}'), (".sync:2", {"a": 1})):
        machine = stage.machine(starts(pattern), f"m{len(pattern)}")
        execution = stage.start(machine, {"a": 1})
        result = json.loads(stage.ended(execution)["output"])
        assert (result["Output"], result["Status"]) == (output, "SUCCEEDED")
        assert stage.types(execution)[3:6] == ["TaskStarted", "TaskSubmitted", "TaskSucceeded"]


def test_a_child_s_failure_is_the_task_s(stage: Stage) -> None:
    stage.machine(FAILS, "child")
    found = stage.ended(stage.start(stage.machine(starts(".sync"))))
    assert found["error"] == "States.TaskFailed"
    cause = json.loads(found["cause"])
    assert (cause["Error"], cause["Cause"], cause["Status"]) == ("E", "c", "FAILED")


def test_a_parent_that_is_stopped_stops_its_child(stage: Stage) -> None:
    stage.machine(WAITS, "child")
    parent = stage.start(stage.machine(starts(".sync")))
    child = child_of(stage)
    eventually(lambda: "TaskSubmitted" in stage.types(parent))
    stage.client.stop_execution(executionArn=parent)
    assert stage.ended(child)["status"] == "ABORTED"


def test_a_time_limit_stops_the_child_and_a_retry_starts_another(stage: Stage) -> None:
    stage.machine(WAITS, "child")
    retry = [{"ErrorEquals": ["States.Timeout"], "IntervalSeconds": 1, "MaxAttempts": 1}]
    machine = stage.machine(starts(".sync", TimeoutSeconds=1, Retry=retry))
    assert stage.ended(stage.start(machine))["error"] == "States.Timeout"
    listing = stage.client.list_executions

    def all_aborted() -> bool:
        runs = listing(stateMachineArn=CHILD)["executions"]
        return [run["status"] for run in runs] == ["ABORTED", "ABORTED"]

    eventually(all_aborted)


def test_a_branch_that_fails_stops_the_children_of_the_others(stage: Stage) -> None:
    stage.machine(WAITS, "child")
    wait = {"Type": "Wait", "Seconds": 2, "Next": "F"}
    failing = {"StartAt": "W", "States": {"W": wait, "F": {"Type": "Fail", "Error": "E"}}}
    parallel = {"Type": "Parallel", "Branches": [starts(".sync"), failing], "End": True}
    machine = stage.machine({"StartAt": "P", "States": {"P": parallel}})
    parent = stage.start(machine)
    child = child_of(stage)
    assert stage.ended(parent)["error"] == "E"
    assert stage.ended(child)["status"] == "ABORTED"


def test_a_name_that_is_another_s_is_refused(stage: Stage) -> None:
    stage.machine(PASSES, "child")
    stage.start(CHILD, name="taken")
    parameters = {"StateMachineArn": CHILD, "Name": "taken"}
    machine = stage.machine(starts(".sync", Parameters=parameters))
    found = stage.ended(stage.start(machine))
    assert found["error"] == "StepFunctions.ExecutionAlreadyExistsException"
    sdk = starts("")
    sdk["States"]["A"]["Resource"] = "arn:aws:states:::aws-sdk:sfn:startExecution"
    sdk["States"]["A"]["Parameters"] = {"StateMachineArn": f"{CHILD}ren"}
    found = stage.ended(stage.start(stage.machine(sdk, "sdk")))
    assert found["error"] == "Sfn.StateMachineDoesNotExistException"


def test_sixty_parents_with_a_child_each_all_end(stage: Stage) -> None:
    stage.machine(PASSES, "child")
    machine = stage.machine(starts(".sync:2"))
    parents = [stage.start(machine, number) for number in range(60)]
    for number, parent in enumerate(parents):
        assert json.loads(stage.ended(parent)["output"])["Output"] == number
        types = stage.types(parent)
        assert [one for one in types if one.startswith("Execution")] == [
            "ExecutionStarted",
            "ExecutionSucceeded",
        ]
    assert stage.parts.store.children.untold(10) == []
    assert stage.parts.store.children.orphaned(10) == []
