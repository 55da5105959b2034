"""Compensations in a history: each undoes what was entered before, and runs to one end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from orchestrator.asl.machine import Machine
from orchestrator.asl.states import Map, Parallel, Task
from orchestrator.execution.history import HistoryEvent
from orchestrator.verify.legal import state_of

PREFIX: Final = "Compensation"
_BEFORE: Final[Mapping[str, tuple[str, ...]]] = {
    "Scheduled": ("", "Failed"),
    "Started": ("Scheduled",),
    "Succeeded": ("Started",),
    "Failed": ("Scheduled", "Started"),
    "Skipped": ("Failed",),
}


class Undoing:
    """The compensations of one history, as far as it was read."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._entered: dict[int, str] = {}
        self._stands: dict[int, str] = {}

    def entered(self, event: HistoryEvent) -> None:
        """Note that a state was entered."""
        self._entered[event.id] = str(event.details.get("name"))

    def take(self, event: HistoryEvent) -> str | None:
        """Read an event of a compensation; return what is wrong with it."""
        what = event.type.removeprefix(PREFIX)
        name, undoes = str(event.details.get("name")), event.details.get("undoes")
        if what not in _BEFORE or not isinstance(undoes, int):
            return "it says nothing of what it undoes"
        entered = self._entered.get(undoes)
        if entered is None:
            return f"no state was entered at {undoes}"
        if name != entered:
            # What a child execution has done is undone at the entry of the state that started it.
            adopts = getattr(state_of(self._machine, entered), "adopts", False)
            return None if adopts else f"{entered!r} was entered at {undoes}, and not {name!r}"
        state = state_of(self._machine, name)
        if not isinstance(state, Task | Parallel | Map) or state.compensate is None:
            return f"nothing undoes {name!r}"
        before = self._stands.get(undoes, "")
        if before not in _BEFORE[what]:
            return f"the compensation of {name!r} is {before or 'not scheduled'}"
        self._stands[undoes] = what
        return None
