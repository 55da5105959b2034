"""Machines: their revisions and differences, the graph, the tables, and the editor."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import quote

from markupsafe import Markup

from orchestrator.asl import document
from orchestrator.asl.answering import Row, table
from orchestrator.asl.diagnostics import refused
from orchestrator.asl.document import DocumentError
from orchestrator.asl.machine import Machine
from orchestrator.asl.names import InvalidName
from orchestrator.service import (
    NOTHING_UNDONE,
    InvalidDefinition,
    MachineIsDeleting,
    Orchestrator,
    draw,
    order_of_undoing,
    told,
)
from orchestrator.web.refusal import refusal_of
from orchestrator.web.request import Answer, Ask, Sent, Shown

MOST_REVISIONS: Final = 100
EXAMPLE: Final = json.dumps(
    {
        "Comment": "What it is for.",
        "QueryLanguage": "JSONata",
        "StartAt": "First",
        "States": {"First": {"Type": "Pass", "End": True}},
    },
    indent=2,
)


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a difference: `kind` is added, removed, same or place."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class UndoLine:
    """A line of what is told of undoing; `depth`: how far it is indented."""

    depth: int
    text: str


class MachinesPage:
    """Shows machines, and takes new revisions that are valid."""

    def __init__(self, service: Orchestrator) -> None:
        self._service = service

    def index(self, ask: Ask) -> Answer:
        """Show all machines."""
        after = ask.given("after")
        rows, more = self._service.views.machines(after)
        values = {"rows": rows, "more": more, "after": after, "now": self._now()}
        return Shown("machines.html", values)

    def show(self, ask: Ask) -> Answer:
        """Show a machine: a revision of it, and how it differs from the one before."""
        name = ask.path["name"]
        found = self._service.machines.describe_state_machine(name)
        revisions = self._service.views.revisions(name, MOST_REVISIONS)
        wanted = ask.given("revision")
        shown = next((one for one in revisions if str(one.number) == wanted), found.revision)
        before = next((one for one in revisions if one.number < shown.number), None)
        machine = self._service.views.machine_of(shown.id)
        values: dict[str, object] = {
            "machine": found.machine,
            "shown": shown,
            "revisions": revisions,
            "before": before,
            "diff": [] if before is None else difference(before.text, shown.text),
            "text": readable(shown.text),
            "picture": _picture(machine),
            "calls": [] if machine is None else list(machine.calls),
            "table": () if machine is None else _table(machine),
            "undoing": [] if machine is None else _undoing(machine),
            "findings": self._service.validate_state_machine_definition(shown.text),
            "now": self._now(),
        }
        return Shown("machine.html", values)

    # -- the editor ------------------------------------------------------------------------------

    def new(self, ask: Ask) -> Answer:
        """Show the editor for a machine that is new."""
        return self._editor(ask.given("name"), EXAMPLE, new=True)

    def edit(self, ask: Ask) -> Answer:
        """Show the editor for the next revision of a machine."""
        name = ask.path["name"]
        found = self._service.machines.describe_state_machine(name)
        return self._editor(name, readable(found.revision.text))

    def check(self, ask: Ask) -> Answer:
        """Say what the validator finds in a text; nothing is stored."""
        text = ask.document("definition")
        findings = self._service.validate_state_machine_definition(text)
        valid = not refused(findings)
        picture = _picture(self._service.views.parse(text)) if valid else None
        return Shown("findings.html", {"findings": findings, "picture": picture, "valid": valid})

    def save(self, ask: Ask) -> Answer:
        """Make a text the newest revision of a machine, if it is valid."""
        name, text = ask.field("name").strip(), ask.document("definition")
        new = bool(ask.field("new"))
        try:
            self._service.deploy(name, text)
        except (InvalidDefinition, InvalidName, MachineIsDeleting) as mistake:
            return self._editor(name, text, new=new, mistake=mistake)
        return Sent(f"/machines/{quote(name, safe='')}")

    def _editor(
        self, name: str, text: str, *, new: bool = False, mistake: Exception | None = None
    ) -> Answer:
        findings = self._service.validate_state_machine_definition(text)
        values: dict[str, object] = {
            "name": name,
            "text": text,
            "new": new,
            "findings": findings,
            "valid": not refused(findings),
            "picture": None if refused(findings) else _picture(self._service.views.parse(text)),
            "mistake": None if mistake is None else str(mistake),
        }
        status = 200 if mistake is None else refusal_of(mistake).status
        return Shown("editor.html", values, status)

    def _now(self) -> datetime:
        return self._service.views.now()


def _picture(machine: Machine | None) -> Markup | None:
    if machine is None:
        return None
    return Markup(draw(machine).svg(style=False))  # noqa: S704  # the drawing escapes


def _table(machine: Machine) -> tuple[Row, ...]:
    return table(machine) if machine.calls else ()


def readable(text: str) -> str:
    """Return a definition on several lines, as it is if it has some."""
    if "\n" in text.strip():
        return text
    try:
        return json.dumps(document.read(text), indent=2, ensure_ascii=False)
    except (DocumentError, ValueError):
        return text


def difference(before: str, after: str) -> list[DiffLine]:
    """Return what differs between two definitions, line by line, whatever their layout."""
    old, new = (_lines(text) for text in (before, after))
    found: list[DiffLine] = []
    for line in difflib.unified_diff(old, new, lineterm="", n=3):
        if line.startswith(("---", "+++")):
            continue
        kind = {"+": "added", "-": "removed", "@": "place"}.get(line[:1], "same")
        found.append(DiffLine(kind, line))
    return found


def _lines(text: str) -> list[str]:
    try:
        return json.dumps(document.read(text), indent=2, ensure_ascii=False).splitlines()
    except (DocumentError, ValueError):
        return text.splitlines()


# -- the order of undoing ------------------------------------------------------------------------


def _undoing(machine: Machine) -> list[list[UndoLine]]:
    """What is undone at each failure at which something is, a heading and lines below it."""
    return [
        [_undo_line(line) for line in lines]
        for lines in told(order_of_undoing(machine))
        if not all(line.endswith(NOTHING_UNDONE) for line in lines[1:])
    ]


def _undo_line(line: str) -> UndoLine:
    text = line.lstrip(" ")
    return UndoLine((len(line) - len(text)) // 2, text)
