"""Which variables each state of a definition refers to, as DescribeStateMachine tells it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from orchestrator.asl.document import Json

_PATH_VARIABLE: Final = re.compile(r"(?<![\w$.'\]])\$([^\W\d]\w*)")
_QUERY_VARIABLE: Final = re.compile(r"(?<![\w$])\$([^\W\d]\w*)\b(?!\s*(?:\(|:=))")
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_RESERVED: Final = frozenset({"states"})
_PATH_FIELD: Final = re.compile(r"(?:.*Path|Variable|.*\.\$)")


def variable_references(definition: Json) -> dict[str, list[str]]:
    """Return the names of the variables that states read, by the name of the state."""
    language = definition.get("QueryLanguage") if isinstance(definition, dict) else None
    found: dict[str, list[str]] = {}
    for name, state in _states(definition):
        used = sorted(set(_used(state, state.get("QueryLanguage", language) == "JSONata")))
        if used:
            found[name] = used
    return found


def _states(scope: Json) -> Iterator[tuple[str, dict[str, Json]]]:
    states = scope.get("States") if isinstance(scope, dict) else None
    for name, state in states.items() if isinstance(states, dict) else ():
        if not isinstance(state, dict):
            continue
        yield name, state
        branches = state.get("Branches")
        inner = [state.get("Iterator"), state.get("ItemProcessor")]
        for branch in [*inner, *(branches if isinstance(branches, list) else [])]:
            yield from _states(branch)


_ELSEWHERE: Final = frozenset({"Branches", "Iterator", "ItemProcessor", "Comment"})


def _used(state: dict[str, Json], in_jsonata: bool) -> Iterator[str]:
    for key, value in state.items():
        if key not in _ELSEWHERE:
            yield from _in_value(key, value, in_jsonata)


def _in_value(key: str, value: Json, in_jsonata: bool) -> Iterator[str]:
    match value:
        case str() if in_jsonata:
            if value.startswith("{%") and value.endswith("%}"):
                yield from _names(_QUERY_VARIABLE, value)
        case str() if _PATH_FIELD.fullmatch(key):
            yield from _names(_PATH_VARIABLE, value)
        case dict():
            for inner, item in value.items():
                yield from _in_value(inner, item, in_jsonata)
        case list():
            for item in value:
                yield from _in_value(key, item, in_jsonata)
        case _:
            return


def _names(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for found in pattern.finditer(_QUOTED.sub("''", text)):
        if found[1] not in _RESERVED:
            yield found[1]
