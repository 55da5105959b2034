"""Answers in the shapes of AWS's model; moments are seconds since 1970."""

from __future__ import annotations

from datetime import datetime

from orchestrator.asl.diagnostics import Finding
from orchestrator.asl.document import Json
from orchestrator.execution.frame import Execution, ExecutionStatus, Scope
from orchestrator.execution.history import HistoryEvent, to_aws
from orchestrator.service import ExecutionDetail, MachineDetail
from orchestrator.store import ActivityRow, MachineRow

INCLUDED: Json = {"included": True}
NOT_INCLUDED: Json = {"included": False}


def seconds(at: datetime) -> float:
    """A moment as the wire has it, to the millisecond."""
    return round(at.timestamp(), 3)


def machine(found: MachineDetail, scope: Scope, *, with_data: bool) -> dict[str, Json]:
    """A machine, as DescribeStateMachine and its sibling for executions both show it."""
    settings = found.settings
    shown: dict[str, Json] = {
        "stateMachineArn": scope.machine_arn(found.machine.name),
        "name": found.machine.name,
        "roleArn": settings.role_arn,
        "loggingConfiguration": settings.logging,
        "tracingConfiguration": settings.tracing,
        "encryptionConfiguration": settings.encryption,
    }
    if found.revision.uid is not None:
        shown["revisionId"] = found.revision.uid
    if with_data:
        shown["definition"] = found.revision.text
        if found.variable_references:
            shown["variableReferences"] = {
                name: list(used) for name, used in found.variable_references.items()
            }
    return shown


def machine_item(row: MachineRow, scope: Scope) -> dict[str, Json]:
    """A machine in a list."""
    return {
        "stateMachineArn": scope.machine_arn(row.name),
        "name": row.name,
        "type": row.type,
        "creationDate": seconds(row.created_at),
    }


def activity(row: ActivityRow, scope: Scope) -> dict[str, Json]:
    """An activity in a list."""
    return {
        "activityArn": scope.activity_arn(row.name),
        "name": row.name,
        "creationDate": seconds(row.created_at),
    }


def execution_item(run: Execution, scope: Scope) -> dict[str, Json]:
    """An execution in a list."""
    shown = _execution(run, scope)
    shown["redriveCount"] = 0
    return shown


def execution(found: ExecutionDetail, scope: Scope, *, with_data: bool) -> dict[str, Json]:
    """An execution as DescribeExecution shows it."""
    run = found.execution
    shown = {**_execution(run, scope), **_documents(found, with_data=with_data)}
    shown["redriveCount"] = 0
    shown["redriveStatus"] = "NOT_REDRIVABLE"
    shown["redriveStatusReason"] = _why_not(run.status)
    return shown


def sync_execution(found: ExecutionDetail, scope: Scope, *, with_data: bool) -> dict[str, Json]:
    """An execution as StartSyncExecution answers it."""
    run = found.execution
    shown = {**_execution(run, scope), **_documents(found, with_data=with_data)}
    shown["billingDetails"] = {
        "billedDurationInMilliseconds": 100,
        "billedMemoryUsedInMB": 64,
    }
    return shown


def _execution(run: Execution, scope: Scope) -> dict[str, Json]:
    shown: dict[str, Json] = {
        "executionArn": scope.execution_arn(run.machine, run.name),
        "stateMachineArn": scope.machine_arn(run.machine),
        "name": run.given_name,
        "status": run.status.value,
        "startDate": seconds(run.started_at),
    }
    if run.ended_at is not None:
        shown["stopDate"] = seconds(run.ended_at)
    return shown


def _documents(found: ExecutionDetail, *, with_data: bool) -> dict[str, Json]:
    run = found.execution
    shown: dict[str, Json] = {"inputDetails": INCLUDED if with_data else NOT_INCLUDED}
    if with_data:
        shown["input"] = found.input.text
    if found.output is not None:
        shown["outputDetails"] = INCLUDED if with_data else NOT_INCLUDED
        if with_data:
            shown["output"] = found.output.text
    if run.origin.trace_header is not None:
        shown["traceHeader"] = run.origin.trace_header
    if run.error is not None and run.ended_at is not None:
        shown["error"] = run.error
    if run.cause is not None and run.ended_at is not None:
        shown["cause"] = run.cause
    return shown


def _why_not(status: ExecutionStatus) -> str:
    match status:
        case ExecutionStatus.RUNNING | ExecutionStatus.SUCCEEDED:
            return f"Execution is {status} and cannot be redriven"
        case ExecutionStatus.FAILED | ExecutionStatus.TIMED_OUT | ExecutionStatus.ABORTED:
            return "RedriveExecution comes with a later release"


_PAYLOADS = frozenset({"input", "output", "cause", "error", "parameters"})


def event(found: HistoryEvent, *, with_data: bool) -> dict[str, Json]:
    """An event of a history; `with_data` tells whether with documents, errors and causes."""
    shown = to_aws(found)
    shown["timestamp"] = seconds(found.at)
    if not with_data:
        for value in shown.values():
            if isinstance(value, dict):
                for name in _PAYLOADS & value.keys():
                    del value[name]
    return shown


def diagnostic(finding: Finding) -> dict[str, Json]:
    """One thing that is wrong with a definition."""
    shown: dict[str, Json] = {
        "severity": finding.severity.value,
        "code": finding.code.value,
        "message": finding.message,
    }
    if finding.location is not None:
        shown["location"] = finding.location
    return shown
