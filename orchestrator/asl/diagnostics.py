"""What is wrong with a definition: findings, each with its code and its place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Whether a finding refuses the definition or only speaks about it."""

    ERROR = "ERROR"
    WARNING = "WARNING"


class Code(StrEnum):
    """The codes of ValidateStateMachineDefinition, and ours: UNSUPPORTED to MAY_WAIT_FOREVER.

    The last three are warnings of AWS's own.
    """

    INVALID_JSON_DESCRIPTION = "INVALID_JSON_DESCRIPTION"
    MISSING_DESCRIPTION = "MISSING_DESCRIPTION"
    SCHEMA_VALIDATION_FAILED = "SCHEMA_VALIDATION_FAILED"
    INVALID_RESOURCE = "INVALID_RESOURCE"
    MISSING_END_STATE = "MISSING_END_STATE"
    DUPLICATE_STATE_NAME = "DUPLICATE_STATE_NAME"
    INVALID_STATE_NAME = "INVALID_STATE_NAME"
    DUPLICATE_LABEL_NAME = "DUPLICATE_LABEL_NAME"
    INVALID_LABEL_NAME = "INVALID_LABEL_NAME"
    MISSING_TRANSITION_TARGET = "MISSING_TRANSITION_TARGET"
    TOO_DEEPLY_NESTED = "TOO_DEEPLY_NESTED"
    UNSUPPORTED = "UNSUPPORTED"
    NO_NUMBER = "NO_NUMBER"
    UNKNOWN_CALL = "UNKNOWN_CALL"
    UNANSWERED_CALL = "UNANSWERED_CALL"
    MAY_WAIT_FOREVER = "MAY_WAIT_FOREVER"
    NO_DOLLAR = "NO_DOLLAR"
    NO_PATH = "NO_PATH"
    PASS_RESULT_IS_STATIC = "PASS_RESULT_IS_STATIC"  # noqa: S105  # no password, a state type


_INDEX = re.compile(r"(/(?:Branches|Choices|Catch|Retry|And|Or|ErrorEquals))/(\d+)(?=/|$)")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or worth knowing, at one place of the definition.

    `pointer` is the JSON pointer (RFC 6901) of that place, "" the whole document; None where the
    text is not a JSON object and so has no places.
    """

    severity: Severity
    code: Code
    message: str
    pointer: str | None

    @property
    def location(self) -> str | None:
        """The place as AWS writes it: `/States/X/Choices[0]/Next`, "/" for the whole.

        The place of faulty JSON is `[Source: ...]`, a missing end has none.
        """
        if self.code is Code.MISSING_END_STATE and not self.pointer:
            return None
        if self.pointer is None:
            return self.message.partition("\n at ")[2] or None
        indexed = _INDEX.sub(r"\1[\2]", self.pointer)
        return indexed.replace("~1", "/").replace("~0", "~") or "/"

    def __str__(self) -> str:
        """The finding as CreateStateMachine words it: `CODE: message at /path`."""
        if self.code is Code.INVALID_JSON_DESCRIPTION and self.pointer is None:
            return f"{self.code}: {self.message}"
        return f"{self.code}: {self.message} at {self.location or 'null'}"


class Findings:
    """The findings of one definition, in the order of their discovery."""

    def __init__(self) -> None:
        self._found: list[Finding] = []

    def error(self, code: Code, message: str, pointer: str | None) -> None:
        """Note what refuses the definition."""
        self._found.append(Finding(Severity.ERROR, code, _short(message), pointer))

    def warn(self, code: Code, message: str, pointer: str | None) -> None:
        """Note what its author should know."""
        self._found.append(Finding(Severity.WARNING, code, _short(message), pointer))

    def schema(self, message: str, pointer: str | None) -> None:
        """Note a breach of the language's grammar, the commonest finding."""
        self.error(Code.SCHEMA_VALIDATION_FAILED, message, pointer)

    def all(self) -> tuple[Finding, ...]:
        """Return what was noted, each once."""
        return tuple(dict.fromkeys(self._found))


MOST_MESSAGE_CHARACTERS = 2_000


def _short(message: str) -> str:
    """Cut a message that quotes a definition's text at length."""
    if len(message) <= MOST_MESSAGE_CHARACTERS:
        return message
    return f"{message[:MOST_MESSAGE_CHARACTERS]}..."


def refused(findings: Iterable[Finding]) -> bool:
    """Tell whether one of the findings is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)


def child(pointer: str, key: str | int) -> str:
    """Return the JSON pointer of a member or an item of what is at `pointer`."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
