"""What each error of the service is to somebody who looks at a page."""

from __future__ import annotations

from typing import Final

from orchestrator.asl.names import InvalidName
from orchestrator.service import (
    CallDoesNotExist,
    CallIdTaken,
    CompensationNotBlocked,
    EffectNotRun,
    ExecutionAlreadyExists,
    ExecutionDoesNotExist,
    ExecutionNotStopped,
    InvalidCallInput,
    InvalidDefinition,
    InvalidExecutionInput,
    MachineDoesNotExist,
    MachineIsDeleting,
    MalformedCall,
    NothingToRetry,
    Undecided,
    UnknownCall,
    Unreachable,
)
from orchestrator.web.request import Refused

_KINDS: Final[tuple[tuple[type[Exception], int, str], ...]] = (
    (ExecutionDoesNotExist, 404, "No such execution"),
    (MachineDoesNotExist, 404, "No such machine"),
    (CallDoesNotExist, 404, "No such call"),
    (UnknownCall, 400, "Unknown call"),
    (MalformedCall, 400, "The call cannot be read"),
    (InvalidName, 400, "That name cannot be"),
    (InvalidExecutionInput, 400, "The input cannot be read"),
    (InvalidCallInput, 422, "The input is not as the machine wants it"),
    (InvalidDefinition, 422, "The definition has errors"),
    (CallIdTaken, 409, "The id belongs to another call"),
    (CompensationNotBlocked, 409, "It is not blocked"),
    (EffectNotRun, 409, "The effect was not run again"),
    (ExecutionAlreadyExists, 409, "The name is taken"),
    (MachineIsDeleting, 409, "The machine is being deleted"),
    (NothingToRetry, 409, "Nothing to retry"),
    (ExecutionNotStopped, 503, "It could not be stopped: try again"),
    (Undecided, 503, "It could not be decided: try again"),
    (Unreachable, 503, "The database is away"),
)


def refusal_of(error: Exception) -> Refused:
    """Return the page that an error is."""
    if isinstance(error, Refused):
        return error
    for kind, status, title in _KINDS:
        if isinstance(error, kind):
            return Refused(status, title, str(error))
    return Refused(500, "Something went wrong", "A fault of ours; it is logged.")
