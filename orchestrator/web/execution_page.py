"""One execution: where it stands and why, what happened, and what can be done about it."""

from __future__ import annotations

import uuid
from typing import Final
from urllib.parse import quote

from orchestrator.asl import document
from orchestrator.asl.document import DocumentError, Json
from orchestrator.execution.call import Call
from orchestrator.execution.frame import Phase
from orchestrator.service import (
    CallIdTaken,
    Course,
    InvalidCallInput,
    Look,
    MalformedCall,
    Orchestrator,
    UnknownCall,
)
from orchestrator.web.calls import CallForm, call_forms, read_input
from orchestrator.web.refusal import refusal_of
from orchestrator.web.request import Answer, Ask, Refused, Sent, Shown
from orchestrator.web.standing import failure_of, picture, strips
from orchestrator.web.state_view import state_view
from orchestrator.web.timeline import timeline

WAIT_SECONDS: Final = 1.0
"""How long a call that is kept is waited for before the page is shown again."""
_IDS: Final = uuid.UUID("5b0c1f2e-6f4e-5a52-9a39-3b1f0a3a8d11")
_MISTAKES: Final = (InvalidCallInput, MalformedCall, UnknownCall, CallIdTaken)


class ExecutionPage:
    """Shows an execution, and acts on it."""

    def __init__(self, service: Orchestrator) -> None:
        self._service = service

    def show(self, ask: Ask) -> Answer:
        """Show everything at a glance."""
        return self._page(ask)

    def call(self, ask: Ask) -> Answer:
        """Make a call, and come back to see what became of it.

        Who makes it is noted, if that is said, once it is on record: accepted, kept or refused.
        """
        address, name = ask.path["address"], ask.field("call")
        who, reason = ask.field("who").strip(), ask.field("reason").strip()
        number = ask.field("id") or str(uuid.uuid4())
        try:
            text = read_input(self._form_of(address, name), ask.form)
            self._service.call_execution(
                address, name, text, number, WAIT_SECONDS, ask.field("at") or None
            )
        except _MISTAKES as mistake:
            return self._page(ask, mistake, name)
        if who or reason:
            self._service.operations.note(address, who or "console", f"call {name}", reason)
        return Sent(f"{_page(address)}?said={quote(number, safe='')}#calls", who or None)

    def stop(self, ask: Ask) -> Answer:
        """End an execution; who wants that and why is noted, if that changed anything."""
        address = ask.path["address"]
        who, reason = named(ask)
        abandons = bool(ask.field("abort"))
        what = "stop without undoing" if abandons else "stop"
        before = self._service.find_execution(address)
        self._service.stop_execution(address, cause=f"{who}: {reason}", abort=abandons)
        if before.phase is Phase.OPEN or (abandons and before.phase is Phase.UNDOING):
            self._service.operations.note(address, who, what, reason)
        return Sent(_page(address), who)

    def retry(self, ask: Ask) -> Answer:
        """Decide again what could not be decided; who wants that and why is noted."""
        address = ask.path["address"]
        who, reason = named(ask)
        self._service.operations.retry_execution(address, who, reason)
        return Sent(_page(address), who)

    def effect(self, ask: Ask) -> Answer:
        """Run an effect again that failed for good; who wants that and why is noted."""
        address, effect = ask.path["address"], ask.field("effect")
        who, reason = named(ask)
        self._service.run_effect_again(address, effect)
        self._service.operations.note(address, who, f"run the effect {effect} again", reason)
        return Sent(f"{_page(address)}#effects", who)

    def undo(self, ask: Ask) -> Answer:
        """Retry or skip a compensation that is blocked; who wants that and why is noted."""
        address, chosen = ask.path["address"], ask.field("compensation") or None
        who, reason = named(ask)
        if ask.field("act") == "skip":
            self._service.compensations.skip(address, who, reason, chosen)
        else:
            self._service.compensations.retry(address, who, reason, chosen)
        return Sent(f"{_page(address)}#undoing", who)

    # -- within ----------------------------------------------------------------------------------

    def _page(self, ask: Ask, mistake: Exception | None = None, call: str = "") -> Answer:
        look = self._service.views.execution(ask.path["address"])
        course = Course().read(look.events)
        course.claimed(look.frames)
        here = _page(look.address)
        state = ask.given("state")
        said = next((one for one in look.calls if one.id == ask.given("said")), None)
        values: dict[str, object] = {
            "look": look,
            "run": look.execution,
            "now": look.now,
            "course": course,
            "failure": failure_of(look, course),
            "undone": {one.event: one.undone[-1] for one in course.visits if one.undone},
            "picture": picture(look, here),
            "strips": strips(look, course),
            "timeline": timeline(look, course),
            "state": state_view(look, course, state, ask.given("visit")) if state else None,
            "page": here,
            "forms": call_forms(look),
            "said": None if said is None else answer_of(said),
            "answers": [answer_of(one) for one in look.calls],
            "mistake": None if mistake is None else str(mistake),
            "mistaken": call,
            "ids": {form.name: _call_id(look, form.name) for form in call_forms(look)},
        }
        return Shown("execution.html", values, 200 if mistake is None else _status(mistake))

    def _form_of(self, address: str, name: str) -> CallForm:
        for form in call_forms(self._service.views.execution(address)):
            if form.name == name:
                return form
        raise UnknownCall(name, ())


def _status(mistake: Exception) -> int:
    return refusal_of(mistake).status


def _page(address: str) -> str:
    return f"/executions/{quote(address, safe='')}"


def named(ask: Ask) -> tuple[str, str]:
    """Who acts, and why; raises Refused without both."""
    who, reason = ask.field("who").strip(), ask.field("reason").strip()
    if not who or not reason:
        raise Refused(
            422, "Who, and why?", "What overrides something needs your name and a reason; go back."
        )
    return who, reason


def _call_id(look: Look, name: str) -> str:
    """The id of a call from this page: sent twice it is one call, after another it is a new one."""
    last = look.calls[0].id if look.calls else ""
    return str(uuid.uuid5(_IDS, f"{look.execution.id} {look.execution.version} {last} {name}"))


class CallAnswer:
    """A call with what its caller was told."""

    __slots__ = ("call", "origin", "reason", "state", "to")

    def __init__(self, call: Call) -> None:
        said = _said(call)
        self.call = call
        self.origin = said.get("from")
        self.to = said.get("to")
        self.state = said.get("state")
        self.reason = said.get("reason")


def answer_of(call: Call) -> CallAnswer:
    """Return a call with what its caller was told."""
    return CallAnswer(call)


def _said(call: Call) -> dict[str, Json]:
    try:
        value = document.read(call.said)
    except DocumentError:
        return {}
    return value if isinstance(value, dict) else {}
