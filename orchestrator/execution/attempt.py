"""How the attempts of a task are recorded: each family of resources has events of its own."""

from __future__ import annotations

from datetime import datetime

from orchestrator.asl.errors import TIMEOUT, Failure
from orchestrator.asl.resources import Kind, Resource
from orchestrator.execution.history import Detail, failed_with
from orchestrator.execution.payload import Payload
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition

_FAMILIES = {
    Kind.CELERY: "Task",
    Kind.LAMBDA_ARN: "LambdaFunction",
    Kind.LAMBDA_INVOKE: "Task",
    Kind.ACTIVITY: "Activity",
    Kind.SERVICE: "Task",
}


def record_scheduled(
    transition: Transition,
    thread: Thread,
    resource: Resource,
    parameters: Payload,
    settings: dict[str, Detail],
) -> None:
    """Record that work is wanted; `settings` are its limits and credentials, as far as given."""
    details: dict[str, Detail]
    if _FAMILIES[resource.kind] == "Task":
        details = {**_named(resource), "region": transition.view.scope.region}
        details["parameters"] = parameters
    else:
        details = {"resource": resource.text, "input": parameters}
    if resource.kind is Kind.LAMBDA_ARN:
        settings.pop("heartbeatInSeconds", None)  # Lambda's event has no place for it
    _record(transition, thread, resource, "Scheduled", {**details, **settings})


def record_started(
    transition: Transition,
    thread: Thread,
    resource: Resource,
    claimed_by: str | None,
    started_at: datetime,
) -> None:
    """Record that a handler began, and where; the moment lies between the last event and now."""
    at = moment(transition, started_at)
    details: dict[str, Detail] = {**_named(resource), **worker(claimed_by)}
    _record(transition, thread, resource, "Started", details, at)


def worker(claimed_by: str | None) -> dict[str, Detail]:
    """Return who runs something as a detail of an event."""
    return {} if claimed_by is None else {"workerName": claimed_by.removeprefix("activity:")}


def moment(transition: Transition, started_at: datetime) -> datetime:
    """Return the time of what lies between the last event and now."""
    return min(max(started_at, transition.view.execution.last_event_at), transition.now)


def record_submitted(
    transition: Transition, thread: Thread, resource: Resource, output: Payload
) -> None:
    """Record that a handler has handed the work on, to whoever ends the task."""
    _record(transition, thread, resource, "Submitted", {**_named(resource), "output": output})


def record_succeeded(
    transition: Transition, thread: Thread, resource: Resource, output: Payload
) -> None:
    """Record a handler's result."""
    _record(transition, thread, resource, "Succeeded", {**_named(resource), "output": output})


def record_failed(
    transition: Transition, thread: Thread, resource: Resource, failure: Failure
) -> None:
    """Record that an attempt has failed."""
    details = {**_named(resource), **failed_with(failure)}
    _record(transition, thread, resource, "Failed", details)


def record_timed_out(transition: Transition, thread: Thread, resource: Resource) -> None:
    """Record that an attempt took longer than it may, or missed a heartbeat."""
    _record(transition, thread, resource, "TimedOut", {**_named(resource), "error": TIMEOUT})


def _named(resource: Resource) -> dict[str, Detail]:
    if _FAMILIES[resource.kind] != "Task":
        return {}
    return {"resourceType": resource.resource_type, "resource": resource.resource_action}


def _record(
    transition: Transition,
    thread: Thread,
    resource: Resource,
    what: str,
    details: dict[str, Detail],
    at: datetime | None = None,
) -> None:
    event_type = f"{_FAMILIES[resource.kind]}{what}"
    thread.last_event = transition.record(event_type, thread.last_event, details, at)
