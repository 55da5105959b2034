"""The only parser: the text of a definition becomes a Machine, or findings.

It never raises for what an author may write, however hostile: whatever is wrong is a finding, and
all findings come at once. It must not know an execution, a clock or a database.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from orchestrator.asl import document
from orchestrator.asl.calls import check_answers, read_calls
from orchestrator.asl.diagnostics import Code, Finding, Findings, child, refused
from orchestrator.asl.document import DocumentError, Json
from orchestrator.asl.graph import check_graph
from orchestrator.asl.limits import DEFAULT, Limits
from orchestrator.asl.machine import Machine
from orchestrator.asl.resources import Kind, Pattern
from orchestrator.asl.states import Await, Task, read_branch
from orchestrator.asl.states.fields import JSONATA, JSONPATH, Fields
from orchestrator.asl.states.reaction import read_on

_MACHINE = frozenset(
    {
        "StartAt",
        "States",
        "Comment",
        "QueryLanguage",
        "Version",
        "TimeoutSeconds",
        "Calls",
        "On",
    }
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What became of a definition: `machine` is None if and only if a finding is an error."""

    machine: Machine | None
    findings: tuple[Finding, ...]


def parse(text: str, limits: Limits = DEFAULT) -> Parsed:
    """Read a definition; bad ones end in findings, never in an exception."""
    findings = Findings()
    value = _read_text(text, limits, findings)
    machine = None if value is None else _read_machine(value, text, findings)
    found = findings.all()
    return Parsed(None if refused(found) else machine, found)


def _read_text(text: str, limits: Limits, findings: Findings) -> dict[str, Json] | None:
    """Return the object that a definition is; None, and a finding, if it is none."""
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        _note_json_error(text, DocumentError("half of a surrogate pair", error.start), findings)
        return None
    if size > limits.definition_bytes:
        findings.schema(f"The definition has more than {limits.definition_bytes} bytes", None)
        return None
    if _depth(text) > limits.definition_depth:
        message = f"The definition is nested more than {limits.definition_depth} deep"
        findings.error(Code.TOO_DEEPLY_NESTED, message, None)
        return None
    try:
        document.read(text, limits=replace(limits, document_bytes=limits.definition_bytes))
    except DocumentError as error:
        _note_json_error(text, error, findings)
        return None
    value = _read_noting_duplicates(text, findings)
    if isinstance(value, dict):
        return value
    findings.schema(_NO_OBJECT, None)
    return None


_STRINGS_AND_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


def _depth(text: str) -> int:
    """Return how deep arrays and objects stand in each other, without reading them."""
    deepest = depth = 0
    for token in _STRINGS_AND_BRACKETS.finditer(text):
        bracket = token[0]
        if bracket in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in "]}":
            depth -= 1
    return deepest


_NO_OBJECT = "Definition must be a valid JSON object"
_TOKEN = re.compile(r"[A-Za-z_$][\w$]*")
_EXCERPT_CHARACTERS = 500


def _note_json_error(text: str, error: DocumentError, findings: Findings) -> None:
    """Note faulty JSON in the words of AWS, which are those of its parser, where they are known."""
    if not text.strip():
        findings.schema(_NO_OBJECT, None)
        return
    message, position = error.message, error.position or 0
    token = _TOKEN.match(text, position)
    if token and error.position is not None:
        position = token.end()
        message = (
            f"Unrecognized token '{token.group()[:80]}': was expecting (JSON String, Number, Array,"
            " Object or token 'null', 'true' or 'false')"
        )
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    findings.error(
        Code.INVALID_JSON_DESCRIPTION,
        f'{message}\n at [Source: (String)"{_sayable(text[:_EXCERPT_CHARACTERS])}";'
        f" line: {line}, column: {column}]",
        None,
    )


def _sayable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _read_noting_duplicates(text: str, findings: Findings) -> Json:
    """Read JSON known to be good; note each key that stands twice in one object."""
    doubled: dict[int, tuple[dict[str, Json], list[str]]] = {}

    def noting(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        found = dict(pairs)
        if len(found) < len(pairs):
            times = Counter(key for key, _ in pairs)
            doubled[id(found)] = (found, [key for key, count in times.items() if count > 1])
        return found

    value: Json = json.loads(text, object_pairs_hook=noting)
    for inner, pointer in _places(value) if doubled else ():
        for key in doubled[id(inner)][1] if id(inner) in doubled else ():
            findings.error(
                Code.INVALID_JSON_DESCRIPTION, f"Duplicate field '{key}'", child(pointer, key)
            )
    return value


def _places(value: Json) -> Iterator[tuple[Json, str]]:
    """Yield every value inside a value, with its pointer, in no particular order."""
    waiting = [(value, "")]
    while waiting:
        inner, pointer = waiting.pop()
        yield inner, pointer
        if isinstance(inner, dict):
            waiting.extend((found, child(pointer, key)) for key, found in inner.items())
        elif isinstance(inner, list):
            waiting.extend((found, child(pointer, index)) for index, found in enumerate(inner))


def _read_machine(value: dict[str, Json], text: str, findings: Findings) -> Machine | None:
    fields = Fields(value, "", findings)
    language = fields.choice("QueryLanguage", JSONPATH, JSONATA) or JSONPATH
    fields = Fields(value, "", findings, language)
    fields.allow(_MACHINE)
    branch = read_branch(fields)
    check_graph(value, findings)
    check_answers(value, findings)
    return Machine(
        start_at=branch.start_at,
        states=branch.states,
        comment=fields.text("Comment"),
        timeout_seconds=fields.integer("TimeoutSeconds", 1),
        version=fields.choice("Version", "1.0") or "1.0",
        text=text,
        calls=read_calls(fields),
        on=read_on(fields),
    )


_EXPRESS_REFUSALS = {
    Pattern.SYNC: "Express state machine does not support '.sync' service integration",
    Pattern.SYNC_2: "Express state machine does not support '.sync' service integration",
    # The second blank is AWS's own.
    Pattern.TASK_TOKEN: (
        "Express state machine does not support '.waitForTaskToken' service integration "
    ),
}


def express_findings(machine: Machine) -> tuple[Finding, ...]:
    """Return what a machine of type EXPRESS may not contain: what waits for somebody's answer."""
    findings = Findings()
    for state in machine.every_state():
        if isinstance(state, Await):
            refusal = "Express state machine does not support states of type 'Await'"
            findings.schema(refusal, child(state.pointer, "Type"))
        if not isinstance(state, Task):
            continue
        message = _EXPRESS_REFUSALS.get(state.resource.pattern)
        if state.resource.kind is Kind.ACTIVITY:
            message = "Express state machine does not support activities"
        if message is not None:
            findings.schema(message, child(state.pointer, "Resource"))
    return findings.all()
