"""The console's routes: pages are looked up and drawn in threads, acts need a token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, RedirectResponse

from orchestrator.asl.limits import Limits
from orchestrator.service import STYLE, Orchestrator, Wanted
from orchestrator.web.execution_page import ExecutionPage
from orchestrator.web.executions_page import ExecutionsPage, read_wanted
from orchestrator.web.guard import TOKEN, Dressed, Guard, is_foreign
from orchestrator.web.history_page import HistoryPage
from orchestrator.web.live import Live
from orchestrator.web.machines_page import MachinesPage
from orchestrator.web.operations_page import OperationsPage
from orchestrator.web.refusal import refusal_of
from orchestrator.web.render import HERE, encoded, environment
from orchestrator.web.request import Answer, Ask, Refused, Sent, Shown, Visitor, read_form
from orchestrator.web.start_page import StartPage

log = structlog.get_logger(__name__)

THREADS: Final = 6
"""Pages that are looked up at once."""
FORM_FACTOR: Final = 4
"""What a form may take, by the largest document: characters are escaped in it."""
MACHINE_STYLE: Final = "machine.css"
FILES: Final = {
    "console.css": "text/css",
    "console.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}

LISTS_EVERY: Final = 3
"""A list costs more than an execution, and is looked at every so many looks."""
MOST_DIGITS: Final = 18

P = ParamSpec("P")
R = TypeVar("R")
Page: TypeAlias = Callable[[Ask], Answer]
Handler: TypeAlias = "Callable[[Request], Awaitable[Response]]"


class Console:
    """Shows pages, and carries out what their forms ask for."""

    def __init__(self, service: Orchestrator, limits: Limits) -> None:
        self._service = service
        self._limits = limits
        self._guard = Guard(service.console_key)
        self._templates = environment()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="orchestrator console")
        self._live = Live(self._look)
        self._looks = 0

    def join(self, app: FastAPI) -> None:
        """Add the console to an application."""
        executions, start = ExecutionsPage(self._service), StartPage(self._service)
        execution, history = ExecutionPage(self._service), HistoryPage(self._service)
        machines, operations = MachinesPage(self._service), OperationsPage(self._service)
        one = "/executions/{address}"
        for path, page in (
            ("/", executions.show),
            ("/start", start.show),
            ("/machines", machines.index),
            ("/machines/new", machines.new),
            ("/machines/{name}", machines.show),
            ("/machines/{name}/edit", machines.edit),
            ("/waits", operations.waits),
            ("/workers", operations.workers),
            ("/health", operations.health),
            (one, execution.show),
            (f"{one}/history", history.show),
            (f"{one}/iterations", history.iterations),
        ):
            app.add_route(path, self._shown(page), methods=["GET"])
        for path, act in (
            ("/start", start.start),
            ("/machines", machines.save),
            ("/check", machines.check),
            (f"{one}/call", execution.call),
            (f"{one}/stop", execution.stop),
            (f"{one}/retry", execution.retry),
            (f"{one}/effect", execution.effect),
            (f"{one}/undo", execution.undo),
        ):
            app.add_route(path, self._done(act), methods=["POST"])
        app.add_route("/live", self._watch, methods=["GET"])
        app.add_route("/static/{name}", self._file, methods=["GET"])
        app.add_middleware(Dressed)
        self._keep_open(app)

    def _keep_open(self, app: FastAPI) -> None:
        """End with the application, and answer those who ask for pages that are not there."""
        around = app.router.lifespan_context
        elsewhere: Any = app.exception_handlers.get(HTTPStatus.NOT_FOUND)

        @asynccontextmanager
        async def lifespan(one: Any) -> AsyncIterator[Any]:
            async with around(one) as state:
                try:
                    yield state
                finally:
                    self._live.close()
                    self._pool.shutdown(wait=False)

        async def nowhere(request: Request, error: Exception) -> Response:
            if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
                missing = Refused(404, "Nothing here", "There is no page at this address.")
                return await self._answer(request, lambda _ask: _raise(missing))
            answer: Response = await elsewhere(request, error)
            return answer

        closing: Callable[[], None] = app.state.close

        def close() -> None:
            closing()
            self._live.close()

        app.state.close = close
        app.router.lifespan_context = lifespan
        if elsewhere is not None:
            app.add_exception_handler(HTTPStatus.NOT_FOUND, nowhere)

    # -- requests --------------------------------------------------------------------------------

    def _shown(self, page: Page) -> Handler:
        async def handle(request: Request) -> Response:
            return await self._answer(request, page)

        return handle

    def _done(self, act: Page) -> Handler:
        async def handle(request: Request) -> Response:
            return await self._answer(request, act, changes=True)

        return handle

    async def _answer(self, request: Request, page: Page, *, changes: bool = False) -> Response:
        visitor: Visitor | None = None
        try:
            self._guard.admit(request)
            visitor = await self._run(self._guard.visitor, request)
            form: dict[str, str] = {}
            if changes:
                form = await read_form(request, FORM_FACTOR * self._limits.document_bytes)
                self._guard.check(request, visitor, form.get(TOKEN, ""))
            ask = Ask(
                path=_names(request),
                query=request.query_params,
                form=form,
                url=_here(request),
                token=visitor.token,
                who=visitor.who,
            )
            response = await self._run(self._drawn, page, ask)
        except Exception as error:  # noqa: BLE001  # each becomes a page
            response = await self._run(self._refusal, request, visitor, error)
        self._guard.greet(response, visitor)
        return response

    def _drawn(self, page: Page, ask: Ask) -> Response:
        match page(ask):
            case Sent(to, who):
                response: Response = RedirectResponse(to, HTTPStatus.SEE_OTHER)
                if who:
                    self._guard.remember(response, who)
                return response
            case Shown(template, values, status):
                return self._draw(ask, template, {**values, "ask": ask}, status)

    def _draw(self, ask: Ask, template: str, values: dict[str, object], status: int) -> Response:
        here = ask.url.partition("?")[0]
        text = self._templates.get_template(template).render({**values, "ask": ask, "here": here})
        return Response(encoded(text), status, media_type="text/html; charset=utf-8")

    def _refusal(self, request: Request, visitor: Visitor | None, error: Exception) -> Response:
        refused = refusal_of(error)
        if refused.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            log.error("a page could not be shown", exc_info=error)
        token, who = ("", "") if visitor is None else (visitor.token, visitor.who)
        ask = Ask(request.path_params, request.query_params, {}, _here(request), token, who)
        values: dict[str, object] = {"title": refused.title, "text": refused.text}
        return self._draw(ask, "refusal.html", values, refused.status)

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == MACHINE_STYLE:
            return Response(STYLE, media_type="text/css", headers={"Cache-Control": "no-cache"})
        if name not in FILES:
            return Response("There is no such file.\n", 404, media_type="text/plain")
        return FileResponse(
            HERE / "static" / name, media_type=FILES[name], headers={"Cache-Control": "no-cache"}
        )

    # -- news ------------------------------------------------------------------------------------

    async def _watch(self, request: Request) -> Response:
        """Tell a page whenever what it shows has changed: one execution, or a list of them."""
        if is_foreign(request):
            return Response("News are for the console's own pages.\n", 403, media_type="text/plain")
        given = request.query_params.get("execution", "")
        watched: Hashable
        if given.isdecimal() and len(given) <= MOST_DIGITS:
            watched = int(given)
        else:
            ask = Ask({}, request.query_params, {}, "", "", "")
            watched = read_wanted(ask, [])
        return self._live.stream(request, watched, request.query_params.get("seen", ""))

    async def _look(self, watched: list[Hashable]) -> dict[Hashable, str]:
        return await self._run(self._states, watched)

    def _states(self, watched: list[Hashable]) -> dict[Hashable, str]:
        ids = [one for one in watched if isinstance(one, int)]
        seen = self._service.views.versions(ids) if ids else {}
        found: dict[Hashable, str] = {}
        found.update((number, version) for number, version in seen.items())
        self._looks += 1
        for one in watched if self._looks % LISTS_EVERY == 0 else ():
            if isinstance(one, Wanted):
                rows = self._service.views.executions(one).rows
                found[one] = " ".join(f"{row.execution.id}.{row.execution.version}" for row in rows)
        return found

    async def _run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: work(*args, **kwargs))


def _here(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def _names(request: Request) -> dict[str, str]:
    """The names in a path; raises Refused for what nothing can be called."""
    names = dict(request.path_params)
    if not all(map(str.isprintable, names.values())):
        raise Refused(404, "Nothing here", "There is no page at this address.")
    return names


def _raise(error: Exception) -> Answer:
    raise error
