"""What has become of each state of an execution, as pictures colour it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from orchestrator.asl.definition import parse
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.handlers import TaskError, handler
from orchestrator.service import marks
from tests.calls.machines import Deployment, deployment


@handler("marks.fail")
def fail() -> None:
    raise TaskError("Marks.Broken", "as it should")


@handler("marks.work")
def work() -> str:
    return "done"


def _task(name: str, **fields: object) -> dict[str, object]:
    return {"Type": "Task", "Resource": f"celery:marks.{name}", "Parameters": {}, **fields}


MACHINE = json.dumps(
    {
        "Calls": {"go": {}},
        "StartAt": "Begin",
        "States": {
            "Begin": _task(
                "fail", Catch=[{"ErrorEquals": ["Marks.Broken"], "Next": "Mend"}], End=True
            ),
            "Mend": _task("work", Next="Ask"),
            "Ask": {"Type": "Await", "On": {"go": {"Next": "Fork"}}},
            "Fork": {
                "Type": "Parallel",
                "Branches": [
                    {
                        "StartAt": "Rest",
                        "States": {"Rest": {"Type": "Wait", "Seconds": 86400, "End": True}},
                    },
                    {"StartAt": "Nobody", "States": {"Nobody": _task("nobody", End=True)}},
                    {
                        "StartAt": "Listen",
                        "States": {
                            "Listen": {"Type": "Await", "On": {"go": {"Next": "Stumble"}}},
                            "Stumble": _task("fail", End=True),
                        },
                    },
                ],
                "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Last"}],
                "End": True,
            },
            "Last": {"Type": "Await", "On": {"go": {"Next": "Broken"}}},
            "Broken": {"Type": "Fail"},
        },
    }
)


@pytest.fixture
def deployed(database_url: str) -> Iterator[Deployment]:
    with deployment(database_url) as running:
        running.service.deploy("marked", MACHINE)
        yield running


def test_states_are_marked_by_what_became_of_them(deployed: Deployment) -> None:
    service = deployed.service

    def marked() -> dict[str, str]:
        return {name: str(mark) for name, mark in service.execution_marks("marked:1").items()}

    service.start_execution("marked", "1")
    deployed.until(lambda: deployed.state("marked:1") == "Ask")
    assert marked() == {"Begin": "caught", "Mend": "done", "Ask": "waiting"}

    service.call_execution("marked:1", "go", wait_seconds=10)
    deployed.until(lambda: "Nobody" in marked())
    before = {"Begin": "caught", "Mend": "done", "Ask": "done"}
    waiting = {"Rest": "waiting", "Nobody": "waiting", "Listen": "waiting"}
    assert marked() == before | {"Fork": "running"} | waiting

    service.call_execution("marked:1", "go", wait_seconds=10)
    deployed.until(lambda: deployed.state("marked:1") == "Last")
    over = before | {"Fork": "caught", "Listen": "done", "Stumble": "failed"}
    over |= {"Rest": "cancelled", "Nobody": "cancelled"}
    assert marked() == over | {"Last": "waiting"}

    service.call_execution("marked:1", "go", wait_seconds=10)
    assert service.find_execution("marked:1").status is ExecutionStatus.FAILED
    assert marked() == over | {"Last": "done", "Broken": "failed"}

    # of a long history the middle may be left out: nothing is coloured wrongly for that
    parsed = parse(MACHINE).machine
    assert parsed is not None
    events = service.whole_history("marked:1")
    found = marks(parsed, service.find_execution("marked:1"), [*events[:3], *events[-5:]], ())
    assert found == {"Begin": "done", "Last": "done", "Broken": "failed"}


def test_what_is_undone_and_what_keeps_that_up_is_marked(deployed: Deployment) -> None:
    undone = {"Resource": "celery:marks.work", "Parameters": {}}
    stuck = {"Resource": "celery:marks.fail", "Parameters": {}, "Retry": []}
    states = {
        "Reserve": _task("work", Compensate=undone, Next="Pack"),
        "Pack": _task("work", Compensate=stuck, Next="Send"),
        "Send": _task("fail", End=True),
    }
    service = deployed.service
    service.deploy("undone", json.dumps({"StartAt": "Reserve", "States": states}))
    service.start_execution("undone", "1")
    blocked = {"Reserve": "done", "Pack": "blocked", "Send": "failed"}
    deployed.until(lambda: service.execution_marks("undone:1") == blocked)
    service.compensations.skip("undone:1", "somebody", "it is lost")
    deployed.until(lambda: service.find_execution("undone:1").ended_at is not None)
    over = {"Reserve": "compensated", "Pack": "done", "Send": "failed"}
    assert service.execution_marks("undone:1") == over
