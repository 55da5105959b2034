"""The actions of AWS Step Functions: which there are, which come later, whose method each is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from orchestrator.api.desk import Answer, Desk
from orchestrator.api.executions import Executions
from orchestrator.api.given import Given
from orchestrator.api.machines import Machines
from orchestrator.api.presence import Presence
from orchestrator.api.tasks import Tasks

Method: TypeAlias = "Callable[[Given], Answer]"
"""Runs in a thread."""
Patient: TypeAlias = "Callable[[Given, Presence], Awaitable[Answer]]"
"""Waits in the event loop, and holds no thread."""

ACTIONS: Final = (
    "CreateStateMachine",
    "UpdateStateMachine",
    "DescribeStateMachine",
    "DescribeStateMachineForExecution",
    "ListStateMachines",
    "DeleteStateMachine",
    "ValidateStateMachineDefinition",
    "StartExecution",
    "StartSyncExecution",
    "StopExecution",
    "DescribeExecution",
    "ListExecutions",
    "GetExecutionHistory",
    "CreateActivity",
    "DescribeActivity",
    "ListActivities",
    "DeleteActivity",
    "GetActivityTask",
    "SendTaskSuccess",
    "SendTaskFailure",
    "SendTaskHeartbeat",
)
LATER: Final = (
    "PublishStateMachineVersion",
    "ListStateMachineVersions",
    "DeleteStateMachineVersion",
    "CreateStateMachineAlias",
    "UpdateStateMachineAlias",
    "DescribeStateMachineAlias",
    "ListStateMachineAliases",
    "DeleteStateMachineAlias",
    "RedriveExecution",
    "DescribeMapRun",
    "ListMapRuns",
    "UpdateMapRun",
    "TagResource",
    "UntagResource",
    "ListTagsForResource",
    "TestState",
)


def methods(desk: Desk) -> Mapping[str, Method]:
    """Return the method of each action: its name in snake_case."""
    groups = (Machines(desk), Executions(desk), Tasks(desk))
    patient = patient_methods(desk)
    return {
        name: next(getattr(one, _snake(name)) for one in groups if hasattr(one, _snake(name)))
        for name in ACTIONS
        if name not in patient
    }


def patient_methods(desk: Desk) -> Mapping[str, Patient]:
    """Return the methods of the actions that wait."""
    return {
        "StartSyncExecution": Executions(desk).start_sync_execution,
        "GetActivityTask": Tasks(desk).get_activity_task,
    }


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
