"""boto3 and the aws CLI, unchanged: all they are given is what `orchestrator env` prints."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.api.stage import ROLE, eventually
from tests.servers import free_port

ROOT: Final = Path(__file__).resolve().parents[2]
AWSCLI: Final = "awscli>=1.46,<2"
COMMAND: Final = (sys.executable, "-c", "from orchestrator.cli import main; main()")


@contextmanager
def served(folder: Path, *arguments: str, port: int) -> Iterator[dict[str, str]]:
    """`orchestrator dev` in a folder; the environment that `orchestrator env` says clients need."""
    ours = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [*COMMAND, "dev", "--port", str(port), "--data", "data", *arguments],
        cwd=folder,
        env=ours,
        stderr=log,
    )
    try:
        said = subprocess.run(
            [*COMMAND, "env", "--port", str(port)],
            env=ours,
            capture_output=True,
            text=True,
            check=True,
        )
        eventually(lambda: _answers(port))
        variables = dict(re.findall(r"(?m)^export (\w+)=(.*)$", said.stdout))
        yield {"PATH": ours["PATH"], "HOME": ours["HOME"], **variables}
        assert process.poll() is None, (folder / "log").read_text()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0, (folder / "log").read_text()
        assert "Traceback" not in (folder / "log").read_text()
    finally:
        process.kill()
        process.wait()
        log.close()


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/").status_code < 500
    except httpx.TransportError:
        return False


MAILBOX: Final = """
import pathlib
from orchestrator.handlers import handler

@handler("arn:aws:states:::sqs:sendMessage")
def send(event):
    pathlib.Path(event["QueueUrl"]).write_text(event["MessageBody"]["Token"])
"""
CALLBACK: Final = {
    "Type": "Task",
    "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
    "Parameters": {"QueueUrl.$": "$.queue", "MessageBody": {"Token.$": "$$.Task.Token"}},
    "End": True,
}


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    (tmp_path / "mailbox.py").write_text(MAILBOX)
    with served(tmp_path, "--handlers", "mailbox", port=free_port()) as variables:
        yield variables


STORY: Final = r"""
import json, pathlib, sys, time, boto3
client = boto3.client("stepfunctions")
role = "arn:aws:iam::000000000000:role/test"
activity = client.create_activity(name="work")["activityArn"]
task = {"Type": "Task", "Resource": activity, "HeartbeatSeconds": 60, "End": True}
definition = json.dumps({"StartAt": "A", "States": {"A": task}})
machine = client.create_state_machine(name="m", definition=definition, roleArn=role)
arn = machine["stateMachineArn"]
first = client.start_execution(stateMachineArn=arn, name="one", input='{"a": 1}')["executionArn"]
token = client.get_activity_task(activityArn=activity, workerName="w")["taskToken"]
client.send_task_heartbeat(taskToken=token)
client.send_task_success(taskToken=token, output='{"b": 2}')
found = client.describe_execution(executionArn=first)
second = client.start_execution(stateMachineArn=arn, name="two")["executionArn"]
client.stop_execution(executionArn=second, error="E", cause="c")
asks = client.create_state_machine(name="asks", definition=sys.argv[1], roleArn=role)
letter = pathlib.Path("letter").absolute()
third = client.start_execution(
    stateMachineArn=asks["stateMachineArn"], input=json.dumps({"queue": str(letter)})
)["executionArn"]
while not (letter.exists() and letter.read_text()):
    time.sleep(0.05)
client.send_task_failure(taskToken=letter.read_text(), error="No", cause="not today")
answered = client.describe_execution(executionArn=third)
passes = json.dumps({"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}})
express = client.create_state_machine(name="x", definition=passes, roleArn=role, type="EXPRESS")
sync = client.start_sync_execution(stateMachineArn=express["stateMachineArn"], input='{"c": 3}')
events = client.get_paginator("get_execution_history").paginate(
    executionArn=first, PaginationConfig={"PageSize": 2}
)
try:
    client.describe_state_machine(stateMachineArn=arn + "x")
except client.exceptions.StateMachineDoesNotExist as error:
    missing = error.response["Error"]["Code"]
print(json.dumps({
    "output": found["output"],
    "kinds": [type(found[name]).__name__ for name in ("startDate", "stopDate")],
    "stopped": client.describe_execution(executionArn=second)["status"],
    "sync": sync["output"],
    "answered": [answered["status"], answered["error"], answered["cause"]],
    "events": [event["type"] for page in events for event in page["events"]],
    "missing": missing,
}))
"""


def _asking() -> str:
    return json.dumps({"StartAt": "Ask", "States": {"Ask": CALLBACK}})


def test_boto3_runs_unchanged(environment: Mapping[str, str], tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", STORY, _asking()],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {
        "output": '{"b":2}',
        "kinds": ["datetime", "datetime"],
        "stopped": "ABORTED",
        "sync": '{"c":3}',
        "answered": ["FAILED", "No", "not today"],
        "events": [
            "ExecutionStarted",
            "TaskStateEntered",
            "ActivityScheduled",
            "ActivityStarted",
            "ActivitySucceeded",
            "TaskStateExited",
            "ExecutionSucceeded",
        ],
        "missing": "StateMachineDoesNotExist",
    }


@pytest.fixture(scope="session")
def aws() -> Path:
    """The aws CLI in a virtual environment of its own, since it pins botocore."""
    folder = Path(tempfile.gettempdir()) / "durable-orchestrator-awscli"
    program = folder / "bin" / "aws"
    if not program.exists():
        venv.create(folder, with_pip=True, clear=True)
        installed = subprocess.run(
            [folder / "bin" / "pip", "install", "--quiet", AWSCLI],
            capture_output=True,
            text=True,
            check=False,
        )
        if installed.returncode != 0:
            reason = f"the aws CLI cannot be installed: {installed.stderr[-300:]}"
            if os.environ.get("CI") == "true":
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)
    return program


def test_the_aws_cli_runs_unchanged(
    aws: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    def call(action: str, **options: str) -> Any:
        flags = [part for name, value in options.items() for part in (f"--{name}", value)]
        ran = subprocess.run(
            [aws, "stepfunctions", action, *flags],
            env={**environment, "AWS_PAGER": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout or "{}")

    activity = call("create-activity", name="work")["activityArn"]
    task = {"Type": "Task", "Resource": activity, "End": True}
    text = json.dumps({"StartAt": "A", "States": {"A": task}})
    machine = call("create-state-machine", **_flags(name="m", definition=text, role_arn=ROLE))
    arn = machine["stateMachineArn"]
    execution = call("start-execution", **_flags(state_machine_arn=arn, input='{"a": 1}'))
    one = _flags(execution_arn=execution["executionArn"])
    token = call("get-activity-task", **_flags(activity_arn=activity))["taskToken"]
    call("send-task-success", **_flags(task_token=token, task_output="2"))
    described = eventually(lambda: _ended(call("describe-execution", **one)))
    assert described["output"] == "2"
    assert call("get-execution-history", **one)["events"][-1]["type"] == "ExecutionSucceeded"
    second = call("start-execution", **_flags(state_machine_arn=arn))["executionArn"]
    call("stop-execution", **_flags(execution_arn=second))
    listed = call("list-executions", **_flags(state_machine_arn=arn))["executions"]
    assert [run["status"] for run in listed] == ["ABORTED", "SUCCEEDED"]
    asks = call("create-state-machine", **_flags(name="a", definition=_asking(), role_arn=ROLE))
    letter = tmp_path / "letter"
    asked = call(
        "start-execution",
        **_flags(
            state_machine_arn=asks["stateMachineArn"], input=json.dumps({"queue": str(letter)})
        ),
    )
    token = eventually(lambda: letter.exists() and letter.read_text())
    call("send-task-success", **_flags(task_token=token, task_output="3"))
    one = _flags(execution_arn=asked["executionArn"])
    assert eventually(lambda: _ended(call("describe-execution", **one)))["output"] == "3"
    express = _flags(name="x", definition=json.dumps(PASSES), role_arn=ROLE, type="EXPRESS")
    arn = call("create-state-machine", **express)["stateMachineArn"]
    sync = call("start-sync-execution", **_flags(state_machine_arn=arn))
    assert sync["status"] == "SUCCEEDED"


PASSES: Final = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}


def _flags(**options: str) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in options.items()}


def _ended(found: Any) -> Any:
    return found if found["status"] != "RUNNING" else None


def test_polls_that_wait_end_with_the_server(tmp_path: Path) -> None:
    port = free_port()
    with served(tmp_path, "--handlers", "json", port=port) as environment:
        poll = (
            "import boto3; c = boto3.client('stepfunctions'); a = c.create_activity(name='w');"
            "print(c.get_activity_task(activityArn=a['activityArn']).get('taskToken'))"
        )
        waiting = subprocess.Popen(
            [sys.executable, "-c", poll], env=environment, stdout=subprocess.PIPE, text=True
        )
        time.sleep(8)
        assert waiting.poll() is None
        began = time.monotonic()
    assert waiting.communicate(timeout=20)[0].strip() == "None"
    assert time.monotonic() - began < 20


def test_what_was_begun_goes_on_after_a_restart(tmp_path: Path) -> None:
    port = free_port()
    begin = (
        "import boto3, json; c = boto3.client('stepfunctions');"
        "a = c.create_activity(name='w')['activityArn'];"
        "d = json.dumps({'StartAt': 'A', 'States': {'A': {'Type': 'Task', 'Resource': a,"
        " 'End': True}}});"
        f"m = c.create_state_machine(name='m', definition=d, roleArn='{ROLE}')['stateMachineArn'];"
        "c.start_execution(stateMachineArn=m, name='e');"
        "print(c.get_activity_task(activityArn=a)['taskToken'])"
    )
    end = (
        "import boto3, sys; c = boto3.client('stepfunctions');"
        "c.send_task_success(taskToken=sys.argv[1], output='1');"
        "arn = 'arn:aws:states:us-east-1:000000000000:execution:m:e';"
        "print(c.describe_execution(executionArn=arn)['status'])"
    )

    def ran(code: str, environment: Mapping[str, str], *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    with served(tmp_path, "--handlers", "json", port=port) as environment:
        token = ran(begin, environment)
    with served(tmp_path, "--handlers", "json", port=port) as environment:
        assert ran(end, environment, token) == "SUCCEEDED"
