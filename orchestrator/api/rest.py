"""The native door: machines, executions, and calls to executions, as plain HTTP.

Errors are problem documents (RFC 9457). A verdict is no error: it is answered as it is stored, byte
for byte, 200 if the call was accepted, 409 if it was refused, 202 while it is kept.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Final, TypeAlias

from fastapi import FastAPI, Request, Response

from orchestrator.api.answers import written
from orchestrator.api.callers import Callers
from orchestrator.api.presence import Presence
from orchestrator.api.problem import Problem
from orchestrator.api.routes import Route, Routes, Under
from orchestrator.asl import document
from orchestrator.asl.diagnostics import Finding
from orchestrator.asl.document import DocumentError, Json
from orchestrator.asl.limits import Limits
from orchestrator.execution.call import Call, Verdict
from orchestrator.execution.history import to_native
from orchestrator.execution.payload import Payload
from orchestrator.service import (
    LONGEST_WAIT_SECONDS,
    ExecutionDetail,
    Orchestrator,
    Undoable,
    Waits,
    topic_of_call,
)

JSON: Final = "application/json"
STATUS: Final[Mapping[Verdict, int]] = {
    Verdict.ACCEPTED: 200,
    Verdict.REFUSED: 409,
    Verdict.PENDING: 202,
}
LOOK_SECONDS: Final = 2.0
"""How often it is looked for a verdict whose news may have been lost."""
PAGE: Final = 1_000
UNNAMED: Final = "api"
"""Whom the trail names where a request names nobody."""
UNAVAILABLE: Final = 503

Body: TypeAlias = Callable[[Request], Awaitable[bytes]]
"""Reads the body of a request, up to a limit."""


class Rest:
    """The routes under /v1; transactions take a thread, waiting takes none."""

    def __init__(
        self,
        service: Orchestrator,
        limits: Limits,
        presence: Presence,
        callers: Callers,
        body: Body,
    ) -> None:
        self._service = service
        self._limits = limits
        self._presence = presence
        self._callers = callers
        self._body = body
        execution = "/v1/executions/{id}"
        self._routes = Routes(
            Route("GET", "/v1", self._around),
            Route("PUT", "/v1/machines/{name}", self._put_machine),
            Route("POST", "/v1/machines/{name}/executions", self._start),
            Route("GET", execution, self._execution),
            Route("GET", f"{execution}/history", self._history),
            Route("GET", f"{execution}/waits", self._waits),
            Route("GET", f"{execution}/compensations", self._compensations),
            Route("POST", f"{execution}/stop", self._stop),
            Route("POST", f"{execution}/retry", self._retry),
            Route("POST", f"{execution}/skip", self._skip),
            Route("GET", f"{execution}/calls", self._calls),
            Route("POST", f"{execution}/calls/{{name}}", self._call),
            Route("GET", f"{execution}/calls/{{callId}}", self._verdict),
        )

    def join(self, app: FastAPI) -> None:
        """Add the routes to an application."""
        app.add_middleware(Under, path="/v1", routes=self._routes)

    async def _around(self, _request: Request) -> Response:
        return _json(self._routes.told())

    # -- machines --------------------------------------------------------------------------------

    async def _put_machine(self, request: Request) -> Response:
        text = await self._text(request)
        name = request.path_params["name"]
        findings = await self._presence.run(self._service.validate_state_machine_definition, text)
        deployed = await self._presence.run(self._service.deploy, name, text)
        shown: Json = {
            "machine": deployed.machine,
            "revision": deployed.number,
            "created": deployed.created,
            "findings": [finding_json(finding) for finding in findings],
        }
        return _json(shown, 201 if deployed.created else 200)

    # -- executions ------------------------------------------------------------------------------

    async def _start(self, request: Request) -> Response:
        given = await self._object(request)
        name = given.get("name")
        if name is not None and not isinstance(name, str):
            raise Problem(400, "malformed", "name must be a string", pointer="/name")
        text = document.write(given.get("input", {}), limits=self._limits)
        started = await self._presence.run(
            self._service.start_execution, request.path_params["name"], name, text
        )
        shown: Json = {"id": started.address, "created": started.created}
        return _json(shown, 201 if started.created else 200)

    async def _execution(self, request: Request) -> Response:
        found = await self._presence.run(self._service.describe_execution, _address(request))
        return _json(execution_json(found))

    async def _history(self, request: Request) -> Response:
        after, limit = _number(request, "after", 0), _number(request, "limit", PAGE, PAGE)
        events = await self._presence.run(
            self._service.get_execution_history, _address(request), after, limit
        )
        shown: Json = {
            "events": [to_native(event) | {"timestamp": moment(event.at)} for event in events]
        }
        return _json(shown)

    async def _waits(self, request: Request) -> Response:
        after, limit = _frame(request, "after"), _number(request, "limit", PAGE, PAGE)
        found = await self._presence.run(
            self._service.execution_waits, _address(request), after, limit
        )
        return _json({"waits": [waits_json(one) for one in found]})

    # -- undoing ---------------------------------------------------------------------------------

    async def _compensations(self, request: Request) -> Response:
        found = await self._presence.run(self._service.compensations.of, _address(request))
        return _json({"compensations": [compensation_json(one) for one in found]})

    async def _stop(self, request: Request) -> Response:
        given = await self._object(request)
        abort = given.get("abort", False)
        if not isinstance(abort, bool):
            raise Problem(400, "malformed", "abort must be true or false", pointer="/abort")

        def stop() -> Response:
            address = _address(request)
            error, cause = _optional(given, "error"), _optional(given, "cause")
            self._service.stop_execution(address, error, cause, abort=abort)
            return _json(execution_json(self._service.describe_execution(address)))

        return await self._presence.run(stop)

    async def _retry(self, request: Request) -> Response:
        return await self._acted(request, self._service.compensations.retry)

    async def _skip(self, request: Request) -> Response:
        return await self._acted(request, self._service.compensations.skip)

    async def _acted(
        self, request: Request, act: Callable[[str, str, str, str | None], list[str]]
    ) -> Response:
        """Do what an operator wants about blocked compensations."""
        given = await self._object(request)
        who, reason = _optional(given, "who") or UNNAMED, _optional(given, "reason") or ""
        compensation = _optional(given, "compensation")
        done = await self._presence.run(act, _address(request), who, reason, compensation)
        return _json({"compensations": list(done)})

    # -- calls -----------------------------------------------------------------------------------

    async def _call(self, request: Request) -> Response:
        address, name = _address(request), request.path_params["name"]
        seconds = _seconds(request)
        text = (await self._text(request)) or "{}"
        number, at = _key(request), request.query_params.get("at")
        wanted = self._service.call_request(address, name, text, number, at)
        execution, call = await self._callers.make.do(wanted)
        if call.verdict is Verdict.PENDING and seconds > 0:
            call = await self._wait(execution.id, call, seconds)
        return _verdict(call)

    async def _wait(self, execution: int, call: Call, seconds: float) -> Call:
        """Wait for a verdict without holding a thread."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        topic = topic_of_call(execution, call.id)
        with self._presence.waiting.place(topic) as place:
            while True:
                place.looks()
                call = await self._callers.look.do((execution, call.id))
                left = until - loop.time()
                over = left <= 0 or not self._presence.is_here()
                if call.verdict is not Verdict.PENDING or over:
                    break
                await place.wait(min(until, loop.time() + LOOK_SECONDS))
        self._presence.waiting.wake(topic)  # the next one who waits for the same
        return call

    async def _calls(self, request: Request) -> Response:
        limit = _number(request, "limit", PAGE, PAGE)
        after = (_number(request, "after", -1), _after_id(request))
        found = await self._presence.run(
            self._service.execution_calls, _address(request), after, limit
        )
        return _json({"calls": [call_json(call) for call in found]})

    async def _verdict(self, request: Request) -> Response:
        call_id = request.path_params["callId"]
        call = await self._presence.run(self._service.execution_call, _address(request), call_id)
        return _json(call_json(call))

    # -- requests --------------------------------------------------------------------------------

    async def _text(self, request: Request) -> str:
        try:
            return (await self._body(request)).decode()
        except UnicodeDecodeError:
            raise Problem(400, "malformed", "the body is not UTF-8") from None

    async def _object(self, request: Request) -> dict[str, Json]:
        try:
            value = document.read(await self._body(request) or b"{}", limits=self._limits)
        except DocumentError as error:
            raise Problem(400, "malformed", f"the body is no JSON document: {error}") from None
        if not isinstance(value, dict):
            raise Problem(400, "malformed", "the body is no JSON object", pointer="")
        return value


def _address(request: Request) -> str:
    return str(request.path_params["id"])


def _optional(given: Mapping[str, Json], name: str) -> str | None:
    value = given.get(name)
    if value is None or isinstance(value, str):
        return value
    raise Problem(400, "malformed", f"{name} must be a string", pointer=f"/{name}")


def _key(request: Request) -> str | None:
    given = set(request.headers.getlist("idempotency-key"))
    if len(given) > 1:
        raise Problem(400, "malformed", "a call has one Idempotency-Key, not several")
    return next(iter(given), None)


def _after_id(request: Request) -> str:
    given = request.query_params.get("afterId", "")
    if given and not given.isprintable():
        raise Problem(400, "malformed", "afterId is the id of no call")
    return given


_PLAIN_SECONDS: Final = re.compile(r"[0-9]{1,4}(\.[0-9]{1,9})?")

_PLAIN_NUMBER: Final = re.compile(r"[0-9]{1,18}")
"""No longer than any id."""


def _seconds(request: Request) -> float:
    given = request.query_params.get("wait", "0")
    seconds = float(given) if _PLAIN_SECONDS.fullmatch(given) else math.nan
    if not 0 <= seconds <= LONGEST_WAIT_SECONDS:
        most = int(LONGEST_WAIT_SECONDS)
        raise Problem(400, "malformed", f"wait={given[:40]!r} is no number from 0 to {most}")
    return seconds


def _number(request: Request, name: str, default: int, most: int | None = None) -> int:
    given = request.query_params.get(name)
    if given is None:
        return default
    number = int(given) if _PLAIN_NUMBER.fullmatch(given) else None
    if most is None and number is None:
        raise Problem(400, "malformed", f"{name}={given[:40]!r} is no number")
    if number is None or (most is not None and not 1 <= number <= most):
        raise Problem(400, "malformed", f"{name}={given[:40]!r} is no number from 1 to {most}")
    return number


_FRAME: Final = re.compile(r"[0-9./!~]{0,400}")


def _frame(request: Request, name: str) -> str | None:
    """The id of a frame, if it is given; the empty one is the root's."""
    given = request.query_params.get(name)
    if given is not None and not _FRAME.fullmatch(given):
        raise Problem(400, "malformed", f"{name}={given[:40]!r} is the id of no frame")
    return given


# -- answers -------------------------------------------------------------------------------------


def _json(value: Json, status: int = 200) -> Response:
    return Response(written(value), status, media_type=JSON)


def _verdict(call: Call) -> Response:
    return Response(call.said, STATUS[call.verdict], media_type=JSON)


def moment(at: datetime | None) -> str | None:
    """Return a moment in RFC 3339, UTC, microseconds."""
    if at is None:
        return None
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def finding_json(finding: Finding) -> Json:
    """Return a finding of a definition."""
    return {
        "severity": finding.severity.value,
        "code": finding.code.value,
        "message": finding.message,
        "pointer": finding.pointer,
    }


def execution_json(found: ExecutionDetail) -> Json:
    """Return an execution, with the state in which its root frame rests or has ended."""
    run = found.execution
    root = next((frame for frame in found.frames if frame.id == ""), None)
    return {
        "id": found.address,
        "machine": run.machine,
        "name": run.name,
        "status": run.status.value,
        "phase": run.phase.value,
        "compensation": found.undoing.value,
        "skippedCompensations": found.skipped,
        "outcome": None if run.outcome is None else run.outcome.value,
        "state": run.final_state if root is None else root.state,
        "startedAt": moment(run.started_at),
        "endedAt": moment(run.ended_at),
        "input": found.input.value,
        "output": None if found.output is None else found.output.value,
        "error": run.error,
        "cause": run.cause,
        "keptCalls": run.kept,
    }


def compensation_json(one: Undoable) -> Json:
    """Return a compensation."""
    what = one.compensation
    return {
        "id": one.id,
        "state": what.state,
        "resource": what.resource,
        "status": what.status.value,
        "arguments": what.arguments.value,
        "key": what.key,
        "undoes": what.undoes,
        "error": one.error,
        "cause": one.cause,
    }


def waits_json(one: Waits) -> Json:
    """Return what a frame waits for."""
    timer: Json = None
    if one.timer is not None:
        timer = {
            "place": one.timer.place,
            "at": moment(one.timer.at),
            "next": one.timer.next,
        }
    return {
        "frame": one.frame,
        "state": one.state,
        "on": one.on,
        "since": moment(one.since),
        "calls": list(one.calls),
        "timer": timer,
        "until": moment(one.wake_at),
        "why": None if one.blocked is None else one.blocked.text,
    }


def call_json(call: Call) -> Json:
    """Return a call with what its caller was, or will be, told."""
    answer = Payload.parse(call.said).value
    return {
        "callId": call.id,
        "call": call.name,
        "at": call.at,
        "arrivedAt": moment(call.arrived_at),
        "decidedAt": moment(call.decided_at),
        "verdict": call.verdict.value,
        "input": call.input.value,
        "answer": answer,
    }
