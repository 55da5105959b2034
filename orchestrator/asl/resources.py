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


def parse_resource(text: str) -> Resource:
    """Read a Resource; raises ResourceError saying which forms there are."""
    if text.startswith("celery:"):
        return _celery(text)
    if text.startswith("arn:"):
        return _arn(text)
    raise ResourceError("Value is not a valid resource ARN")


def _celery(text: str) -> Resource:
    name = text.removeprefix("celery:")
    if not re.fullmatch(r"[^\s\x00-\x1f\x7f]{1,255}", name):
        raise ResourceError("Value is not a valid name of a Celery task")
    return Resource(Kind.CELERY, text, name, "celery", name)


_ARN = re.compile(r"arn:[^:]*:([^:]*):([^:]*):([^:]*):(.+)")


def _arn(text: str) -> Resource:
    parts = _ARN.fullmatch(text)
    if parts is None:
        raise ResourceError("Value is not a valid resource ARN")
    service, region, account, rest = parts.groups()
    if service == "lambda":
        return _lambda(text, rest)
    if service != "states":
        raise ResourceError("Value is not a valid resource ARN")
    if rest.startswith("activity:") and len(rest) > len("activity:"):
        name = rest.removeprefix("activity:")
        return Resource(Kind.ACTIVITY, text, name, "activity", name)
    if region or account:
        raise ResourceError("Value is not a valid resource ARN")
    return _service(text, rest)


def _lambda(text: str, rest: str) -> Resource:
    kind, _, name = rest.partition(":")
    function, _, qualifier = name.partition(":")
    if kind != "function" or not function:
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
        raise ResourceError("Value is not a valid resource ARN")
    kind = Kind.LAMBDA_INVOKE if name == "lambda:invoke" else Kind.SERVICE
    done = rest.removeprefix(f"{service}:")
    return Resource(kind, text, f"arn:aws:states:::{name}", service, done, pattern=pattern)
