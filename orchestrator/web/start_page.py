"""The form that starts an execution."""

from __future__ import annotations

from urllib.parse import quote

from orchestrator.asl.names import InvalidName
from orchestrator.service import (
    ExecutionAlreadyExists,
    InvalidExecutionInput,
    MachineDoesNotExist,
    MachineIsDeleting,
    Orchestrator,
)
from orchestrator.web.refusal import refusal_of
from orchestrator.web.request import Answer, Ask, Sent, Shown

_MISTAKES = (
    InvalidName,
    InvalidExecutionInput,
    ExecutionAlreadyExists,
    MachineDoesNotExist,
    MachineIsDeleting,
)


class StartPage:
    """Starts executions, with the inputs of the last ones at hand."""

    def __init__(self, service: Orchestrator) -> None:
        self._service = service

    def show(self, ask: Ask) -> Answer:
        """Show the form."""
        return self._form(ask.given("machine"))

    def start(self, ask: Ask) -> Answer:
        """Start an execution and go to it; what is wrong is said beside the form."""
        machine, name = ask.field("machine").strip(), ask.field("name").strip()
        text = ask.document("input")
        try:
            started = self._service.start_execution(machine, name or None, text.strip() or "{}")
        except _MISTAKES as mistake:
            return self._form(machine, name, text, mistake)
        return Sent(f"/executions/{quote(started.address, safe='')}")

    def _form(
        self, machine: str, name: str = "", text: str = "", mistake: Exception | None = None
    ) -> Answer:
        machines = self._service.views.machine_names()
        recent = self._service.views.recent_inputs(machine) if machine in machines else []
        values: dict[str, object] = {
            "machines": machines,
            "machine": machine,
            "name": name,
            "input": text,
            "recent": recent,
            "mistake": None if mistake is None else str(mistake),
        }
        status = 200 if mistake is None else refusal_of(mistake).status
        return Shown("start.html", values, status)
