"""Resource: whom the work of a state, an effect or a compensation is for."""

from __future__ import annotations

from orchestrator.asl.diagnostics import Code
from orchestrator.asl.resources import (
    Kind,
    Resource,
    ResourceError,
    is_well_formed,
    parse_resource,
)
from orchestrator.asl.states.fields import Fields

_NOTHING = Resource(Kind.SERVICE, "", "", "", "")
"""Stands for a Resource that was refused, in a state that nobody will see."""


def read_resource(fields: Fields) -> Resource:
    """Read Resource."""
    fields.require("Resource")
    text = fields.text("Resource")
    if text is None:
        return _NOTHING
    try:
        resource = parse_resource(text)
    except ResourceError as error:
        fields.findings.error(Code.INVALID_RESOURCE, str(error), fields.at("Resource"))
        return _NOTHING
    if not is_well_formed(resource):
        fields.findings.warn(
            Code.INVALID_RESOURCE,
            "Value is not a valid resource ARN: the handler of just this name is called",
            fields.at("Resource"),
        )
    _check_parameters(fields, resource)
    return resource


_NEEDED = {
    "arn:aws:states:::lambda:invoke": "FunctionName",
    "arn:aws:states:::states:startExecution": "StateMachineArn",
}
"""What these services cannot do without in their Parameters."""


def _check_parameters(fields: Fields, resource: Resource) -> None:
    field = "Arguments" if fields.queries else "Parameters"
    needed = _NEEDED.get(resource.name)
    parameters = fields.value.get(field)
    if needed is None or not isinstance(parameters, dict):
        return
    if needed not in parameters and f"{needed}.$" not in parameters:
        fields.wrong(field, f"The field '{needed}' is required but was missing")
