"""Variables are kept where a frame rests, and a crash between two states loses none."""

from __future__ import annotations

import json

from orchestrator.execution.frame import ExecutionStatus
from tests.engine.pump import RESOURCE, Pump

MACHINE = {
    "QueryLanguage": "JSONata",
    "StartAt": "Note",
    "States": {
        "Note": {"Type": "Pass", "Assign": {"factor": "{% $states.input.n %}"}, "Next": "Work"},
        "Work": {"Type": "Task", "Resource": RESOURCE, "Assign": {"worked": True}, "Next": "All"},
        "All": {
            "Type": "Map",
            "Items": "{% $states.input.items %}",
            "ItemProcessor": {
                "StartAt": "One",
                "States": {
                    "One": {
                        "Type": "Task",
                        "Resource": RESOURCE,
                        "Assign": {"own": "{% $states.result * $factor %}"},
                        "Next": "Wait",
                    },
                    "Wait": {"Type": "Wait", "Seconds": 0, "Next": "Last"},
                    "Last": {
                        "Type": "Task",
                        "Resource": RESOURCE,
                        "Output": "{% $own %}",
                        "End": True,
                    },
                },
            },
            "Next": "Done",
        },
        "Done": {"Type": "Succeed", "Output": "{% $states.input ~> $append([$worked]) %}"},
    },
}


def test_what_was_assigned_is_there_after_every_rest(database_url: str) -> None:
    with Pump(database_url) as pump:
        address = pump.start(json.dumps(MACHINE), '{"n": 3, "items": [1, 2, 3]}')
        while _turned(database_url):
            pass
        found = pump.service.describe_execution(address)
    assert found.execution.status is ExecutionStatus.SUCCEEDED
    assert found.output is not None
    assert found.output.value == [3, 6, 9, True]


def _turned(database_url: str) -> bool:
    """Let parts that know only what the database holds do what is to be done next."""
    with Pump(database_url) as pump:
        return pump.turn()
