"""What a Task state's Resource names: a Celery task, a Lambda function, an activity, a service."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class ResourceError(ValueError):
    """A Resource that has none of the known forms."""


class Kind(StrEnum):
    """The forms of a Resource."""

    CELERY = "celery"
    LAMBDA_ARN = "lambda_arn"
    LAMBDA_INVOKE = "lambda_invoke"
    ACTIVITY = "activity"
    SERVICE = "service"


class Pattern(StrEnum):
    """How a service integration ends its task."""

    REQUEST = ""
    SYNC = "sync"
    SYNC_2 = "sync:2"
    TASK_TOKEN = "waitForTaskToken"  # noqa: S105  # a word of the language


@dataclass(frozen=True, slots=True)
class Resource:
    """A parsed Resource.

    `text` is what the definition says, `name` what a handler is registered for: the Celery task's
    or the function's name, the activity's name, or the service's ARN without its pattern.
    `resource_type` and `resource_action` stand in history events: `lambda` and
    `invoke.waitForTaskToken`. `function_name` is None where it stands in the Parameters or where
    there is no function.
    """

    kind: Kind
    text: str
    name: str
    resource_type: str
    resource_action: str
    function_name: str | None = None
    qualifier: str | None = None
    pattern: Pattern = Pattern.REQUEST

    @property
    def waits_for_token(self) -> bool:
        """Tell whether the task ends when somebody sends its token."""
        return self.pattern is Pattern.TASK_TOKEN

    @property
    def starts_execution(self) -> bool:
        """Tell whether the task is to start another execution, which the engine does itself."""
        return self.name in START_EXECUTION

    @property
    def waits_for_execution(self) -> bool:
        """Tell whether the task ends with the execution that it has started."""
        return self.starts_execution and self.pattern in (Pattern.SYNC, Pattern.SYNC_2)


START_EXECUTION = frozenset(
    {"arn:aws:states:::states:startExecution", "arn:aws:states:::aws-sdk:sfn:startExecution"}
)
"""What starts an execution: the optimised integration, and the one of AWS's library."""


def parse_resource(text: str) -> Resource:
    """Read a Resource; raises ResourceError for what cannot be anybody's name.

    Anything that has none of the known forms is a service whose name is the whole text: it goes to
    the handler that is registered for just that, as definitions written for other engines need.
    """
    if not _NAME.fullmatch(text):
        raise ResourceError("Value is not a valid resource ARN")
    if text.startswith("celery:"):
        return _celery(text)
    arn = _ARN.fullmatch(text)
    if arn is None:
        return _other(text)
    service, place, rest = arn.groups()
    if service == "lambda" and rest.startswith("function:"):
        return _lambda(text, rest)
    if service == "states" and rest.startswith("activity:"):
        name = rest.removeprefix("activity:")
        return Resource(Kind.ACTIVITY, text, name, "activity", name)
    if service == "states" and place == ":":
        return _service(text, rest)
    return _other(text)


_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,2048}")
_ARN = re.compile(r"arn:[^:]+:([^:]+):([^:]*:[^:]*):(.+)")
_TASK = re.compile(r"\S{1,255}")


def is_well_formed(resource: Resource) -> bool:
    """Tell whether AWS would take it, or it is a Celery task."""
    return resource.resource_type != _OTHER


_OTHER = "other"


def _other(text: str) -> Resource:
    return Resource(Kind.SERVICE, text, text, _OTHER, text)


def _celery(text: str) -> Resource:
    name, pattern = text.removeprefix("celery:"), Pattern.REQUEST
    if name.endswith(f".{Pattern.TASK_TOKEN}"):
        name, pattern = name.removesuffix(f".{Pattern.TASK_TOKEN}"), Pattern.TASK_TOKEN
    if not _TASK.fullmatch(name):
        raise ResourceError("A Celery task's name has 1 to 255 characters and no blanks")
    done = text.removeprefix("celery:")
    return Resource(Kind.CELERY, text, name, "celery", done, pattern=pattern)


def _lambda(text: str, rest: str) -> Resource:
    name = rest.removeprefix("function:")
    function, _, qualifier = name.partition(":")
    if not function:
        raise ResourceError("Value is not a valid resource ARN")
    return Resource(
        Kind.LAMBDA_ARN, text, function, "lambda", "function", function, qualifier or None
    )


def _service(text: str, rest: str) -> Resource:
    name, pattern = rest, Pattern.REQUEST
    for known in (Pattern.SYNC_2, Pattern.SYNC, Pattern.TASK_TOKEN):
        if rest.endswith(f".{known}"):
            name, pattern = rest.removesuffix(f".{known}"), known
            break
    service, _, action = name.rpartition(":")
    if not service or not action:
        return _other(text)
    kind = Kind.LAMBDA_INVOKE if name == "lambda:invoke" else Kind.SERVICE
    done = rest.removeprefix(f"{service}:")
    return Resource(kind, text, f"arn:aws:states:::{name}", service, done, pattern=pattern)
