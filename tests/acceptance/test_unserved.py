"""A Task whose Resource nobody serves waits; one whose handler returns no JSON has failed."""

from __future__ import annotations

import json

from orchestrator.asl.document import Json
from orchestrator.cli.printing import rests_on
from tests.acceptance.cluster import Cluster

APPLICATION = "tests.acceptance.trial_worker"


def _ask(resource: str, **fields: object) -> str:
    task = {"Type": "Task", "Resource": f"celery:{resource}", "End": True, **fields}
    states = {
        "Ask": task,
        **({"Caught": {"Type": "Pass", "End": True}} if "Catch" in fields else {}),
    }
    return json.dumps({"StartAt": "Ask", "States": states})


def _catch(error: str) -> list[dict[str, object]]:
    return [{"ErrorEquals": [error], "Next": "Caught"}]


def _output(deployed: Cluster, address: str) -> Json:
    output = deployed.service.describe_execution(address).output
    return None if output is None else output.value


def _rests(deployed: Cluster, address: str) -> list[str]:
    service = deployed.service
    return [rests_on(f, service.unserved()) for f in service.describe_execution(address).frames]


def test_a_task_that_nobody_serves_waits_for_a_worker_and_a_result_that_is_no_json_can_be_caught(
    deployed: Cluster,
) -> None:
    service = deployed.service
    service.deploy("ask", _ask("left.echo"))
    service.deploy("limited", _ask("nobody.here", TimeoutSeconds=1, Catch=_catch("States.Timeout")))
    deployed.scheduler("s")
    deployed.worker("right", app=APPLICATION, queues="right", concurrency=1)
    deployed.ready()
    service.start_execution("ask", "a", '{"n": 1}')
    service.start_execution("limited", "l")
    deployed.ended("limited", 1)
    assert _output(deployed, "limited:l") == {"Error": "States.Timeout", "Cause": ""}
    assert _rests(deployed, "ask:a") == ["no worker serves celery:left.echo"]
    assert service.unserved() == ["celery:left.echo"]

    service.deploy("strange", _ask("left.strange"))
    service.deploy("caught", _ask("left.strange", Catch=_catch("Task.InvalidResult")))
    for machine in ("strange", "caught"):
        service.start_execution(machine, "one", '"x"')
    deployed.worker("left", app=APPLICATION, queues="left", concurrency=1)
    for machine in ("ask", "strange", "caught"):
        deployed.ended(machine, 1)
    assert _output(deployed, "ask:a") == {"n": 1}
    assert service.unserved() == []

    failed = service.describe_execution("strange:one").execution
    assert (failed.status, failed.error) == ("FAILED", "Task.InvalidResult")
    error = {"Error": "Task.InvalidResult", "Cause": "$.set: set"}
    assert _output(deployed, "caught:one") == error
