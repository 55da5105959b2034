"""Problem documents (RFC 9457): what each error is to those who use the native door."""

from __future__ import annotations

from typing import Final

from fastapi import Response

from orchestrator.api.answers import written
from orchestrator.api.errors import TOO_LARGE, UNAVAILABLE, ApiError
from orchestrator.asl.diagnostics import Finding, Severity
from orchestrator.asl.document import DocumentError, Json
from orchestrator.asl.names import InvalidName
from orchestrator.service import (
    CallDoesNotExist,
    CallIdTaken,
    CompensationNotBlocked,
    ExecutionAlreadyExists,
    ExecutionDoesNotExist,
    ExecutionNotStopped,
    InvalidCallInput,
    InvalidDefinition,
    InvalidExecutionInput,
    MachineDoesNotExist,
    MachineIsDeleting,
    MalformedCall,
    ReasonMissing,
    Undecided,
    UnknownCall,
    Unreachable,
)

MEDIA_TYPE: Final = "application/problem+json"
_TITLES: Final = {
    "not-blocked": "The compensation is not blocked",
    "malformed": "The request cannot be read",
    "unknown-call": "The machine does not know this call",
    "invalid-input": "The input is not as the machine wants it",
    "call-id-taken": "The id belongs to another call",
    "no-such-execution": "There is no such execution",
    "no-such-machine": "There is no such machine",
    "no-such-path": "There is no such path",
    "method": "The method is another one here",
    "no-such-call": "There is no such call",
    "invalid-definition": "The definition has errors",
    "execution-exists": "The name is taken",
    "machine-deleting": "The machine is being deleted",
    "too-large": "The request is too large",
    "not-json": "The request is of no JSON type",
    "unavailable": "Ask again with the same id",
    "internal": "The request could not be answered",
}


class Problem(Exception):
    """An answer that is a problem; `pointer` leads to the place in the body that is wrong.

    `allowed` are the methods that would be answered.
    """

    def __init__(  # the members of a problem document
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        pointer: str | None = None,
        findings: tuple[Finding, ...] = (),
        allowed: tuple[str, ...] = (),
        unforeseen: bool = False,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.pointer = pointer
        self.findings = findings
        self.allowed = allowed
        self.unforeseen = unforeseen

    def response(self) -> Response:
        """Return the problem document."""
        shown: dict[str, Json] = {
            "type": f"urn:durable-orchestrator:{self.kind}",
            "title": _TITLES[self.kind],
            "status": self.status,
            "detail": self.detail,
        }
        if self.pointer is not None:
            shown["pointer"] = self.pointer
        if self.findings:
            shown["findings"] = [
                {"code": one.code.value, "message": one.message, "pointer": one.pointer}
                for one in self.findings
            ]
        headers = {"Retry-After": "1"} if self.status == UNAVAILABLE else {}
        if self.allowed:
            headers["Allow"] = ", ".join(self.allowed)
        return Response(written(shown), self.status, headers, MEDIA_TYPE)


def problem_of(error: Exception) -> Problem:
    """Return the answer that an error is."""
    match error:
        case Problem():
            return error
        case InvalidCallInput():
            return Problem(422, "invalid-input", error.why, pointer=error.pointer)
        case InvalidDefinition():
            return _of_definition(error)
        case ApiError():  # of the body: too large, or of no JSON type
            kind = "too-large" if error.status == TOO_LARGE else "not-json"
            return Problem(error.status, kind, error.message)
        case Undecided() | ExecutionNotStopped() | Unreachable():
            return Problem(UNAVAILABLE, "unavailable", str(error))
        case DocumentError() | InvalidExecutionInput():
            return Problem(400, "malformed", str(error), pointer="/input")
        case _:
            return _plain(error)


def _plain(error: Exception) -> Problem:
    for kind, status, name in _KINDS:
        if isinstance(error, kind):
            return Problem(status, name, str(error))
    return Problem(500, "internal", "a fault of ours; it is logged", unforeseen=True)


_KINDS: Final[tuple[tuple[type[Exception], int, str], ...]] = (
    (ExecutionDoesNotExist, 404, "no-such-execution"),
    (MachineDoesNotExist, 404, "no-such-machine"),
    (CallDoesNotExist, 404, "no-such-call"),
    (UnknownCall, 400, "unknown-call"),
    (MalformedCall, 400, "malformed"),
    (InvalidName, 400, "malformed"),
    (CallIdTaken, 422, "call-id-taken"),
    (CompensationNotBlocked, 409, "not-blocked"),
    (ReasonMissing, 400, "malformed"),
    (ExecutionAlreadyExists, 409, "execution-exists"),
    (MachineIsDeleting, 409, "machine-deleting"),
)


def _of_definition(error: InvalidDefinition) -> Problem:
    errors = tuple(one for one in error.findings if one.severity is Severity.ERROR)
    first = errors[0]
    if first.pointer is None:
        return Problem(400, "malformed", first.message)
    return Problem(422, "invalid-definition", first.message, pointer=first.pointer, findings=errors)
