"""A Task whose Resource nobody serves waits, and runs when a worker comes that serves it."""

from __future__ import annotations

import json

from orchestrator.cli.printing import rests_on
from tests.acceptance.cluster import Cluster
from tests.acceptance.counting import FILE

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


def _rests(deployed: Cluster, address: str) -> list[str]:
    service = deployed.service
    return [rests_on(f, service.unserved()) for f in service.describe_execution(address).frames]


def test_a_task_that_nobody_serves_waits_for_a_worker_that_does(deployed: Cluster) -> None:
    service = deployed.service
    service.deploy("ask", _ask("left.echo"))
    service.deploy("limited", _ask("nobody.here", TimeoutSeconds=1, Catch=_catch("States.Timeout")))
    deployed.scheduler("s")
    deployed.worker("right", app=APPLICATION, queues="right", concurrency=1)
    deployed.ready()
    service.start_execution("ask", "a", '{"n": 1}')
    service.start_execution("limited", "l")
    deployed.ended("limited", 1)
    caught = service.describe_execution("limited:l").output
    assert caught is not None
    assert isinstance(caught.value, dict)
    assert caught.value["Error"] == "States.Timeout"
    assert _rests(deployed, "ask:a") == ["no worker serves celery:left.echo"]
    assert service.unserved() == ["celery:left.echo"]

    deployed.worker("left", app=APPLICATION, queues="left", concurrency=1)
    deployed.ended("ask", 1)
    output = service.describe_execution("ask:a").output
    assert output is not None
    assert output.value == {"n": 1}
    assert service.unserved() == []


def test_a_result_that_is_no_json_is_an_error_that_can_be_caught(deployed: Cluster) -> None:
    assert FILE not in deployed.environment
    service = deployed.service
    service.deploy("strange", _ask("left.strange"))
    service.deploy("caught", _ask("left.strange", Catch=_catch("Task.InvalidResult")))
    deployed.scheduler("s")
    deployed.worker("left", app=APPLICATION, queues="left", concurrency=1)
    deployed.ready()
    for machine in ("strange", "caught"):
        service.start_execution(machine, "one", '"x"')
        deployed.ended(machine, 1)
    failed = service.describe_execution("strange:one").execution
    assert (failed.status, failed.error) == ("FAILED", "Task.InvalidResult")
    output = service.describe_execution("caught:one").output
    assert output is not None
    assert isinstance(output.value, dict)
    assert output.value["Error"] == "Task.InvalidResult"
    assert output.value["Cause"] == "$.set: set"
