"""Rows: boxes, labels and the bends of long lines, each in a row, linked from row to row.

Lines that join share their bends. A row of labels stands below a rank only where a line has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from orchestrator.drawing.layout.graph import Arc, Size

BEND = Size(0.0, 0.0, 0.0)


class ItemKind(Enum):
    """What stands in a row."""

    BOX = "box"
    LABEL = "label"
    BEND = "bend"


@dataclass(frozen=True, slots=True)
class Item:
    """Something that has a place in a row."""

    kind: ItemKind
    row: int
    size: Size


@dataclass(frozen=True, slots=True)
class Link:
    """A piece of lines, from an item to one in the next row; links of one net meet on their way."""

    upper: int
    lower: int
    weight: float
    net: tuple[str, int, bool]


@dataclass(slots=True)
class Rows:
    """All items, which row has which of them from the left, and how they are linked.

    `ways` has the links of each arc, from its tail to its head. Boxes are the first items.
    """

    items: list[Item] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    ways: list[list[int]] = field(default_factory=list)
    labels: list[int | None] = field(default_factory=list)
    """The item of each arc's label."""

    def add(self, kind: ItemKind, row: int, size: Size) -> int:
        """Put an item at the right end of a row, and return its index."""
        self.items.append(Item(kind, row, size))
        self.rows[row].append(len(self.items) - 1)
        return len(self.items) - 1


class _Linking:
    """Threads arcs through the rows."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._bends: dict[tuple[tuple[str, int, bool], int], int] = {}
        self._links: dict[tuple[int, int, tuple[str, int, bool]], int] = {}

    def thread(self, index: int, arc: Arc, label_row: int | None, *, main: bool) -> None:
        """Lead an arc from its tail to its head, by its label."""
        rows = self._rows
        start, end = rows.items[arc.tail].row, rows.items[arc.head].row
        up = end < start
        net = (arc.group, arc.head, up)
        weight = arc.weight * (_RETURNING if up else _MAIN if main else 1.0)
        label = None
        stations = [arc.tail]
        for row in range(start, end, -1 if up else 1):
            if row == start:
                continue
            if arc.label is not None and row == label_row:
                label = rows.add(ItemKind.LABEL, row, arc.label)
                stations.append(label)
            else:
                stations.append(self._bend(net, row))
        stations.append(arc.head)
        rows.labels[index] = label
        rows.ways[index] = [
            self._link(*((far, near) if up else (near, far)), weight, net)
            for near, far in pairwise(stations)
        ]

    def _bend(self, net: tuple[str, int, bool], row: int) -> int:
        if (net, row) not in self._bends:
            self._bends[net, row] = self._rows.add(ItemKind.BEND, row, BEND)
        return self._bends[net, row]

    def _link(self, upper: int, lower: int, weight: float, net: tuple[str, int, bool]) -> int:
        rows = self._rows
        key = (upper, lower, net)
        if key not in self._links:
            boxes = sum(rows.items[one].kind is ItemKind.BOX for one in (upper, lower))
            self._links[key] = len(rows.links)
            rows.links.append(Link(upper, lower, weight * _STRAIGHTNESS[boxes], net))
        return self._links[key]


_STRAIGHTNESS = (8.0, 2.0, 1.0)
"""By how many ends of a link are boxes: a long line wants to be straight where it passes."""
_MAIN, _RETURNING = 2.0, 0.25
"""How much straighter than others what goes on is drawn, and what goes back."""


def make_rows(
    sizes: Sequence[Size],
    arcs: Sequence[Arc],
    ranks: Sequence[int],
    returns: frozenset[int],
    main: frozenset[int],
) -> Rows:
    """Return the rows of a graph, each in the order in which its items were come by."""
    gaps = [ranks[arc.tail] - (1 if index in returns else 0) for index, arc in enumerate(arcs)]
    labelled = {gap for gap, arc in zip(gaps, arcs, strict=True) if arc.label is not None}
    row_of: dict[int, int] = {}
    row_below: dict[int, int] = {}
    number = 0
    for rank in range(max(ranks, default=0) + 1):
        row_of[rank] = number
        number += 1
        if rank in labelled:
            row_below[rank] = number
            number += 1
    rows = Rows(rows=[[] for _ in range(number)])
    for size, rank in zip(sizes, ranks, strict=True):
        rows.add(ItemKind.BOX, row_of[rank], size)
    linking = _Linking(rows)
    rows.ways, rows.labels = [[] for _ in arcs], [None for _ in arcs]
    spans = [abs(ranks[arc.head] - ranks[arc.tail]) for arc in arcs]
    for index in sorted(range(len(arcs)), key=spans.__getitem__):  # long ones go outside
        linking.thread(index, arcs[index], row_below.get(gaps[index]), main=index in main)
    return rows
