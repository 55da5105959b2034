"""Compensation: how what a state has done is undone."""

from __future__ import annotations

from orchestrator.asl.states.effect import Effect, read_undoing
from orchestrator.asl.states.fields import Fields

UNDOING = frozenset({"Compensate"})
"""The field of a state whose work can be undone."""


def read_compensation(fields: Fields, *, adopting: bool = False) -> Effect | None:
    """Read the Compensate of a state, None: nothing undoes it.

    Where a state is `adopting`, `true` says that what a child execution has to undo is handed to
    its parent: there is no work to read then, and `adopts` tells of it.
    """
    if adopting and fields.value.get("Compensate") is True:
        return None
    entry = fields.object("Compensate")
    return None if entry is None else read_undoing(entry, "Compensate")


def adopts(fields: Fields) -> bool:
    """Tell whether a state takes over what its child executions have to undo."""
    return fields.value.get("Compensate") is True
