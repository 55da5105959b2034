"""Calls: what may be asked of an execution, and that every state has an answer.

Whether a cell of the table is forgotten is found in the JSON and not in the states read from it, so
that it is told also where a state has faults of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from orchestrator.asl.diagnostics import Code, Findings, child
from orchestrator.asl.document import Json
from orchestrator.asl.input_schema import InputSchema, InvalidSchema, compile_schema
from orchestrator.asl.limits import DEFAULT
from orchestrator.asl.states.fields import Fields
from orchestrator.asl.states.reaction import EVERY_OTHER

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,79}")


@dataclass(frozen=True, slots=True)
class CallKind:
    """A call that a machine knows; `schema` None: its input may be anything."""

    name: str
    comment: str | None
    schema: InputSchema | None


Calls: TypeAlias = Mapping[str, CallKind]

NO_CALLS: Final[Calls] = MappingProxyType({})


def read_calls(fields: Fields) -> Calls:
    """Read Calls."""
    calls = fields.object("Calls")
    if calls is None:
        return NO_CALLS
    if not calls.value:
        fields.wrong("Calls", "Value cannot be empty")
    if len(calls.value) > DEFAULT.on_entries:
        fields.wrong("Calls", f"A machine knows at most {DEFAULT.on_entries} calls")
    found: dict[str, CallKind] = {}
    for name in calls.value:
        if not _NAME.fullmatch(name):
            calls.wrong(
                name,
                "A call's name begins with a letter or underscore, goes on with letters, digits"
                " and _ . -, and has at most 80 characters",
            )
        entry = calls.object(name)
        if entry is not None:
            found[name] = _call(name, entry)
    return MappingProxyType(found)


def _call(name: str, entry: Fields) -> CallKind:
    entry.allow(("Comment", "InputSchema", "Early"))
    if "Early" in entry:
        message = "Early comes with a later release"
        entry.findings.error(Code.UNSUPPORTED, message, entry.at("Early"))
    return CallKind(name, entry.text("Comment"), _schema(entry))


def _schema(entry: Fields) -> InputSchema | None:
    if "InputSchema" not in entry:
        return None
    try:
        return compile_schema(entry.value["InputSchema"])
    except InvalidSchema as error:
        place = entry.at("InputSchema") + error.pointer
        entry.findings.schema(error.message, place)
        return None


# ------------------------------------------------------------------------------ every cell


@dataclass(frozen=True, slots=True)
class _Level:
    """A States object, the calls that are answered around it, and whether it is the machine's."""

    value: Json
    pointer: str
    answered: frozenset[str]
    top: bool


def check_answers(machine: Mapping[str, Json], findings: Findings) -> None:
    """Note every call that a state forgets, and every entry for a call that nobody knows."""
    known = machine.get("Calls")
    calls = tuple(known) if isinstance(known, dict) else ()
    _check_names(machine, "", calls, findings)
    waiting = [_Level(dict(machine), "", _answered(machine, calls), top=True)]
    while waiting:
        level = waiting.pop()
        for state, pointer in _states(level):
            _check_names(state, pointer, calls, findings)
            _check_state(state, pointer, level, calls, findings)
            answered = level.answered | _answered(state, calls)
            waiting += [
                _Level(inner, place, answered, top=False)
                for inner, place in _inside(state, pointer)
            ]


def _states(level: _Level) -> Iterator[tuple[Mapping[str, Json], str]]:
    states = level.value.get("States") if isinstance(level.value, dict) else None
    for name, state in states.items() if isinstance(states, dict) else ():
        if isinstance(state, dict):
            yield state, child(child(level.pointer, "States"), name)


def _inside(state: Mapping[str, Json], pointer: str) -> Iterator[tuple[Json, str]]:
    if state.get("Type") == "Parallel":
        branches = state.get("Branches")
        for index, branch in enumerate(branches if isinstance(branches, list) else ()):
            yield branch, child(child(pointer, "Branches"), index)
    elif state.get("Type") == "Map":
        for field in ("ItemProcessor", "Iterator"):
            yield state.get(field), child(pointer, field)


def _answered(holder: Mapping[str, Json], calls: tuple[str, ...]) -> frozenset[str]:
    on = holder.get("On")
    if not isinstance(on, dict):
        return frozenset()
    return frozenset(calls) if EVERY_OTHER in on else frozenset(on)


def _check_names(
    holder: Mapping[str, Json], pointer: str, calls: tuple[str, ...], findings: Findings
) -> None:
    on = holder.get("On")
    for name in on if isinstance(on, dict) else ():
        if name != EVERY_OTHER and name not in calls:
            place = child(child(pointer, "On"), name)
            findings.error(
                Code.UNKNOWN_CALL, f"The machine knows no call '{name}': see Calls", place
            )
    if isinstance(on, dict) and EVERY_OTHER in on and not calls:
        findings.error(Code.UNKNOWN_CALL, "A machine with On needs Calls", child(pointer, "On"))


def _check_state(
    state: Mapping[str, Json],
    pointer: str,
    level: _Level,
    calls: tuple[str, ...],
    findings: Findings,
) -> None:
    kind = state.get("Type")
    if kind == "Await":
        answered = level.answered | _answered(state, calls)
    elif kind in ("Succeed", "Fail") and "On" in state:
        answered = _answered(state, calls)
        if not level.top:
            message = "Only the state in which the execution ends answers calls: On has no effect"
            findings.warn(Code.UNKNOWN_CALL, message, child(pointer, "On"))
    else:
        return
    for call in calls:
        if call not in answered:
            findings.error(
                Code.UNANSWERED_CALL, f"The state does not answer the call '{call}'", pointer
            )
