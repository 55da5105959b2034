"""The context object, which paths that begin with `$$` read."""

from __future__ import annotations

from datetime import UTC, datetime

from orchestrator.asl.document import Json
from orchestrator.execution.call import Call
from orchestrator.execution.frame import Execution, Scope
from orchestrator.execution.payload import Payload
from orchestrator.execution.token import placeholder


def context_object(
    execution: Execution,
    scope: Scope,
    given: Payload | None,
    state: dict[str, Json],
    item: tuple[int, Payload] | None,
    token: str | None = None,
    call: Call | None = None,
) -> Json:
    """Return the context object of a state; `given` is the execution's input where it is needed."""
    about: dict[str, Json] = {"Id": scope.execution_arn(execution.machine, execution.name)}
    if given is not None:
        about["Input"] = given.value
    about |= {
        "StartTime": moment_text(execution.started_at),
        "Name": execution.given_name,
        "RoleArn": scope.role_arn,
    }
    if not execution.is_express:
        about["RedriveCount"] = 0
    context: dict[str, Json] = {
        "Execution": about,
        "StateMachine": {
            "Id": scope.machine_arn(execution.machine),
            "Name": execution.machine,
        },
        "State": state,
    }
    if token is not None:
        context["Task"] = {"Token": placeholder(token)}
    if call is not None:
        context["Call"] = {
            "Name": call.name,
            "Input": call.input.value,
            "Id": call.id,
            "Time": moment_text(call.arrived_at),
        }
    if item is not None:
        index, value = item
        context["Map"] = {
            "Item": {"Index": index, "Value": value.value, "Source": "STATE_DATA"},
        }
    return context


def moment_text(at: datetime) -> str:
    """Return a moment as ISO 8601 in UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
