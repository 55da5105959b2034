"""Executions that many events want at the same time: they are decided under their lock.

Elsewhere everybody decides first and finds at the commit who was faster; in a crowd most would
decide in vain.
"""

from __future__ import annotations

from typing import Final

from orchestrator.engine.arrival import Arrival
from orchestrator.execution.decision import View
from orchestrator.execution.events import frame_of
from orchestrator.execution.frame import parent_id

MOST_REMEMBERED: Final = 1_000
"""Large forks that a process remembers, so that it need not read to know that they are."""

SMALL_FORK: Final = 8
"""Events of larger forks meet all the time: they take the execution's lock before they decide."""

MOST_IN_TURN: Final = 3
"""More events of one execution than this are decided together, under its lock."""


class Crowds:
    """Tells crowds, and remembers the large forks that were seen."""

    def __init__(self) -> None:
        self._large: set[tuple[int, str]] = set()

    def has(self, arrival: Arrival) -> bool:
        """Whether an event is known to be of a large fork, without a look at the execution."""
        return _siblings(arrival) in self._large

    def is_one(self, view: View, arrival: Arrival, waiting: int) -> bool:
        """Whether many events want, or many siblings may want, this execution at the same time."""
        frame = frame_of(arrival.event)
        if waiting > MOST_IN_TURN or not frame:
            return waiting > MOST_IN_TURN
        fork = view.forks.get(parent_id(frame))
        large = fork is not None and fork.total > SMALL_FORK
        siblings = _siblings(arrival)
        if large and siblings is not None:
            if len(self._large) >= MOST_REMEMBERED:
                self._large.clear()
            self._large.add(siblings)
        return large


def _siblings(arrival: Arrival) -> tuple[int, str] | None:
    """The fork of whose children an event concerns one: its execution and their ids' prefix."""
    prefix, _, index = frame_of(arrival.event).rpartition(".")
    return (arrival.event.execution, prefix) if index else None
