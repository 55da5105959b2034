"""Placing: the x of each item, so that lines are straight and nothing overlaps.

After Brandes and Köpf, "Fast and Simple Horizontal Coordinate Assignment" (2001): items are aligned
with a neighbour into blocks, blocks are set as close as they may, in four ways; the best is taken,
and its blocks are moved towards what they are linked with.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.drawing.layout.rows import ItemKind, Rows

_GAP_OF_BOXES = 36.0
_GAP_OF_LINES = 16.0
_GAP_OF_BOX_AND_LINE = 22.0
_GAP_OF_LABELS = 14.0
_MOST_PAIRED = 400
"""Between rows with more links than this, crossing ones are not weighed against each other."""
_SHIFTS = 8
_BEND_COST = 60.0


@dataclass(frozen=True, slots=True)
class _Alignment:
    """Which items share an x: `root` of each item's block, and the x of each item."""

    root: list[int]
    x: list[float]


def place(rows: Rows) -> tuple[float, list[float]]:
    """Return the x of each item, the leftmost side at 0, and before it how bad that is."""
    conflicts = _conflicts(rows)
    found = [
        _aligned(rows, conflicts, down=down, left=left)
        for down in (True, False)
        for left in (True, False)
    ]
    for one in found:
        _shift(rows, one)
    best = min(found, key=lambda one: _cost(rows, one.x))
    lowest = min(
        (x - item.size.left for x, item in zip(best.x, rows.items, strict=True)), default=0
    )
    return _cost(rows, best.x), [x - lowest for x in best.x]


def gap(rows: Rows, left: int, right: int) -> float:
    """Return how far the axes of two neighbours in a row must lie apart."""
    one, two = rows.items[left], rows.items[right]
    return one.size.right + two.size.left + _gap(one.kind, two.kind)


def _gap(one: ItemKind, two: ItemKind) -> float:
    kinds = {one, two}
    if ItemKind.LABEL in kinds:
        return _GAP_OF_LABELS
    if ItemKind.BEND in kinds:
        return _GAP_OF_LINES if ItemKind.BOX not in kinds else _GAP_OF_BOX_AND_LINE
    return _GAP_OF_BOXES


def _conflicts(rows: Rows) -> frozenset[tuple[int, int]]:
    """Return the links that give way: those that cross a heavier one."""
    place_of = _places(rows)
    between: list[list[tuple[int, int, float]]] = [[] for _ in rows.rows]
    for link in rows.links:
        between[rows.items[link.upper].row].append((link.upper, link.lower, link.weight))
    found: set[tuple[int, int]] = set()
    for links in between:
        if len(links) > _MOST_PAIRED:
            continue
        for n, (upper, lower, weight) in enumerate(links):
            for upper2, lower2, weight2 in links[n + 1 :]:
                one = place_of[upper] - place_of[upper2]
                two = place_of[lower] - place_of[lower2]
                if one * two < 0 and weight != weight2:
                    found.add((upper, lower) if weight < weight2 else (upper2, lower2))
    return frozenset(found)


def _places(rows: Rows) -> list[int]:
    places = [0] * len(rows.items)
    for row in rows.rows:
        for n, item in enumerate(row):
            places[item] = n
    return places


def _aligned(
    rows: Rows, conflicts: frozenset[tuple[int, int]], *, down: bool, left: bool
) -> _Alignment:
    """Return one of the four placements: aligned from above or below, from the left or right."""
    layers = [list(row) if left else list(reversed(row)) for row in rows.rows]
    place_of = [0] * len(rows.items)
    for layer in layers:
        for n, item in enumerate(layer):
            place_of[item] = n
    near: list[list[tuple[float, int]]] = [[] for _ in rows.items]
    for link in rows.links:
        if (link.upper, link.lower) in conflicts:
            continue
        if down:
            near[link.lower].append((link.weight, link.upper))
        else:
            near[link.upper].append((link.weight, link.lower))
    root = _align(layers if down else list(reversed(layers)), near, place_of)
    x = _compact(rows, layers, root, left=left)
    return _Alignment(root, x if left else [-one for one in x])


def _align(
    layers: Sequence[Sequence[int]],
    near: Sequence[Sequence[tuple[float, int]]],
    place_of: Sequence[int],
) -> list[int]:
    root = list(range(len(place_of)))
    taken: set[int] = set()
    for layer in layers:
        last = -1
        for item in layer:
            places = [place_of[one] for _, one in near[item]]
            middle = (len(places) and sum(places) / len(places)) or 0.0
            wanted = sorted(
                near[item],
                key=lambda pair: (-pair[0], abs(place_of[pair[1]] - middle), place_of[pair[1]]),
            )
            for _, one in wanted:
                if one not in taken and last < place_of[one]:
                    taken.add(one)
                    root[item] = root[one]
                    last = place_of[one]
                    break
    return root


def _compact(
    rows: Rows, layers: Sequence[Sequence[int]], root: Sequence[int], *, left: bool
) -> list[float]:
    """Return the x of each item with the blocks as far left as they may, then drawn together."""
    before: dict[int, dict[int, float]] = {one: {} for one in root}
    after: dict[int, dict[int, float]] = {one: {} for one in root}
    for layer in layers:
        for one, two in itertools.pairwise(layer):
            apart = gap(rows, one, two) if left else gap(rows, two, one)
            a, b = root[one], root[two]
            before[b][a] = max(apart, before[b].get(a, 0.0))
            after[a][b] = max(apart, after[a].get(b, 0.0))
    sequence = _sequence(before, after)
    at: dict[int, float] = {}
    for block in sequence:
        at[block] = max((at[one] + apart for one, apart in before[block].items()), default=0.0)
    for block in reversed(sequence):
        if after[block]:
            room = min(at[one] - apart for one, apart in after[block].items())
            at[block] = max(at[block], room)
    return [at[one] for one in root]


def _sequence(before: dict[int, dict[int, float]], after: dict[int, dict[int, float]]) -> list[int]:
    missing = {block: len(ones) for block, ones in before.items()}
    sequence = [block for block, number in missing.items() if number == 0]
    for block in sequence:  # grows while it is read
        for one in after[block]:
            missing[one] -= 1
            if missing[one] == 0:
                sequence.append(one)
    return sequence


def _shift(rows: Rows, found: _Alignment) -> None:
    """Move blocks, as far as their neighbours let them, to where their links pull them."""
    members: dict[int, list[int]] = {}
    for item, root in enumerate(found.root):
        members.setdefault(root, []).append(item)
    pulls: dict[int, list[tuple[float, int]]] = {root: [] for root in members}
    for link in rows.links:
        one, two = found.root[link.upper], found.root[link.lower]
        if one != two:
            pulls[one].append((link.weight, link.lower))
            pulls[two].append((link.weight, link.upper))
    place_of = _places(rows)
    for sweep in range(_SHIFTS):
        for root in members if sweep % 2 == 0 else reversed(members):
            if not pulls[root]:
                continue
            here = found.x[root]
            lower, upper = _median([(found.x[item], weight) for weight, item in pulls[root]])
            if any(rows.items[item].kind is ItemKind.BOX for item in members[root]):
                wanted = (lower + upper) / 2
            else:  # a line is straight at one end rather than at none
                wanted = lower if abs(lower - here) <= abs(upper - here) else upper
            low, high = _room(rows, found, members[root], place_of)
            there = min(max(wanted, here + low), here + high)
            for item in members[root]:
                found.x[item] = there


def _room(
    rows: Rows, found: _Alignment, block: Sequence[int], place_of: Sequence[int]
) -> tuple[float, float]:
    low, high = float("-inf"), float("inf")
    for item in block:
        row, n = rows.rows[rows.items[item].row], place_of[item]
        if n:
            low = max(low, found.x[row[n - 1]] + gap(rows, row[n - 1], item) - found.x[item])
        if n + 1 < len(row):
            high = min(high, found.x[row[n + 1]] - gap(rows, item, row[n + 1]) - found.x[item])
    return min(low, 0.0), max(high, 0.0)


def _median(values: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the two of the weighted values between which the middle lies; mostly it is one."""
    values.sort()
    half = sum(weight for _, weight in values) / 2
    total = 0.0
    for n, (value, weight) in enumerate(values):
        total += weight
        if total == half and n + 1 < len(values):
            return value, values[n + 1][0]
        if total >= half:
            return value, value
    return values[-1][0], values[-1][0]


def _cost(rows: Rows, x: Sequence[float]) -> float:
    """Return how bad a placement is: bends, way to the side, and width."""
    bends = 0.0
    for link in rows.links:
        aside = abs(x[link.upper] - x[link.lower])
        bends += link.weight * (aside + (_BEND_COST if aside > 1.0 else 0.0))
    sides = [
        (one - item.size.left, one + item.size.right)
        for one, item in zip(x, rows.items, strict=True)
    ]
    width = max((side[1] for side in sides), default=0) - min(
        (side[0] for side in sides), default=0
    )
    return bends + 4 * width
