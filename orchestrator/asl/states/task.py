"""Task: one piece of work for a worker."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.diagnostics import Code
from orchestrator.asl.paths import Path, ReferencePath
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.resources import (
    Kind,
    Resource,
    ResourceError,
    is_well_formed,
    parse_resource,
)
from orchestrator.asl.retries import Catcher, Retrier
from orchestrator.asl.states.assign import Assign, read_assign
from orchestrator.asl.states.fields import ALL_OF_IT, WHOLE, Fields
from orchestrator.asl.states.flow import (
    ASSIGN,
    IN_AND_OUT,
    OUTPUT,
    PLAIN,
    RESULT,
    TAKING,
    TRANSITION,
    WORK,
    read_arguments,
    read_catch,
    read_next,
    read_output,
    read_retry,
)
from orchestrator.asl.states.quantity import Quantity
from orchestrator.asl.templates import Template


@dataclass(frozen=True, slots=True)
class Task:
    """A Task state; `next` None ends its frame, a path None is JSON null."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    resource: Resource
    next: str | None
    input_path: Path | None
    output_path: Path | None
    parameters: Template | QueryTemplate | None
    result_selector: Template | None
    result_path: ReferencePath | None
    retry: tuple[Retrier, ...]
    catch: tuple[Catcher, ...]
    timeout_seconds: Quantity | None
    timeout_seconds_path: Path | None
    heartbeat_seconds: Quantity | None
    heartbeat_seconds_path: Path | None
    credentials: Template | QueryTemplate | None
    output: QueryTemplate | None
    assign: Assign | None


_FIELDS = (
    PLAIN
    | TRANSITION
    | TAKING
    | ASSIGN
    | {"Resource", "TimeoutSeconds", "HeartbeatSeconds", "Credentials"}
)
_OF_PATHS = IN_AND_OUT | WORK | {"TimeoutSecondsPath", "HeartbeatSecondsPath"}


_NOTHING = Resource(Kind.SERVICE, "", "", "", "")
"""Stands for a Resource that was refused, in a state that nobody will see."""


def read_task(name: str, fields: Fields) -> Task:
    """Read a Task state."""
    fields.allow(_FIELDS | (OUTPUT | {"Arguments"} if fields.queries else _OF_PATHS))
    fields.only_one_of("TimeoutSeconds", "TimeoutSecondsPath")
    fields.only_one_of("HeartbeatSeconds", "HeartbeatSecondsPath")
    timeout, heartbeat = fields.whole("TimeoutSeconds", 1), fields.whole("HeartbeatSeconds", 1)
    if isinstance(timeout, int) and isinstance(heartbeat, int) and heartbeat >= timeout:
        fields.wrong("HeartbeatSeconds", "HeartbeatSeconds must be smaller than TimeoutSeconds")
    return Task(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language=fields.language,
        resource=read_resource(fields),
        next=read_next(fields),
        input_path=fields.path("InputPath", WHOLE),
        output_path=fields.path("OutputPath", WHOLE),
        parameters=read_arguments(fields),
        result_selector=None if fields.queries else fields.template("ResultSelector"),
        result_path=fields.reference_path("ResultPath", ALL_OF_IT),
        retry=read_retry(fields),
        catch=read_catch(fields),
        timeout_seconds=timeout,
        timeout_seconds_path=fields.definite_path("TimeoutSecondsPath"),
        heartbeat_seconds=heartbeat,
        heartbeat_seconds_path=fields.definite_path("HeartbeatSecondsPath"),
        credentials=_credentials(fields),
        output=read_output(fields),
        assign=read_assign(fields, also=RESULT),
    )


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


def _credentials(fields: Fields) -> Template | QueryTemplate | None:
    credentials = fields.object("Credentials")
    if credentials is None:
        return None
    if "RoleArn" not in credentials and "RoleArn.$" not in credentials:
        credentials.findings.schema(
            "The field 'RoleArn' is required but was missing", credentials.pointer
        )
        return None
    if fields.queries:
        credentials.allow(("RoleArn",))
        return fields.query_template("Credentials")
    credentials.allow(("RoleArn", "RoleArn.$"))
    return fields.template("Credentials")
