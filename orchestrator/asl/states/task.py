"""Task: one piece of work for a worker."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.paths import Path, ReferencePath
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.resources import Resource
from orchestrator.asl.retries import Catcher, Retrier
from orchestrator.asl.states.assign import Assign, read_assign
from orchestrator.asl.states.compensation import UNDOING, adopts, read_compensation
from orchestrator.asl.states.effect import Effect
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
from orchestrator.asl.states.resource import read_resource
from orchestrator.asl.templates import Template


@dataclass(frozen=True, slots=True)
class Task:
    """A Task state; `next` None ends its frame, a path None is JSON null.

    `compensate` undoes it, None: nothing does; with `compensate_unknown` also where nobody knows
    whether it has happened. Where it `adopts`, what the execution that it has started has to undo
    is its own to undo. After a `pivot` nothing is undone that was done before.
    """

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
    compensate: Effect | None
    compensate_unknown: bool
    adopts: bool
    pivot: bool


_FIELDS = (
    PLAIN
    | TRANSITION
    | TAKING
    | ASSIGN
    | UNDOING
    | {"Resource", "TimeoutSeconds", "HeartbeatSeconds", "Credentials"}
    | {"CompensateUnknown", "Pivot"}
)
_OF_PATHS = IN_AND_OUT | WORK | {"TimeoutSecondsPath", "HeartbeatSecondsPath"}


def read_task(name: str, fields: Fields) -> Task:
    """Read a Task state."""
    fields.allow(_FIELDS | (OUTPUT | {"Arguments"} if fields.queries else _OF_PATHS))
    fields.only_one_of("TimeoutSeconds", "TimeoutSecondsPath")
    fields.only_one_of("HeartbeatSeconds", "HeartbeatSecondsPath")
    timeout, heartbeat = fields.whole("TimeoutSeconds", 1), fields.whole("HeartbeatSeconds", 1)
    if isinstance(timeout, int) and isinstance(heartbeat, int) and heartbeat >= timeout:
        fields.wrong("HeartbeatSeconds", "HeartbeatSeconds must be smaller than TimeoutSeconds")
    resource = read_resource(fields)
    return Task(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language=fields.language,
        resource=resource,
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
        compensate=read_compensation(fields, adopting=resource.waits_for_execution),
        compensate_unknown=_compensate_unknown(fields),
        adopts=resource.waits_for_execution and adopts(fields),
        pivot=_pivot(fields),
    )


def _compensate_unknown(fields: Fields) -> bool:
    if "CompensateUnknown" in fields and not isinstance(fields.value.get("Compensate"), dict):
        fields.wrong("CompensateUnknown", "There is no Compensate that says how to undo the Task")
    return fields.flag("CompensateUnknown") is True


_TOP_LEVEL_DEPTH = 2
"""Slashes of the pointer `/States/NAME`."""


def _pivot(fields: Fields) -> bool:
    if "Pivot" in fields and fields.pointer.count("/") != _TOP_LEVEL_DEPTH:
        fields.wrong("Pivot", "Only a Task of the top level can be a pivot")
    return fields.flag("Pivot") is True


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
