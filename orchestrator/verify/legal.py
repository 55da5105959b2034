"""Where a state may lead, read from its value whatever its type: all that has a `next`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from orchestrator.asl.machine import Machine
from orchestrator.asl.states import Await, Map, Parallel, State
from orchestrator.asl.states.reaction import On


def following(machine: Machine, state: State, *, failed: bool) -> set[str]:
    """Return the states that may be entered once this one is left; `failed`: caught."""
    named: set[str] = set()
    if not failed and isinstance(state, Await | Parallel | Map):
        named.update(_led_by(state.on))
        if machine.around(state.name) is None:
            named.update(_led_by(machine.on))
    for field in fields(state):
        value = getattr(state, field.name)
        if field.name in ("branches", "processor") or (failed and field.name != "catch"):
            continue
        named.update(_nexts(value if field.name != "next" else (state,)))
        if field.name == "default" and isinstance(value, str):
            named.add(value)
    return named


def _led_by(on: On) -> Iterator[str]:
    """Yield where the reactions of one level lead."""
    for reactions in on.values():
        yield from _nexts(reactions)


def _nexts(value: object) -> Iterator[str]:
    entries = value.values() if isinstance(value, Mapping) else value
    if not isinstance(entries, tuple | list | type({}.values())):
        return
    for entry in entries:
        following_name = getattr(entry, "next", None)
        if isinstance(following_name, str):
            yield following_name


def may_end(state: State) -> bool:
    """Tell whether a thread may end with this state."""
    if isinstance(state, Await):
        return False
    return getattr(state, "next", None) is None and not getattr(state, "rules", ())


def may_retry(state: State) -> bool:
    """Tell whether the state may be tried again."""
    return bool(getattr(state, "retry", ()))


def state_of(machine: Machine, name: str) -> State | None:
    """Return a state by its name; None: the definition has none."""
    try:
        return machine.state(name)
    except KeyError:
        return None


def start_of(state: State, index: int) -> str | None:
    """Return where a child of a fork begins; None: the state opens none that is so long."""
    if isinstance(state, Map):
        return state.processor.start_at
    if isinstance(state, Parallel) and index < len(state.branches):
        return state.branches[index].start_at
    return None
