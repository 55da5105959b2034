"""Who serves a task, and with what: a handler, an activity's workers, or the engine itself."""

from __future__ import annotations

from orchestrator.asl.document import Json
from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.asl.resources import Kind, Pattern, Resource
from orchestrator.asl.states import Task
from orchestrator.execution import lambdas
from orchestrator.execution.payload import Payload
from orchestrator.execution.transition import Transition

START = "engine:start"
"""The resource of tasks that start an execution: schedulers serve it."""
MOCK = "arn:mock"
"""The resource of tasks that get the answers of a mock configuration."""
ACTIVITY = "activity:"
"""What the resource of an activity begins with; its name follows."""


def check(transition: Transition, state: Task) -> None:
    """Raise States.Runtime for an activity that is not there."""
    resource = state.resource
    if resource.kind is not Kind.ACTIVITY or state.name in transition.view.around.mocked:
        return
    if not transition.require_activity(resource.name):
        raise StateFailure(RUNTIME, f"The activity {resource.text} does not exist.")


def served_by(transition: Transition, state: Task, parameters: Payload) -> str:
    """Return the name under which a worker announces that it serves this task."""
    if state.name in transition.view.around.mocked:
        return MOCK
    return name_of(state.resource, parameters)


def name_of(resource: Resource, parameters: Payload) -> str:
    """Return the name under which a worker announces that it serves a resource."""
    match resource.kind:
        case Kind.CELERY:
            return f"celery:{resource.name}"
        case Kind.ACTIVITY:
            return f"{ACTIVITY}{resource.name}"
        case Kind.LAMBDA_ARN:
            return f"lambda:{resource.name}"
        case Kind.LAMBDA_INVOKE:
            return f"lambda:{lambdas.function_name(parameters.value)}"
        case Kind.SERVICE:
            return START if resource.starts_execution else resource.name


def arguments(resource: Resource, parameters: Payload) -> Payload:
    """Return what the one who serves it is called with."""
    if resource.kind is Kind.LAMBDA_INVOKE:
        return lambdas.event_of(parameters.value)
    if resource.starts_execution:
        waits = resource.pattern in (Pattern.SYNC, Pattern.SYNC_2)
        wish: Json = {"resource": resource.name, "waits": waits, "parameters": parameters.value}
        return Payload.of(wish)
    return parameters
