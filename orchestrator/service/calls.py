"""Calls to executions: made, waited for, listed; and what an execution waits for."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

import structlog

from orchestrator.asl import document
from orchestrator.asl.answering import own
from orchestrator.asl.limits import Limits
from orchestrator.asl.machine import Machine
from orchestrator.asl.states import Await
from orchestrator.engine import Arrival, Engine, Handled, Outcome, topic_of_call
from orchestrator.execution.call import Call, Verdict, digest
from orchestrator.execution.decision import View
from orchestrator.execution.events import CallArrived, EffectRetried
from orchestrator.execution.frame import Execution, Frame, RestsOn
from orchestrator.execution.payload import Payload
from orchestrator.service.compensations import Blocked, blocked_in
from orchestrator.service.errors import (
    CallDoesNotExist,
    CallIdTaken,
    EffectNotRun,
    ExecutionDoesNotExist,
    InvalidCallInput,
    MalformedCall,
    Undecided,
    UnknownCall,
)
from orchestrator.store import Called, CallPlace, Store

log = structlog.get_logger(__name__)

LONGEST_WAIT_SECONDS: Final = 60.0
MOST_ID_CHARACTERS: Final = 200
OPERATOR: Final = "operator"
"""What a frame waits for whose undoing is blocked."""
LOOK_SECONDS: Final = 2.0
"""How often it is looked for a verdict whose news may have been lost."""
_FRAME_CHARACTERS: Final = frozenset("0123456789./")


Made: TypeAlias = "tuple[Execution, Call]"
"""An execution that was called, and what is on record of the call."""


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call that somebody wants to make."""

    machine: str
    execution: str
    name: str
    input: str
    """JSON text."""
    id: str | None = None
    """Chosen by the caller; None: one is made up."""
    at: str | None = None
    """The frame of a Map's iteration."""


@dataclass(frozen=True, slots=True)
class NextTimer:
    """The timer that fires next: its place in After, when, and where it leads (None: it stays)."""

    place: int
    at: datetime
    next: str | None


@dataclass(frozen=True, slots=True)
class Waits:
    """What a frame rests on; `calls` names those that it takes now, if their conditions hold."""

    frame: str
    state: str | None
    on: str | None
    since: datetime | None
    calls: tuple[str, ...]
    timer: NextTimer | None
    wake_at: datetime | None
    blocked: Blocked | None = None
    """What it undoes has failed for good: it waits for an operator."""


@dataclass(frozen=True, slots=True)
class _Arriving:
    """A call that is on record nowhere yet, and whom it calls."""

    view: View
    call: Call


class Calls:
    """What can be asked of executions by those who call them."""

    def __init__(self, store: Store, engine: Engine, limits: Limits) -> None:
        self._store = store
        self._engine = engine
        self._limits = limits

    def call(self, request: CallRequest) -> Made:
        """Call an execution, found by machine and name, and return what is on record of it then.

        With an id that was used before for the same call, that one is the answer.
        """
        (made,) = self.call_many([request])
        if isinstance(made, Exception):
            raise made
        return made

    def call_many(self, requests: Sequence[CallRequest]) -> list[Made | Exception]:
        """Make calls, decided and committed together; each gets its answer or its own error."""
        prepared = self._prepared(requests)
        arriving = {n: one for n, one in enumerate(prepared) if isinstance(one, _Arriving)}
        handled = self._engine.take(
            [
                Arrival(CallArrived(one.view.execution.id, one.call), view=one.view)
                for one in arriving.values()
            ]
        )
        decided = {
            n: _made(one, made) for (n, one), made in zip(arriving.items(), handled, strict=True)
        }
        return [decided[n] if isinstance(one, _Arriving) else one for n, one in enumerate(prepared)]

    def _prepared(self, requests: Sequence[CallRequest]) -> list[_Arriving | Made | Exception]:
        """Look up what is called, all at once, and read what it is called with."""
        numbers = [_checked_id(one.id) for one in requests]
        found = self._store.find_called(
            [
                (*_names(one), "" if isinstance(number, Exception) else number)
                for one, number in zip(requests, numbers, strict=True)
            ]
        )
        return [
            number if isinstance(number, Exception) else self._read(request, number, known)
            for request, number, known in zip(requests, numbers, found, strict=True)
        ]

    def _read(
        self, request: CallRequest, number: str, found: Called | None
    ) -> _Arriving | Made | Exception:
        if found is None:
            return ExecutionDoesNotExist(f"{request.machine}:{request.execution}")
        view, known = found
        try:
            machine = self._engine.machine(view.execution.revision)
            given = self._checked(machine, request.name, request.input, request.at)
        except Exception as error:  # noqa: BLE001  # it must not sink its neighbours
            return error
        wanted = digest(request.name, given, request.at)
        if known is not None:
            return _on_record(view.execution, known, wanted)
        arrived_at = self._store.now()
        return _Arriving(view, Call(number, request.name, given, wanted, arrived_at, request.at))

    def _checked(self, machine: Machine, name: str, given: str, at: str | None) -> Payload:
        kind = machine.calls.get(name)
        if kind is None:
            raise UnknownCall(name, tuple(machine.calls))
        if at is not None and (not at.startswith("/") or not _FRAME_CHARACTERS.issuperset(at)):
            raise MalformedCall(f"at={at[:80]!r} is the id of no frame")
        try:
            payload = Payload.of(document.read(given, limits=self._limits))
        except document.DocumentError as error:
            raise MalformedCall(f"the input is no JSON document: {error}") from None
        most = self._limits.call_input_bytes
        if len(payload.text) > most:
            raise InvalidCallInput(name, f"the input has more than {most} bytes", "")
        mismatch = None if kind.schema is None else kind.schema.mismatch(payload.value)
        if mismatch is not None:
            raise InvalidCallInput(name, mismatch.message, mismatch.pointer)
        return payload

    def verdict(self, execution: int, call_id: str) -> Call:
        """Return what is on record of a call; raises CallDoesNotExist."""
        found = self._store.call(execution, call_id) if call_id.isprintable() else None
        if found is None:
            raise CallDoesNotExist(call_id)
        return found

    def verdicts(self, keys: Sequence[tuple[int, str]]) -> list[Call | Exception]:
        """Return what is on record of calls, by the ids of execution and call, all at once."""
        found = self._store.calls_by_id(keys)
        return [found.get(key) or CallDoesNotExist(key[1]) for key in keys]

    def wait(self, execution: int, call: Call, seconds: float) -> Call:
        """Wait for the verdict of a call that is kept, for so long at most."""
        until = time.monotonic() + seconds
        if call.verdict is not Verdict.PENDING or seconds <= 0:
            return call
        heard, wanted = threading.Event(), topic_of_call(execution, call.id)

        def hear(topic: str | None) -> None:
            if topic is None or topic == wanted:
                heard.set()

        silence = self._store.listen(hear)
        try:
            while (left := until - time.monotonic()) > 0:
                call = self.verdict(execution, call.id)
                if call.verdict is not Verdict.PENDING:
                    return call
                heard.wait(min(left, LOOK_SECONDS))
                heard.clear()
            return self.verdict(execution, call.id)
        finally:
            silence()

    def page(self, execution: int, after: CallPlace, limit: int) -> list[Call]:
        """Return a page of the calls of an execution, in order of what they found."""
        return self._store.calls(execution, after, limit)

    def waits(self, execution: Execution, after: str | None, limit: int) -> list[Waits]:
        """Return what the frames of an execution rest on, by id."""
        if execution.ended_at is not None:
            return []
        machine = self._engine.machine(execution.revision)
        frames = self._store.frames_page(execution.id, after, limit)
        found = [_waits(machine, frame) for frame in frames]
        return [one for one in found if one.on is not None]

    def run_effect_again(self, execution: int, frame: str) -> None:
        """Run an effect again that has failed for good; raises EffectNotRun."""
        (handled,) = self._engine.handle_many([EffectRetried(execution, frame)])
        if handled.outcome is not Outcome.COMMITTED:
            raise EffectNotRun(frame, handled.reason)


def _names(request: CallRequest) -> tuple[str, str]:
    """Return whom to look for; nobody, where no database could take the names."""
    names = (request.machine, request.execution)
    return names if all(map(str.isprintable, names)) else ("", "")


def _checked_id(call_id: str | None) -> str | MalformedCall:
    if call_id is None:
        return str(uuid.uuid4())
    if not 1 <= len(call_id) <= MOST_ID_CHARACTERS or not call_id.isprintable():
        return MalformedCall(f"a call's id has 1 to {MOST_ID_CHARACTERS} printable characters")
    return call_id


def _made(one: _Arriving, handled: Handled) -> Made | Exception:
    execution = one.view.execution
    if handled.call is not None:
        return _on_record(execution, handled.call, one.call.digest)
    if handled.outcome is Outcome.STALE:
        return ExecutionDoesNotExist(f"{execution.machine}:{execution.name}")
    log.error(
        "a call could not be decided",
        execution=f"{execution.machine}:{execution.name}",
        call=one.call.name,
        reason=handled.reason,
    )
    return Undecided("the call could not be decided now")


def _on_record(execution: Execution, call: Call, wanted: str) -> Made | CallIdTaken:
    """Return the call on record, if it is the one that is wanted and not another by its id."""
    return (execution, call) if call.digest == wanted else CallIdTaken(call.id)


def _waits(machine: Machine, frame: Frame) -> Waits:
    state = machine.state(frame.state or "")
    calls: tuple[str, ...] = ()
    timer = None
    if frame.rests_on is RestsOn.CALL and isinstance(state, Await):
        calls = tuple(
            call
            for call in machine.calls
            if (found := own(machine, state, call)) is not None and found.may_accept
        )
        if frame.timers:
            first = frame.timers[0]
            timer = NextTimer(first.place, first.at, state.after[first.place].next)
    blocked = blocked_in(frame)
    rests_on = None if frame.rests_on is None else frame.rests_on.value
    return Waits(
        frame=frame.id,
        state=frame.state,
        on=rests_on if blocked is None else OPERATOR,
        since=frame.entered_at,
        calls=calls,
        timer=timer,
        wake_at=frame.wake_at,
        blocked=blocked,
    )
