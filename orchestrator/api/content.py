"""Of what type a body may be: forms of other sites cannot send JSON types without asking first."""

from __future__ import annotations

from typing import Final

from fastapi import Request

from orchestrator.api.errors import ApiError

UNSUPPORTED: Final = 415
_WRITES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})


def check_content(request: Request, *, required: bool) -> None:
    """Raise ApiError unless a request that may change something says that it holds JSON.

    Not `required` where it names its action in a header: that, too, needs to be asked for first.
    """
    given = request.headers.get("content-type", "")
    if request.method not in _WRITES or not (given or required):
        return
    kind = given.partition(";")[0].strip().lower()
    if not is_json(kind):
        told = f"it is {kind[:80]!r}" if kind else "there is none"
        raise ApiError(
            "UnsupportedMediaTypeException",
            f"The Content-Type must be a JSON type such as application/json; {told}",
            UNSUPPORTED,
        )


def is_json(kind: str) -> bool:
    """Tell whether a media type is one of JSON: AWS's, the plain one, or one built on it."""
    family, _, name = kind.partition("/")
    return family == "application" and (
        name in ("json", "x-amz-json-1.0", "x-amz-json-1.1") or name.endswith("+json")
    )
