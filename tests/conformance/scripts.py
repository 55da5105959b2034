"""What the cases of the corpus say of the functions and services that they call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from orchestrator.asl.resources import Kind, ResourceError, parse_resource
from orchestrator.execution.lambdas import function_name
from orchestrator.handlers import TaskError

Outcome = dict[str, Any]

SUBMISSIONS: Final[Mapping[str, Any]] = {
    "arn:aws:states:::sqs:sendMessage": {
        "MD5OfMessageBody": "d41d8cd98f00b204e9800998ecf8427e",
        "MessageId": "00000000-0000-4000-8000-000000000000",
    },
}
"""What services answer that hand a message on, before somebody sends its task token."""

_MESSAGE = re.compile(r'"errorMessage":\s*"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Script:
    """What the tasks of one case come to: by state in order of the calls, else by function."""

    by_state: Mapping[str, list[Outcome]]
    by_function: Mapping[str, list[Outcome]]

    @classmethod
    def of(cls, case: Mapping[str, Any]) -> Script:
        mocks = {} if case.get("mocks_unavailable") else case.get("mocks") or {}
        return cls(mocks, case.get("workers") or {})

    def outcome(self, state: str, function: str, call: int) -> Outcome:
        outcomes = self.by_state.get(state) or self.by_function.get(function)
        if not outcomes:
            raise TaskError("Unscripted", f"{state} calls {function}, of which nothing is told")
        return outcomes[min(call, len(outcomes) - 1)]


def result_of(outcome: Outcome, event: Any) -> Any:
    """What a function returns; raises what it fails with."""
    if "error" in outcome:
        raise TaskError(outcome["error"] or "", cause_of(outcome))
    if "output_repeat" in outcome:
        return outcome["output_repeat"]["char"] * outcome["output_repeat"]["count"]
    if "python_format" in outcome:
        return outcome["python_format"].format(event=event)
    return event if outcome.get("echo") else outcome.get("output")


def cause_of(outcome: Outcome) -> str | None:
    """The cause; where only its form is told, one of that form."""
    cause: str | None = outcome.get("cause")
    if cause is None or not cause.endswith('"stackTrace":[...]}'):
        return cause
    message = _MESSAGE.search(cause)
    raised = f'raise {outcome["error"]}(\\"{message[1] if message else ""}\\")'
    trace = rf'"  File \"/var/task/handler.py\", line 2, in handler\n    {raised}\n"'
    return cause.replace("[...]", f"[{trace}]")


def names_of(case: Mapping[str, Any]) -> set[str]:
    """The names under which a case's tasks need handlers; what the engine serves needs none."""
    found = set(case.get("workers") or ())
    texts = [case.get("definition"), case.get("input"), case.get("runs")]
    for document in [*texts, *(one.get("create_state_machine") for one in case.get("setup") or ())]:
        for resource, name in _called(document):
            found |= _handler_of(resource) if resource else {name}
    return found


def _called(value: Any) -> Iterator[tuple[str, str]]:
    """Resources, and the names of functions, wherever they stand in a document."""
    if isinstance(value, list):
        for item in value:
            yield from _called(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str) and key == "Resource":
                yield item, ""
            elif isinstance(item, str) and key == "FunctionName" and item[:1] not in "${":
                yield "", function_name({"FunctionName": item})
            else:
                yield from _called(item)


def _handler_of(text: str) -> set[str]:
    try:
        resource = parse_resource(text)
    except ResourceError:
        return set()
    match resource.kind:
        case Kind.LAMBDA_ARN:
            return {resource.name}
        case Kind.SERVICE if not resource.starts_execution:
            return {resource.name}
        case _:
            return set()
