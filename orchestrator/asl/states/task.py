"""Task: one piece of work for a worker."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.paths import Path, ReferencePath
from orchestrator.asl.resources import Kind, Resource, ResourceError, parse_resource
from orchestrator.asl.retries import Catcher, Retrier
from orchestrator.asl.states.fields import ALL_OF_IT, WHOLE, Fields
from orchestrator.asl.states.flow import (
    IN_AND_OUT,
    PLAIN,
    TRANSITION,
    WORK,
    read_catch,
    read_next,
    read_retry,
)
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
    parameters: Template | None
    result_selector: Template | None
    result_path: ReferencePath | None
    retry: tuple[Retrier, ...]
    catch: tuple[Catcher, ...]
    timeout_seconds: int | None
    timeout_seconds_path: Path | None
    heartbeat_seconds: int | None
    heartbeat_seconds_path: Path | None
    credentials: Template | None


_FIELDS = (
    PLAIN
    | IN_AND_OUT
    | TRANSITION
    | WORK
    | {
        "Resource",
        "TimeoutSeconds",
        "TimeoutSecondsPath",
        "HeartbeatSeconds",
        "HeartbeatSecondsPath",
        "Credentials",
    }
)


_NOTHING = Resource(Kind.SERVICE, "", "", "", "")
"""Stands for a Resource that was refused, in a state that nobody will see."""


def read_task(name: str, fields: Fields) -> Task:
    """Read a Task state."""
    fields.allow(_FIELDS)
    fields.only_one_of("TimeoutSeconds", "TimeoutSecondsPath")
    fields.only_one_of("HeartbeatSeconds", "HeartbeatSecondsPath")
    timeout, heartbeat = fields.integer("TimeoutSeconds", 1), fields.integer("HeartbeatSeconds", 1)
    if timeout is not None and heartbeat is not None and heartbeat >= timeout:
        fields.wrong("HeartbeatSeconds", "HeartbeatSeconds must be smaller than TimeoutSeconds")
    return Task(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language="JSONPath",
        resource=_resource(fields),
        next=read_next(fields),
        input_path=fields.path("InputPath", WHOLE),
        output_path=fields.path("OutputPath", WHOLE),
        parameters=fields.template("Parameters"),
        result_selector=fields.template("ResultSelector"),
        result_path=fields.reference_path("ResultPath", ALL_OF_IT),
        retry=read_retry(fields),
        catch=read_catch(fields),
        timeout_seconds=timeout,
        timeout_seconds_path=fields.definite_path("TimeoutSecondsPath"),
        heartbeat_seconds=heartbeat,
        heartbeat_seconds_path=fields.definite_path("HeartbeatSecondsPath"),
        credentials=_credentials(fields),
    )


def _resource(fields: Fields) -> Resource:
    fields.require("Resource")
    text = fields.text("Resource")
    if text is None:
        return _NOTHING
    try:
        return parse_resource(text)
    except ResourceError as error:
        fields.wrong("Resource", str(error))
        return _NOTHING


def _credentials(fields: Fields) -> Template | None:
    credentials = fields.object("Credentials")
    if credentials is None:
        return None
    if "RoleArn" not in credentials and "RoleArn.$" not in credentials:
        credentials.findings.schema(
            "The field 'RoleArn' is required but was missing", credentials.pointer
        )
    credentials.allow(("RoleArn", "RoleArn.$"))
    return fields.template("Credentials")
