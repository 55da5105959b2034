"""The transitions of a definition: unknown targets, unreachable states, no end, names used twice.

Works on the JSON and not on the states read from it, so that it speaks also where a state has
faults of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orchestrator.asl.diagnostics import Code, Findings, child
from orchestrator.asl.document import Json

MOST_NAME_CHARACTERS = 80
_FORBIDDEN_IN_NAMES = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _Scope:
    """One States object with its start, at the pointer of the object that holds both."""

    start_at: str | None
    states: Mapping[str, Mapping[str, Json]]
    pointer: str
    on: Json = None
    """The reactions of the machine, which may lead to each of its states at any time."""

    def at(self, name: str) -> str:
        return child(child(self.pointer, "States"), name)


def check_graph(machine: Mapping[str, Json], findings: Findings) -> None:
    """Note what is wrong with the transitions and the names of a definition."""
    seen: set[str] = set()
    labels: set[str] = set()
    for scope in _scopes(machine):
        for name in scope.states:
            _check_name(name, scope.at(name), findings)
            if name in seen:
                findings.error(
                    Code.DUPLICATE_STATE_NAME, f"Duplicate state name: {name}", scope.at(name)
                )
            seen.add(name)
            _check_label(scope, name, labels, findings)
        _check_transitions(scope, findings)


def _scopes(machine: Mapping[str, Json]) -> Iterator[_Scope]:
    waiting: list[tuple[Json, str]] = [(dict(machine), "")]
    while waiting:
        value, pointer = waiting.pop()
        if not isinstance(value, dict):
            continue
        start, states = value.get("StartAt"), value.get("States")
        scope = _Scope(
            start_at=start if isinstance(start, str) else None,
            states=_objects(states),
            pointer=pointer,
            on=None if pointer else value.get("On"),
        )
        yield scope
        inside = [found for name in scope.states for found in _inside(scope, name)]
        waiting.extend(reversed(inside))


def _objects(states: Json) -> Mapping[str, Mapping[str, Json]]:
    if not isinstance(states, dict):
        return {}
    return {name: state if isinstance(state, dict) else {} for name, state in states.items()}


def _inside(scope: _Scope, name: str) -> Iterator[tuple[Json, str]]:
    state, pointer = scope.states[name], scope.at(name)
    if state.get("Type") == "Parallel":
        for index, branch in enumerate(_items(state.get("Branches"))):
            yield branch, child(child(pointer, "Branches"), index)
    elif state.get("Type") == "Map":
        for field in ("ItemProcessor", "Iterator"):
            yield state.get(field), child(pointer, field)


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _check_name(name: str, pointer: str, findings: Findings) -> None:
    if not 0 < len(name) <= MOST_NAME_CHARACTERS or _FORBIDDEN_IN_NAMES.search(name):
        findings.error(
            Code.INVALID_STATE_NAME,
            f"State names have 1 to {MOST_NAME_CHARACTERS} characters and no control character",
            pointer,
        )


def _check_label(scope: _Scope, name: str, labels: set[str], findings: Findings) -> None:
    label = scope.states[name].get("Label")
    if scope.states[name].get("Type") != "Map" or not isinstance(label, str):
        return
    if label in labels:
        findings.error(
            Code.DUPLICATE_LABEL_NAME,
            f"Duplicate label: {label}",
            child(scope.at(name), "Label"),
        )
    labels.add(label)


def _check_transitions(scope: _Scope, findings: Findings) -> None:
    if not scope.states:
        return
    targets = {name: list(_transitions(scope, name)) for name in scope.states}
    start = child(scope.pointer, "StartAt")
    starts = [] if scope.start_at is None else [(scope.start_at, start)]
    starts += _reactions(scope.on, scope.pointer)
    for target, pointer in [*starts, *(pair for pairs in targets.values() for pair in pairs)]:
        if target not in scope.states:
            findings.error(
                Code.MISSING_TRANSITION_TARGET, f"Missing 'Next' target: {target}", pointer
            )
    if not any(_is_terminal(state) for state in scope.states.values()):
        findings.error(Code.MISSING_END_STATE, "Workflow has no terminal state", scope.pointer)
    elif scope.start_at is not None:
        _check_reach(scope, [target for target, _ in starts], targets, findings)


def _check_reach(
    scope: _Scope,
    starts: list[str],
    targets: Mapping[str, list[tuple[str, str]]],
    findings: Findings,
) -> None:
    reached: set[str] = set()
    waiting = starts
    while waiting:
        name = waiting.pop()
        if name in targets and name not in reached:
            reached.add(name)
            waiting.extend(target for target, _ in targets[name])
    for name in scope.states:
        if name not in reached:
            findings.error(
                Code.MISSING_TRANSITION_TARGET,
                f'State "{name}" is not reachable.',
                scope.at(name),
            )


def _transitions(scope: _Scope, name: str) -> Iterator[tuple[str, str]]:
    state, pointer = scope.states[name], scope.at(name)
    for field in ("Next", "Default"):
        target = state.get(field)
        if isinstance(target, str):
            yield target, child(pointer, field)
    if state.get("Type") in ("Await", "Parallel", "Map"):
        yield from _reactions(state.get("On"), pointer)
    for field in ("Choices", "Catch", "After"):
        for index, entry in enumerate(_items(state.get(field))):
            target = entry.get("Next") if isinstance(entry, dict) else None
            if isinstance(target, str):
                yield target, child(child(child(pointer, field), index), "Next")


def _reactions(on: Json, pointer: str) -> Iterator[tuple[str, str]]:
    """Yield where reactions lead, with the place that says so."""
    for call, value in on.items() if isinstance(on, dict) else ():
        place = child(child(pointer, "On"), call)
        entries: list[tuple[Json, str]] = [(value, place)]
        entries += [(entry, child(place, index)) for index, entry in enumerate(_items(value))]
        for entry, where in entries:
            target = entry.get("Next") if isinstance(entry, dict) else None
            if isinstance(target, str):
                yield target, child(where, "Next")


def _is_terminal(state: Mapping[str, Json]) -> bool:
    return state.get("Type") in ("Succeed", "Fail") or state.get("End") is True
