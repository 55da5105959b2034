"""`orchestrator dev` as a process: it listens here only, answers at once, and survives kill -9."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.stage import ROLE, client_of, eventually

ROOT = Path(__file__).resolve().parents[2]
WAITS = '{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 2, "End": true}}}'


def command(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from orchestrator.cli import main; main()", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def developing(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its address; killed at the end."""
    with command("dev", "--port", "0", "--handlers", "json", folder=folder) as process:
        assert process.stderr is not None
        try:
            wire, console, native = (process.stderr.readline().strip() for _ in range(3))
            url = wire.removeprefix("serving AWS's protocol at ")
            assert (console, native) == (f"the console: {url}/", f"the native API: {url}/v1")
            here = "the commands: export ORCHESTRATOR_DATABASE_URL=sqlite:///.orchestrator/"
            assert process.stderr.readline() == f"{here}orchestrator.db\n"
            yield process, url
        finally:
            process.kill()


@pytest.mark.parametrize(("verb", "host"), [("dev", "::"), ("api", "192.0.2.1"), ("dev", "")])
def test_it_refuses_to_listen_where_others_reach_it(tmp_path: Path, verb: str, host: str) -> None:
    with command(verb, "--host", host, "--port", "0", folder=tmp_path) as process:
        _, said = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "--without-authentication" in said
    assert list(tmp_path.iterdir()) == []


def test_an_answer_on_a_connection_that_is_kept_waits_for_nothing(tmp_path: Path) -> None:
    headers = {"X-Amz-Target": "AWSStepFunctions.ListActivities"}
    with developing(tmp_path) as (_, url), httpx.Client() as client:

        def seconds() -> float:
            begun = time.perf_counter()
            client.post(url, content=b"{}", headers=headers).raise_for_status()
            return time.perf_counter() - begun

        # Without TCP_NODELAY the client's acknowledgement is waited for: 40 ms, each time.
        assert statistics.median([seconds() for _ in range(40)]) < 0.03


def test_what_was_answered_goes_on_after_a_kill(tmp_path: Path) -> None:
    arns, token = [], ""
    with developing(tmp_path) as (process, url):
        client: Any = client_of(url)
        machine = client.create_state_machine(name="m", definition=WAITS, roleArn=ROLE)
        activity = client.create_activity(name="a")["activityArn"]
        asks = '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "%s", "End": true}}}'
        asked = client.create_state_machine(name="b", definition=asks % activity, roleArn=ROLE)
        outside = client.start_execution(stateMachineArn=asked["stateMachineArn"])["executionArn"]
        token = client.get_activity_task(activityArn=activity)["taskToken"]
        page = client.list_state_machines(maxResults=1)["nextToken"]
        for n in range(20):
            arn = machine["stateMachineArn"]
            arns.append(client.start_execution(stateMachineArn=arn, name=f"e{n}")["executionArn"])
        process.kill()
    with developing(tmp_path) as (_, url):
        client = client_of(url)
        client.send_task_success(taskToken=token, output="7")
        assert len(client.list_state_machines(maxResults=1, nextToken=page)["stateMachines"]) == 1

        def status(arn: str) -> str:
            return str(client.describe_execution(executionArn=arn)["status"])

        eventually(lambda: {status(arn) for arn in [*arns, outside]} == {"SUCCEEDED"})
        for arn in arns:
            ids = [one["id"] for one in client.get_execution_history(executionArn=arn)["events"]]
            assert ids == list(range(1, len(ids) + 1))
