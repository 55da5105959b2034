"""Forms for calls, made from what the machine says of their inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from orchestrator.asl import document
from orchestrator.asl.document import DocumentError, Json
from orchestrator.service import Look, MalformedCall

MOST_FIELDS: Final = 12
JSON_FIELD: Final = "json"
_KINDS: Final = frozenset({"string", "integer", "number", "boolean"})


@dataclass(frozen=True, slots=True)
class CallField:
    """A member of a call's input that a form can ask for."""

    name: str
    kind: str
    """string, integer, number, boolean, or choice."""
    required: bool
    choices: tuple[str, ...] = ()
    text: str = ""
    """What the schema says of it."""

    @property
    def key(self) -> str:
        """Its name in the form."""
        return f"input.{self.name}"


@dataclass(frozen=True, slots=True)
class CallForm:
    """A call that a machine knows; `taken`: some frame may accept it now."""

    name: str
    comment: str | None
    fields: tuple[CallField, ...]
    taken: bool
    frames: tuple[str, ...]
    """The frames inside Maps that may accept it: one is to be chosen."""


def call_forms(look: Look) -> list[CallForm]:
    """Return a form for each call of an execution's machine, those that it takes now first."""
    machine = look.machine
    if machine is None:
        return []
    schemas = _schemas(machine.text)
    forms = []
    for name, kind in machine.calls.items():
        taking = [one for one in look.waits if name in one.calls]
        frames = tuple(one.frame for one in taking if one.frame)
        fields = tuple(_fields(schemas.get(name)))
        forms.append(CallForm(name, kind.comment, fields, bool(taking), frames))
    return sorted(forms, key=lambda form: not form.taken)


def _schemas(text: str) -> Mapping[str, Json]:
    value = document.read(text)
    calls = value.get("Calls") if isinstance(value, dict) else None
    found = calls if isinstance(calls, dict) else {}
    return {name: call.get("InputSchema") for name, call in found.items() if isinstance(call, dict)}


def _fields(schema: Json) -> Iterator[CallField]:
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        return
    properties = schema["properties"]
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    for name, inner in list(properties.items() if isinstance(properties, dict) else ()):
        if not isinstance(inner, dict):
            continue
        text = inner.get("description") or inner.get("title") or ""
        kind, choices = inner.get("type"), inner.get("enum")
        if isinstance(choices, list) and all(isinstance(one, str) for one in choices):
            picked = tuple(str(one) for one in choices)
            yield CallField(name, "choice", name in names, picked, str(text))
        elif isinstance(kind, str) and kind in _KINDS:
            yield CallField(name, kind, name in names, (), str(text))


def read_input(form: CallForm, given: Mapping[str, str]) -> str:
    """Return the input of a call as JSON text; raises MalformedCall.

    The JSON counts where it is given, else the fields that are filled in.
    """
    text = given.get(JSON_FIELD, "").strip()
    if text:
        return text
    found: dict[str, Json] = {}
    for field in form.fields:
        value = given.get(field.key, "").strip()
        if value:
            found[field.name] = _value(field, value)
    return document.write(found)


def _value(field: CallField, text: str) -> Json:
    if field.kind == "boolean":
        return text == "true"
    if field.kind in ("integer", "number"):
        try:
            value = document.read(text)
        except DocumentError:
            value = None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise MalformedCall(f"{field.name}: {text[:40]!r} is no number")
        return value
    return text
