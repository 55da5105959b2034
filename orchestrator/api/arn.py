"""ARNs as requests name things: what they lead to is found by its name.

One deployment is one region of one account: those of an ARN are accepted as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from orchestrator.api.errors import ApiError, bad_arn, invalid_value
from orchestrator.api.given import Given
from orchestrator.asl import names

MOST_CHARACTERS: Final = 256

_ARN: Final = re.compile(r"arn:[^:\s]+:states:[^:\s]*:[^:\s]*:([A-Za-z]+):(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MachineName:
    """What the ARN of a machine names; `test_case` stands behind a `#` in it."""

    arn: str
    name: str
    qualifier: str | None = None
    test_case: str | None = None


def machine_of(given: Given, *, with_test_case: bool = False) -> MachineName:
    """Read the ARN of a machine; raises InvalidArn."""
    text = given.text("stateMachineArn", MOST_CHARACTERS)
    arn, _, test_case = text.partition("#") if with_test_case else (text, "", "")
    kind, rest = _parts(arn)
    if kind != "stateMachine":
        raise _wrong_kind(kind)
    name, _, qualifier = rest.partition(":")
    if "/" in name:
        raise ApiError(
            "ValidationException",
            "The API does not support labeled state machine ARNs.",
            reason="API_DOES_NOT_SUPPORT_LABELED_ARNS",
        )
    _check(text, name)
    return MachineName(arn, name, qualifier or None, test_case or None)


def execution_of(given: Given, *, express: bool = False) -> tuple[str, str]:
    """Read the ARN of an execution and return it with its address MACHINE:NAME."""
    arn = given.text("executionArn", MOST_CHARACTERS)
    kind, rest = _parts(arn)
    if kind not in ("execution", "express") or (kind == "express" and not express):
        raise _wrong_kind(kind)
    machine, _, name = rest.partition(":")
    if not machine or not name:
        raise bad_arn(f"Invalid ARN: {arn}")
    return arn, f"{machine}:{name}"


def activity_of(given: Given) -> tuple[str, str]:
    """Read the ARN of an activity and return it with its name."""
    arn = given.text("activityArn", MOST_CHARACTERS)
    kind, name = _parts(arn)
    if kind != "activity":
        raise _wrong_kind(kind)
    _check(arn, name)
    return arn, name


def _parts(arn: str) -> tuple[str, str]:
    found = _ARN.fullmatch(arn)
    if found is None:
        raise bad_arn(f"Invalid ARN prefix: {arn}")
    return found[1], found[2]


def _wrong_kind(kind: str) -> ApiError:
    return bad_arn(f"Resource type not valid in this context: {kind}")


def _check(arn: str, name: str) -> None:
    try:
        names.check(name)
    except names.InvalidName:
        raise bad_arn(f"Invalid ARN: {arn}") from None


def checked_name(given: Given, field: str = "name") -> str | None:
    """Read a name, if it is there; raises InvalidName."""
    name = given.optional(field, MOST_CHARACTERS)
    if name is None:
        return None
    if len(name) > names.MOST_CHARACTERS:
        most = names.MOST_CHARACTERS
        raise invalid_value(name, field, f"have length less than or equal to {most}")
    try:
        return names.check(name)
    except names.InvalidName:
        raise ApiError("InvalidName", f"Invalid Name: '{name}'") from None


_UNWRITABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def plain_text(given: Given, field: str) -> str | None:
    """Read a text that is shown as it is, if it is there; refuses control characters."""
    text = given.optional(field, names.MOST_CHARACTERS)
    if text is not None and _UNWRITABLE.search(text):
        raise invalid_value(text, field, "have no control characters")
    return text
