"""Where a definition uses what the Amazon States Language does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orchestrator.asl.diagnostics import child
from orchestrator.asl.document import Json


@dataclass(frozen=True, slots=True)
class Use:
    """One use of the dialect: what is used, and where."""

    what: str
    pointer: str


_OF_MACHINE = ("Calls", "On")
_OF_STATES = ("On", "Compensate", "CompensateUnknown", "Pivot")
_OF_AWAIT = ("After", "OnEnter", "OnExit")
_OUR_TYPES = ("Await", "Compensate")
_OUR_RESOURCES = ("celery:", "arn:aws:states:::states:sendCall")
_EFFECTS = ("OnEnter", "OnExit", "Effect", "Compensate")


def dialect_uses(machine: Mapping[str, Json]) -> tuple[Use, ...]:
    """Return every use of the dialect, in the order of the text."""
    return tuple(_of_machine(machine))


def _of_machine(machine: Mapping[str, Json]) -> Iterator[Use]:
    for name in _OF_MACHINE:
        if name in machine:
            yield Use(name, child("", name))
            if name == "On":
                yield from _resources(machine[name], child("", name))
    yield from _of_scope(dict(machine), "")


def _of_scope(scope: Json, pointer: str) -> Iterator[Use]:
    states = scope.get("States") if isinstance(scope, dict) else None
    for name, state in states.items() if isinstance(states, dict) else ():
        if isinstance(state, dict):
            yield from _of_state(state, child(child(pointer, "States"), name))


def _of_state(state: dict[str, Json], pointer: str) -> Iterator[Use]:
    kind = state.get("Type")
    if kind in _OUR_TYPES:
        yield Use(f"Type {kind}", child(pointer, "Type"))
    names = (*_OF_STATES, *_OF_AWAIT) if kind == "Await" else _OF_STATES
    for name in names:
        if name in state:
            yield Use(name, child(pointer, name))
    resource = state.get("Resource")
    if isinstance(resource, str) and resource.startswith(_OUR_RESOURCES):
        yield Use(f"Resource {resource}", child(pointer, "Resource"))
    for name in ("Retry", "Catch"):
        yield from _compensating(state.get(name), child(pointer, name))
    for name in ("On", "After", *_EFFECTS):
        yield from _resources(state.get(name), child(pointer, name))
    yield from _of_branches(state, pointer)


def _of_branches(state: dict[str, Json], pointer: str) -> Iterator[Use]:
    branches = state.get("Branches")
    for index, branch in enumerate(branches if isinstance(branches, list) else ()):
        yield from _of_scope(branch, child(child(pointer, "Branches"), index))
    for name in ("ItemProcessor", "Iterator"):
        yield from _of_scope(state.get(name), child(pointer, name))


def _compensating(entries: Json, pointer: str) -> Iterator[Use]:
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict) and "Compensate" in entry:
            yield Use("Compensate", child(child(pointer, index), "Compensate"))


def _resources(value: Json, pointer: str) -> Iterator[Use]:
    """Yield the resources of effects inside what is ours anyway."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "Resource" and isinstance(inner, str) and inner.startswith(_OUR_RESOURCES):
                yield Use(f"Resource {inner}", child(pointer, name))
            elif name not in ("Arguments", "Parameters"):
                yield from _resources(inner, child(pointer, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _resources(inner, child(pointer, index))
