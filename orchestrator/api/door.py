"""The wire: a request names its action in a header and holds JSON; so does the answer."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

import structlog
from fastapi import FastAPI, Request, Response

from orchestrator.api.answers import written
from orchestrator.api.aws import ACTIONS, LATER, Method, Patient, methods, patient_methods
from orchestrator.api.callers import Callers
from orchestrator.api.content import check_content
from orchestrator.api.desk import Answer, Desk
from orchestrator.api.errors import TOO_LARGE, UNAVAILABLE, ApiError, CallerGone
from orchestrator.api.given import Given
from orchestrator.api.hosts import LOOPBACK, Hosts
from orchestrator.api.paging import Pages
from orchestrator.api.presence import Presence
from orchestrator.api.rest import Rest
from orchestrator.api.translation import translated
from orchestrator.api.waiting import Waiting
from orchestrator.asl import document
from orchestrator.asl.document import DocumentError
from orchestrator.asl.limits import Limits
from orchestrator.execution.frame import Scope
from orchestrator.service import Orchestrator

log = structlog.get_logger(__name__)

TARGET: Final = "AWSStepFunctions."
MEDIA_TYPE: Final = "application/x-amz-json-1.0"
THREADS: Final = 10
"""Transactions at once of those who want an answer now."""
PATIENT_THREADS: Final = 4
"""Transactions at once of those who wait anyway: nobody else's stands in a queue behind them."""
LOOK_SECONDS: Final = 1.0
"""How often it is looked for what those who wait may not have heard of."""
ENVELOPE_BYTES: Final = 64 * 1024
"""What a request may hold beside its documents."""


class Door:
    """Reads requests, has them answered, and writes answers and errors in AWS's shapes."""

    def __init__(self, desk: Desk) -> None:
        limits = desk.limits
        self._service = desk.service
        self._methods = methods(desk)
        self._waiting_methods = patient_methods(desk)
        self._bounds = replace(
            limits,
            document_bytes=2 * max(limits.document_bytes, limits.definition_bytes) + ENVELOPE_BYTES,
        )
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="orchestrator door")
        self.callers = Callers(desk.service, limits)
        self._patient = ThreadPoolExecutor(PATIENT_THREADS, thread_name_prefix="orchestrator wait")
        self._waiting = Waiting()

    @asynccontextmanager
    async def open(self, _app: FastAPI) -> AsyncIterator[None]:
        """Hear of what those who wait are waiting for, as long as the door is open."""
        loop = asyncio.get_running_loop()

        def hear(topic: str | None) -> None:
            loop.call_soon_threadsafe(self._waiting.hear, topic)

        silence = await loop.run_in_executor(self._pool, self._service.listen, hear)
        look = asyncio.create_task(self._look())
        try:
            yield
        finally:
            look.cancel()
            await asyncio.gather(look, return_exceptions=True)
            await loop.run_in_executor(self._pool, silence)
            self._pool.shutdown(wait=False)
            self.callers.close()
            self._patient.shutdown(wait=False)

    def close(self) -> None:
        """Let everybody go who waits, so that the server can end; called in its event loop."""
        self._waiting.close()
        self.callers.leave(asyncio.get_running_loop())

    async def _look(self) -> None:
        """Wake those who wait for something that is there: its news may have been lost."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            topics = self._waiting.topics
            if not topics:
                continue
            look = self._service.activities.waiting
            try:
                for topic in await loop.run_in_executor(self._patient, look, topics):
                    self._waiting.wake(topic)
            except Exception:  # a loop: logged, and the next look goes on
                log.exception("the door could not look for those who wait")

    async def answer(self, request: Request) -> Response:
        """Answer one request."""
        request_id = _request_id()
        try:
            check_content(request, required=False)
            action = request.headers.get("x-amz-target", "")
            body = await self.body(request)
            shown = await self._act(action, body, request)
        except CallerGone:
            return Response(status_code=UNAVAILABLE)  # nobody reads it
        except Exception as error:  # noqa: BLE001  # each becomes an answer
            return _refusal(translated(error), request_id)
        return _response(shown, 200, request_id)

    def presence(self) -> Presence:
        """What those have at hand who answer requests of other shapes."""
        return Presence(self._waiting, self._pool)

    async def body(self, request: Request) -> bytes:
        """Read the body of a request; raises ApiError for one that is too large."""
        most, parts, size = self._bounds.document_bytes, [], 0
        if _announced(request) > most:
            raise _too_large(most)
        more = True
        while more:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                raise CallerGone
            part, more = message.get("body", b""), message.get("more_body", False)
            size += len(part)
            if size > most:
                raise _too_large(most)
            parts.append(part)
        return b"".join(parts)

    async def _act(self, action: str, body: bytes, request: Request) -> Answer:
        name = action.removeprefix(TARGET)
        if name in LATER and action != name:
            raise ApiError("NotImplemented", f"{name} comes with a later release")
        if name not in ACTIONS or action == name:
            raise ApiError("UnknownOperationException", f"There is no action {name[:80]!r}")
        loop = asyncio.get_running_loop()
        patient = self._waiting_methods.get(name)
        if patient is None:
            method = self._methods[name]
            return await loop.run_in_executor(self._pool, self._read_and_do, method, body)
        given = await loop.run_in_executor(self._patient, self._read, body)
        return await self._wait(patient, given, request)

    async def _wait(self, method: Patient, given: Given, request: Request) -> Answer:
        """Let a method wait, and note if its caller goes away meanwhile."""
        presence = Presence(self._waiting, self._pool)
        watch = asyncio.create_task(_watch(request, presence))
        try:
            return await method(given, presence)
        finally:
            watch.cancel()

    def _read_and_do(self, method: Method, body: bytes) -> Answer:
        return method(self._read(body))

    def _read(self, body: bytes) -> Given:
        try:
            fields = document.read(body or b"{}", limits=self._bounds)
        except DocumentError as error:
            raise ApiError("SerializationException", str(error)) from None
        if not isinstance(fields, dict):
            raise ApiError("SerializationException", "The request is no JSON object")
        return Given(fields)


async def _watch(request: Request, presence: Presence) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    presence.leave()


def _announced(request: Request) -> int:
    """How long a body says that it is, 0 if it does not; the server has checked the number."""
    return int(request.headers.get("content-length", 0))


def _too_large(most: int) -> ApiError:
    return ApiError(
        "RequestEntityTooLargeException", f"The request has more than {most} bytes", TOO_LARGE
    )


def _request_id() -> str:
    return str(uuid.uuid4())


def _refusal(error: ApiError, request_id: str) -> Response:
    shown: Answer = {"__type": error.name, "message": error.message}
    if error.reason is not None:
        shown["reason"] = error.reason
    return _response(shown, error.status, request_id)


def _response(shown: Answer, status: int, request_id: str) -> Response:
    headers = {"x-amzn-RequestId": request_id}
    if status == UNAVAILABLE:
        headers["Retry-After"] = "1"
    return Response(written(shown), status, headers, MEDIA_TYPE)


async def _elsewhere(_request: Request, error: Exception) -> Response:
    """Answer what is no POST to the root."""
    status = int(getattr(error, "status_code", 400))
    refusal = ApiError("UnknownOperationException", "Actions are asked for by POST to /", status)
    return _refusal(refusal, _request_id())


def application(
    service: Orchestrator,
    scope: Scope,
    limits: Limits,
    *,
    test_cases: bool = False,
    hosts: Collection[str] | None = LOOPBACK,
) -> FastAPI:
    """The door as an application of ASGI; `hosts` are the names that it answers to, None: any."""
    door = Door(Desk(service, scope, limits, Pages(service.paging_key), test_cases))
    app = FastAPI(
        title="AWS Step Functions, as far as it is offered here",
        lifespan=door.open,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        exception_handlers={404: _elsewhere, 405: _elsewhere},
    )
    Rest(service, limits, door.presence(), door.callers, door.body).join(app)
    if hosts is not None:
        app.add_middleware(Hosts, names=hosts)  # before all that was added so far
    app.add_route("/", door.answer, methods=["POST"])
    app.state.close = door.close
    return app
