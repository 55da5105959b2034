"""What each error of the floors below is to a caller; a fault of ours is logged."""

from __future__ import annotations

import structlog

from orchestrator.api.errors import UNAVAILABLE, ApiError, bad_token
from orchestrator.asl.names import InvalidName
from orchestrator.service import (
    ExecutionNotStopped,
    InvalidDefinition,
    InvalidOutput,
    TaskDoesNotExist,
    TaskTimedOut,
    Undecided,
    Unreachable,
)
from orchestrator.service.activities import InvalidTaskToken

log = structlog.get_logger(__name__)


def translated(error: Exception) -> ApiError:
    """Return the answer that an error is."""
    match error:
        case ApiError():
            return error
        case InvalidDefinition():
            return ApiError("InvalidDefinition", str(error))
        case InvalidName():
            return ApiError("InvalidName", str(error))
        case InvalidTaskToken():
            return bad_token()
        case InvalidOutput():
            return ApiError("InvalidOutput", str(error))
        case TaskDoesNotExist():
            return ApiError("TaskDoesNotExist", str(error))
        case TaskTimedOut():
            return ApiError("TaskTimedOut", str(error))
        case Undecided() | ExecutionNotStopped() | Unreachable():
            return ApiError(
                "ServiceUnavailable", f"{error}: ask again with the same names", UNAVAILABLE
            )
        case _:
            log.error("a request could not be answered", exc_info=error)
            return ApiError("InternalFailure", "The request could not be answered", 500)
