"""Order: the places in each row, so that few lines cross."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from orchestrator.drawing.layout.rows import Rows

_SWEEPS, _FEWEST_SWEEPS = 12, 4
_MOST_ORDERS = 4
"""Orders that cross equally seldom are all tried."""
_MOST_TRANSPOSED = 60
"""Rows longer than this are not tried swap by swap."""


def orders(rows: Rows) -> list[list[list[int]]]:
    """Return orders of the items of each row with few crossings, the same ones each time."""
    above: list[list[int]] = [[] for _ in rows.items]
    below: list[list[int]] = [[] for _ in rows.items]
    for link in rows.links:
        below[link.upper].append(link.lower)
        above[link.lower].append(link.upper)
    _begin(rows)
    found = {_frozen(rows.rows): _crossings(rows.rows, below)}
    for sweep in range(_SWEEPS):
        if sweep >= _FEWEST_SWEEPS and min(found.values()) == 0:
            break
        down = sweep % 2 == 0
        _sweep(rows.rows, above if down else below, down=down)
        for ties in (False, True):
            _transpose(rows.rows, above, below, ties=ties and sweep % 4 > 1)
            found.setdefault(_frozen(rows.rows), _crossings(rows.rows, below))
    fewest = min(found.values())
    best = [one for one, crossings in found.items() if crossings == fewest]
    return [[list(row) for row in one] for one in best[:_MOST_ORDERS]]


def _frozen(rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in rows)


def _begin(rows: Rows) -> None:
    """Order each row as a walk from the first box comes by: the text's first way goes left.

    Lines that go back are followed from their tail, so that they run beside it.
    """
    onwards: list[list[int]] = [[] for _ in rows.items]
    for link in rows.links:
        if link.net[2]:
            onwards[link.lower].append(link.upper)
        else:
            onwards[link.upper].append(link.lower)
    seen: dict[int, int] = {}
    for root in (item for row in rows.rows for item in row):
        waiting = [root]
        while waiting:
            item = waiting.pop()
            if item not in seen:
                seen[item] = len(seen)
                waiting.extend(reversed(onwards[item]))
    for row in rows.rows:
        row.sort(key=seen.__getitem__)


def _sweep(rows: list[list[int]], near: Sequence[Sequence[int]], *, down: bool) -> None:
    sequence = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
    for index in sequence:
        fixed = rows[index - 1 if down else index + 1]
        place = {item: n for n, item in enumerate(fixed)}
        row = rows[index]
        middle = {
            item: sum(place[one] for one in near[item]) / len(near[item]) if near[item] else None
            for item in row
        }
        moving = sorted(
            (item for item in row if middle[item] is not None),
            key=lambda item: middle[item] or 0.0,  # sorted at once
        )
        following = iter(moving)
        rows[index] = [item if middle[item] is None else next(following) for item in row]


def _transpose(
    rows: list[list[int]],
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
    *,
    ties: bool,
) -> None:
    """Swap neighbours where that saves crossings; with `ties` also where it costs none."""
    for index, row in enumerate(rows):
        if len(row) > _MOST_TRANSPOSED:
            continue
        upper = {item: n for n, item in enumerate(rows[index - 1])} if index else {}
        lower = {item: n for n, item in enumerate(rows[index + 1])} if index + 1 < len(rows) else {}
        places = {
            item: (
                sorted(upper[one] for one in above[item]),
                sorted(lower[one] for one in below[item]),
            )
            for item in row
        }
        for n in range(len(row) - 1):
            left, right = places[row[n]], places[row[n + 1]]
            gain = sum(_pairs(a, b) - _pairs(b, a) for a, b in zip(left, right, strict=True))
            if gain > 0 or (ties and gain == 0):
                row[n], row[n + 1] = row[n + 1], row[n]


def _pairs(left: list[int], right: list[int]) -> int:
    """Return how many crossings there are with `left` on the left; both are sorted."""
    return sum(bisect_left(right, place) for place in left)


def _crossings(rows: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    total = 0
    for upper, lower in itertools.pairwise(rows):
        place = {item: n for n, item in enumerate(lower)}
        seen: list[int] = []
        for item in upper:
            ends = sorted(place[one] for one in below[item])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total
