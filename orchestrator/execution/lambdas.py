"""What AWS's Lambda integration adds to a call of a function, on the way there and back."""

from __future__ import annotations

import re

from orchestrator.asl.document import DocumentError, Json, read, write
from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.execution.payload import Payload

UNKNOWN = "Lambda.Unknown"
SERVICE_EXCEPTION = "Lambda.ServiceException"

_FUNCTION = re.compile(
    r"(?:arn:[^:]+:lambda:[^:]*:[^:]*:|[0-9]+:)?(?:function:)?([^:]+)(?::[^:]+)?"
)
_OWN_ERRORS = ("Lambda.", "States.", "Task.")


def function_name(parameters: Json) -> str:
    """Return the name of the function that the parameters of lambda:invoke name."""
    named = parameters.get("FunctionName") if isinstance(parameters, dict) else None
    found = _FUNCTION.fullmatch(named) if isinstance(named, str) else None
    if found is None:
        raise StateFailure(RUNTIME, "The field 'FunctionName' is required but was missing.")
    return found[1]


def event_of(parameters: Json) -> Payload:
    """Return what the function is called with: a text is sent as it is, null as an empty object."""
    payload = parameters.get("Payload") if isinstance(parameters, dict) else None
    if payload is None:
        return Payload.of({})
    if isinstance(payload, str):
        try:
            return Payload.of(read(payload))
        except DocumentError:
            return Payload.of(payload)
    return Payload.of(payload)


def invoked(result: Payload, request_id: str) -> Payload:
    """Return a function's result as lambda:invoke hands it on."""
    return Payload.of(
        {
            "ExecutedVersion": "$LATEST",
            "Payload": result.value,
            "SdkHttpMetadata": {"AllHttpHeaders": {}, "HttpHeaders": {}, "HttpStatusCode": 200},
            "SdkResponseMetadata": {"RequestId": request_id},
            "StatusCode": 200,
        }
    )


def cause_of(error: str, cause: str | None, request_id: str) -> str | None:
    """Return the cause of a function's error as Lambda words it, unless it is worded so."""
    if error.startswith(_OWN_ERRORS) or (cause is not None and cause.startswith("{")):
        return cause
    return write({"errorMessage": cause or "", "errorType": error, "requestId": request_id})
