"""Folding of loops: what repeats itself in a history is shown once, with how often it comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.execution.history import HistoryEvent

LONGEST: Final = 40
"""Events in one round of a loop that is folded."""
LEAST_ROUNDS: Final = 3


@dataclass(frozen=True, slots=True)
class Segment:
    """Events that are shown one by one; `rounds` of them above 1: a loop, of which these are one.

    `folded` are the events of the other rounds.
    """

    events: tuple[HistoryEvent, ...]
    rounds: int = 1
    folded: tuple[HistoryEvent, ...] = ()


def folded(events: Sequence[HistoryEvent]) -> list[Segment]:
    """Return a history in segments, each loop in one of its own."""
    signs = [(event.type, event.details.get("name")) for event in events]
    segments: list[Segment] = []
    begun = place = 0
    while place < len(events):
        length, rounds = _loop(signs, place)
        if rounds < LEAST_ROUNDS:
            place += 1
            continue
        if begun < place:
            segments.append(Segment(tuple(events[begun:place])))
        end = place + length * rounds
        first = tuple(events[place : place + length])
        segments.append(Segment(first, rounds, tuple(events[place + length : end])))
        begun = place = end
    if begun < len(events):
        segments.append(Segment(tuple(events[begun:])))
    return segments


def _loop(signs: Sequence[object], place: int) -> tuple[int, int]:
    """Return the shortest round that repeats itself from a place on, and how often it comes."""
    for length in range(1, LONGEST + 1):
        if signs[place] != signs[place + length] if place + length < len(signs) else True:
            continue
        rounds = 1
        end = place + length
        while end + length <= len(signs) and _same(signs, place, end, length):
            rounds += 1
            end += length
        if rounds >= LEAST_ROUNDS:
            return length, rounds
    return 1, 1


def _same(signs: Sequence[object], one: int, other: int, length: int) -> bool:
    return all(signs[one + n] == signs[other + n] for n in range(length))
