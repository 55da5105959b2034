"""The layout as a whole: ranks, rows, order, x, ways, y."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from orchestrator.drawing.layout.graph import Arc, Line, Plan, Point, Rect, Size
from orchestrator.drawing.layout.order import orders
from orchestrator.drawing.layout.placing import place
from orchestrator.drawing.layout.ranks import find_main, find_ranks, find_returns
from orchestrator.drawing.layout.routing import Channels, route
from orchestrator.drawing.layout.rows import ItemKind, Rows, make_rows
from orchestrator.drawing.layout.tracks import TRACK

_NEAR = 0.5
_MERGE = 6.0
"""How far a line goes on with the one that it joins, so that it merges in a curve."""
_STRAIGHT = 2
"""Points of a way that is not crooked."""


def lay_out(sizes: Sequence[Size], arcs: Sequence[Arc]) -> Plan:
    """Return places for boxes and ways for arcs; what box 0 leads to lies below it.

    No arc leads from a box to itself.
    """
    returns = find_returns(len(sizes), arcs)
    ranks = find_ranks(len(sizes), arcs, returns)
    rows = make_rows(sizes, arcs, ranks, returns, find_main(arcs, ranks, returns))
    x = _place(rows)
    channels = route(rows, x)
    tops = _tops(rows, channels)
    heights = [_height(rows, row) for row in rows.rows]
    places = tuple(Point(x[box], tops[rows.items[box].row]) for box in range(len(sizes)))
    lines = _Lines(rows, x, channels, tops, heights).draw(arcs, returns)
    width = max((at + item.size.right for at, item in zip(x, rows.items, strict=True)), default=0.0)
    return Plan(width, tops[-1] + heights[-1] if tops else 0.0, places, lines)


def _place(rows: Rows) -> list[float]:
    """Bring the items into the best of several orders, and return the x of each."""
    best: tuple[float, list[float], list[list[int]]] | None = None
    for one in orders(rows):
        rows.rows[:] = one
        cost, x = place(rows)
        if best is None or cost < best[0]:
            best = cost, x, one
    if best is None:
        return []
    rows.rows[:] = best[2]
    return best[1]


def _height(rows: Rows, row: Sequence[int]) -> float:
    return max((rows.items[item].size.height for item in row), default=0.0)


def _tops(rows: Rows, channels: Channels) -> list[float]:
    heights = [_height(rows, row) for row in rows.rows]
    steps = [height + gap for height, gap in zip(heights, channels.heights, strict=False)]
    return list(accumulate(steps, initial=0.0))


class _Lines:
    """Makes ways of links."""

    def __init__(
        self,
        rows: Rows,
        x: Sequence[float],
        channels: Channels,
        tops: Sequence[float],
        heights: Sequence[float],
    ) -> None:
        self._rows = rows
        self._x = x
        self._channels = channels
        self._tops = tops
        self._heights = heights
        self._drawn: set[int] = set()

    def draw(self, arcs: Sequence[Arc], returns: frozenset[int]) -> tuple[Line, ...]:
        """Return the line of each arc."""
        return tuple(self._line(index, up=index in returns) for index in range(len(arcs)))

    def _line(self, index: int, *, up: bool) -> Line:
        points: list[Point] = []
        strokes: list[tuple[Point, ...]] = []
        for link in self._rows.ways[index]:
            way = self._way(link)
            stroke = self._stroke(link, way, up=up)
            points += reversed(way) if up else way
            if link not in self._drawn:
                self._drawn.add(link)
                strokes.append(tuple(reversed(stroke)) if up else stroke)
        return Line(_plain(points), tuple(strokes), self._label(index))

    def _stroke(self, index: int, way: tuple[Point, ...], *, up: bool) -> tuple[Point, ...]:
        """Return what is to be drawn of a link's way, from above: up to where it joins others."""
        joins = self._channels.pieces[index].joins
        if joins is None or len(way) == _STRAIGHT:
            return way
        start, left, right, end = way
        if up:
            return (*_merge(joins, left, -_MERGE), right, end)
        return (start, left, *reversed(_merge(joins, right, _MERGE)))

    def _way(self, index: int) -> tuple[Point, ...]:
        link, piece = self._rows.links[index], self._channels.pieces[index]
        row = self._rows.items[link.upper].row
        start = Point(piece.above, self._end(link.upper, lower=True))
        end = Point(piece.below, self._end(link.lower, lower=False))
        if abs(piece.above - piece.below) <= _NEAR:
            return (start, Point(start.x, end.y))
        level = self._tops[row] + self._heights[row] + self._channels.first[row]
        level += TRACK * piece.track
        return (start, Point(start.x, level), Point(end.x, level), end)

    def _end(self, index: int, *, lower: bool) -> float:
        """Return where a line meets an item: the side of a box, the middle of a row else."""
        item = self._rows.items[index]
        if item.kind is ItemKind.BOX:
            return self._tops[item.row] + (item.size.height if lower else 0.0)
        return self._tops[item.row] + self._heights[item.row] / 2

    def _label(self, index: int) -> Rect | None:
        label = self._rows.labels[index]
        if label is None:
            return None
        item = self._rows.items[label]
        middle = self._tops[item.row] + self._heights[item.row] / 2
        return Rect(
            self._x[label] - item.size.left,
            middle - item.size.height / 2,
            item.size.width,
            item.size.height,
        )


def _merge(joins: float, corner: Point, on: float) -> tuple[Point, ...]:
    """Return where a line ends that joins another one: beside it, or a bit further on with it."""
    joint = Point(joins, corner.y)
    return (joint.moved(0.0, on), joint) if joins == corner.x else (joint,)


def _plain(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return the same way without places that are passed straight on."""
    plain: list[Point] = []
    for point in points:
        if plain and point == plain[-1]:
            continue
        if len(plain) > 1 and plain[-1].x == plain[-2].x == point.x:
            plain[-1] = point
        else:
            plain.append(point)
    return tuple(plain)
