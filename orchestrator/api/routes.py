"""Routes that are found by the parts of a path as it was sent: a %2F in a name is no slash.

Whatever is asked, the answer is one of a route's or a problem document.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias
from urllib.parse import unquote_to_bytes

import structlog
from fastapi import Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from orchestrator.api.content import check_content
from orchestrator.api.errors import UNAVAILABLE, CallerGone
from orchestrator.api.problem import Problem, problem_of
from orchestrator.asl.document import Json

log = structlog.get_logger(__name__)

Answer: TypeAlias = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """What answers a method at a path; a part in braces stands for any, and names it."""

    method: str
    path: str
    answer: Answer

    def parameters(self, parts: list[str]) -> dict[str, str] | None:
        """Return what the named parts of a path of as many are; None if it is another path."""
        pairs = list(zip(_split(self.path), parts, strict=True))
        if any(name is None and one != part for (one, name), part in pairs):
            return None
        return {name: part for (_, name), part in pairs if name is not None}


@cache
def _split(path: str) -> tuple[tuple[str, str | None], ...]:
    """Return the parts of a route's path, each with its name if it stands for any."""
    return tuple((one, one[1:-1] if one.startswith("{") else None) for one in path.split("/"))


class Routes:
    """Some routes as an application of ASGI."""

    def __init__(self, *routes: Route) -> None:
        self._routes = routes
        self._by_length: dict[int, list[Route]] = {}
        for route in routes:
            self._by_length.setdefault(len(_split(route.path)), []).append(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of HTTP."""
        request = Request(scope, receive)
        response = await self.answer(request)
        await response(scope, receive, send)

    async def answer(self, request: Request) -> Response:
        """Answer one request; what goes wrong becomes a problem document."""
        try:
            route, found = self._find(request)
            request.scope["path_params"] = found
            check_content(request, required=True)
            return await route.answer(request)
        except CallerGone:
            return Response(status_code=UNAVAILABLE)  # nobody reads it
        except Exception as error:  # each becomes an answer
            problem = problem_of(error)
            if problem.unforeseen:
                log.exception("a request could not be answered")
            return problem.response()

    def told(self) -> Json:
        """Return what is answered, for those who look around."""
        return {"routes": [f"{route.method} {route.path}" for route in self._routes]}

    def _find(self, request: Request) -> tuple[Route, dict[str, str]]:
        parts = _parts(request)
        method = "GET" if request.method == "HEAD" else request.method
        found = [
            (route, parameters)
            for route in self._by_length.get(len(parts), ())
            if (parameters := route.parameters(parts)) is not None
        ]
        if not found:
            raise Problem(404, "no-such-path", "there is nothing at this path; GET /v1 lists all")
        for route, parameters in found:
            if route.method == method:
                return route, parameters
        allowed = tuple(route.method for route, _ in found)
        told = f"{method[:20]} is not answered here, {' and '.join(allowed)} {_is(allowed)}"
        raise Problem(405, "method", told, allowed=allowed)


class Under:
    """Answers what stands under a path, and passes on the rest.

    FastAPI's own way to a mounted application goes through layers that do nothing for it, and takes
    as long as reading the request.
    """

    def __init__(self, app: ASGIApp, path: str, routes: Routes) -> None:
        self._app = app
        self._path = path
        self._below = f"{path}/"
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        path = scope.get("path", "")
        ours = scope["type"] == "http" and (path == self._path or path.startswith(self._below))
        await (self._routes if ours else self._app)(scope, receive, send)


def _is(names: tuple[str, ...]) -> str:
    return "is" if len(names) == 1 else "are"


def _parts(request: Request) -> list[str]:
    """Return the parts of the path, each without its escapes."""
    sent: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    try:
        return [unquote_to_bytes(part).decode() for part in sent.split(b"/")]
    except UnicodeDecodeError:
        raise Problem(400, "malformed", "the path is not UTF-8") from None
