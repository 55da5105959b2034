"""Activities and task tokens: who has a token may answer, and one answer counts."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError

from orchestrator import handlers
from orchestrator.handlers import TaskContext, TaskError
from tests.api.stage import Stage, eventually, staged
from tests.api.test_machines import _refusal


@contextmanager
def served(name: str, function: Any) -> Iterator[None]:
    """Serve a function under a name, in this process only as long as the block runs."""
    handlers.handler(name)(function)
    try:
        yield
    finally:
        handlers._handlers.pop(name)  # noqa: SLF001  # a test leaves nothing behind


def activity(stage: Stage, **more: object) -> tuple[str, str]:
    """An activity, and a machine of one Task for it."""
    arn = stage.client.create_activity(name="work")["activityArn"]
    task = {"Type": "Task", "Resource": arn, "End": True, **more}
    return arn, stage.machine({"StartAt": "A", "States": {"A": task}})


def polled(stage: Stage, arn: str, **more: object) -> dict[str, Any]:
    return dict(stage.client.get_activity_task(activityArn=arn, **more))


def test_a_poll_that_waits_gets_the_task_at_once(stage: Stage) -> None:
    arn, machine = activity(stage)
    with ThreadPoolExecutor(1) as pool:
        poll = pool.submit(polled, stage, arn, workerName="w1")
        time.sleep(0.5)
        began = time.monotonic()
        execution = stage.start(machine, {"a": 1})
        task = poll.result()
    assert time.monotonic() - began < 1
    assert task["input"] == '{"a":1}'
    stage.client.send_task_heartbeat(taskToken=task["taskToken"])
    stage.client.send_task_success(taskToken=task["taskToken"], output='{"b":2}')
    assert stage.ended(execution)["output"] == '{"b":2}'
    assert stage.types(execution)[2:5] == [
        "ActivityScheduled",
        "ActivityStarted",
        "ActivitySucceeded",
    ]
    started = stage.history(execution)[3]["activityStartedEventDetails"]
    assert started == {"workerName": "w1"}


def test_tasks_are_handed_out_in_order_each_to_one_poll(stage: Stage) -> None:
    arn, machine = activity(stage)
    for number in range(12):
        stage.start(machine, number)
    with ThreadPoolExecutor(6) as pool:
        tasks = list(pool.map(lambda _: polled(stage, arn), range(12)))
    assert sorted(int(task["input"]) for task in tasks) == list(range(12))
    assert len({task["taskToken"] for task in tasks}) == 12
    first = polled_alone(stage, arn, machine)
    assert first == [100, 101, 102]


def polled_alone(stage: Stage, arn: str, machine: str) -> list[int]:
    for number in (100, 101, 102):
        stage.start(machine, number)
    return [int(polled(stage, arn)["input"]) for _ in range(3)]


def test_exactly_one_of_many_answers_counts(stage: Stage) -> None:
    arn, machine = activity(stage)
    execution = stage.start(machine)
    token = polled(stage, arn)["taskToken"]

    def answer(number: int) -> str:
        try:
            stage.client.send_task_success(taskToken=token, output=str(number))
        except ClientError as error:
            return str(error.response["Error"]["Code"])
        return "accepted"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(answer, range(16)))
    assert sorted(answers) == ["TaskTimedOut"] * 15 + ["accepted"]
    assert stage.ended(execution)["output"] == str(answers.index("accepted"))
    late = stage.client.send_task_failure
    assert _refusal(late, taskToken=token, error="Late")[0] == "TaskTimedOut"
    assert stage.client.describe_execution(executionArn=execution)["status"] == "SUCCEEDED"


def test_a_token_cannot_be_made_up(on_sqlite: Stage) -> None:
    arn, machine = activity(on_sqlite)
    on_sqlite.start(machine)
    token = polled(on_sqlite, arn)["taskToken"]
    version, execution, frame, attempt, mac = token.split(".")
    forged = [
        "nonsense",
        f"{version}.{int(execution) + 1}.{frame}.{attempt}.{mac}",
        f"{version}.{execution}.{frame}.{attempt[::-1]}.{mac}",
        f"v2.{execution}.{frame}.{attempt}.{mac}",
        f"{token}x",
        "\u00e9." + token,
        "v1....",
    ]
    for one in forged:
        answer = on_sqlite.post("SendTaskSuccess", json.dumps({"taskToken": one, "output": "1"}))
        assert (answer.status_code, answer.json()["__type"]) == (400, "InvalidToken"), one
    assert _refusal(on_sqlite.client.send_task_success, taskToken=token, output="{")[0] == (
        "InvalidOutput"
    )
    on_sqlite.client.send_task_success(taskToken=token, output="1")


def test_a_worker_that_falls_silent_is_timed_out_and_one_that_beats_is_not(
    stage: Stage,
) -> None:
    arn, machine = activity(stage, HeartbeatSeconds=1, TimeoutSeconds=60)
    silent, alive = stage.start(machine, "silent"), stage.start(machine, "alive")
    polled(stage, arn)
    token = polled(stage, arn)["taskToken"]
    for _ in range(5):
        time.sleep(0.4)
        stage.client.send_task_heartbeat(taskToken=token)
    stage.client.send_task_success(taskToken=token, output="1")
    assert stage.ended(alive)["status"] == "SUCCEEDED"
    found = stage.ended(silent)
    assert (found["status"], found["error"]) == ("FAILED", "States.Timeout")


def test_a_task_that_nobody_polls_runs_into_its_time_limit(stage: Stage) -> None:
    arn, machine = activity(stage, TimeoutSeconds=1)
    execution = stage.start(machine)
    assert stage.ended(execution)["error"] == "States.Timeout"
    assert stage.types(execution)[2:4] == ["ActivityScheduled", "ActivityTimedOut"]
    later = stage.start(machine, "later")
    assert polled(stage, arn)["input"] == '"later"'
    stage.client.stop_execution(executionArn=later)


def test_what_is_answered_after_a_stop_changes_nothing(stage: Stage) -> None:
    arn, machine = activity(stage)
    execution = stage.start(machine)
    token = polled(stage, arn)["taskToken"]
    stage.client.stop_execution(executionArn=execution)
    before = stage.history(execution)
    for call in (stage.client.send_task_success, stage.client.send_task_heartbeat):
        more = {"output": "1"} if call == stage.client.send_task_success else {}
        assert _refusal(call, taskToken=token, **more)[0] == "TaskTimedOut"
    assert stage.history(execution) == before


def test_an_activity_that_is_gone_is_an_error_that_nobody_catches(stage: Stage) -> None:
    arn, machine = activity(stage, Catch=[{"ErrorEquals": ["States.ALL"], "Next": "A"}])
    stage.client.delete_activity(activityArn=arn)
    found = stage.ended(stage.start(machine))
    assert found["error"] == "States.Runtime"
    assert f"The activity {arn} does not exist." in found["cause"]
    assert _refusal(stage.client.get_activity_task, activityArn=arn)[0] == "ActivityDoesNotExist"


RESOURCE = "arn:aws:states:::tickets:open"
ASKS = {
    "StartAt": "Ask",
    "States": {
        "Ask": {
            "Type": "Task",
            "Resource": f"{RESOURCE}.waitForTaskToken",
            "Parameters": {"token.$": "$$.Task.Token", "given.$": "$", "whole.$": "$$.Task"},
            "HeartbeatSeconds": 600,
            "End": True,
        }
    },
}


def test_a_task_with_a_token_ends_when_somebody_sends_it(database_url: str) -> None:
    tokens: list[str] = []

    def opens(event: dict[str, Any]) -> dict[str, str]:
        assert event["whole"] == {"Token": event["token"]}
        tokens.append(event["token"])
        return {"ticket": "4711"}

    with served(RESOURCE, opens), staged(database_url) as stage:
        execution = stage.start(stage.machine(ASKS), {"a": 1})
        eventually(lambda: "TaskSubmitted" in stage.types(execution))
        history = stage.history(execution)
        assert json.loads(history[4]["taskSubmittedEventDetails"]["output"]) == {"ticket": "4711"}
        assert tokens[0] not in json.dumps(history, default=str)
        frames = stage.parts.store.frames(stage.parts.service.list_executions()[0].id)
        arguments = frames[0].task.arguments.text if frames[0].task else ""
        assert tokens[0] not in arguments
        assert "[task token " in arguments
        stage.client.send_task_success(taskToken=tokens[0], output='"done"')
        assert stage.ended(execution)["output"] == '"done"'
        assert stage.types(execution)[3:6] == ["TaskStarted", "TaskSubmitted", "TaskSucceeded"]


def test_an_answer_may_be_quicker_than_the_handler_that_asked(sqlite_url: str) -> None:
    answered = threading.Event()

    def opens(event: dict[str, Any]) -> None:
        stage.client.send_task_failure(taskToken=event["token"], error="No", cause="at once")
        answered.set()

    with served(RESOURCE, opens), staged(sqlite_url) as stage:
        execution = stage.start(stage.machine(ASKS))
        found = stage.ended(execution)
        assert (found["error"], found["cause"]) == ("No", "at once")
        assert answered.wait(10)
        assert stage.types(execution)[3:5] == ["TaskStarted", "TaskFailed"]


def test_a_token_is_the_same_at_every_delivery_and_another_at_every_attempt(
    sqlite_url: str,
) -> None:
    seen: list[tuple[int, str]] = []

    def opens(event: dict[str, Any], context: TaskContext) -> None:
        seen.append((context.attempt, event["token"]))
        if context.attempt == 1:
            raise TaskError("Again")

    asks = json.loads(json.dumps(ASKS))
    asks["States"]["Ask"]["Retry"] = [{"ErrorEquals": ["Again"], "IntervalSeconds": 1}]
    with served(RESOURCE, opens), staged(sqlite_url) as stage:
        execution = stage.start(stage.machine(asks))
        eventually(lambda: len(seen) == 2)
        assert seen[0][1] != seen[1][1]
        assert _refusal(stage.client.send_task_success, taskToken=seen[0][1], output="1")[0] == (
            "TaskTimedOut"
        )
        stage.client.send_task_success(taskToken=seen[1][1], output="1")
        assert stage.ended(execution)["status"] == "SUCCEEDED"


def test_nobody_can_use_a_placeholder_to_get_a_token(on_sqlite: Stage) -> None:
    arn, machine = activity(on_sqlite)
    execution = on_sqlite.start(machine, "[task token 00000000000000000000000000000000]")
    assert polled(on_sqlite, arn)["input"].startswith('"[task token 0000')
    on_sqlite.client.stop_execution(executionArn=execution)


@pytest.mark.parametrize("worker", ["a\x00b", "\ud800", "w" * 81])
def test_a_worker_s_name_is_plain_text(on_sqlite: Stage, worker: str) -> None:
    arn, _ = activity(on_sqlite)
    request = json.dumps({"activityArn": arn, "workerName": worker})
    answer = on_sqlite.post("GetActivityTask", request)
    assert (answer.status_code, answer.json()["__type"]) == (400, "ValidationException")
