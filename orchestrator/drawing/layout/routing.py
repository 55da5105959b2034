"""Routing: the way of each line through the channels between the rows.

In a channel a net runs down, level on a track of its own, and down again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.drawing.layout.ports import find_ports
from orchestrator.drawing.layout.rows import ItemKind, Rows
from orchestrator.drawing.layout.tracks import TRACK, Net, clashes, find_tracks, untangle

_OPEN, _ABOVE_BOX, _BESIDE_LABEL = 14.0, 20.0, 9.0
"""What a channel leaves free at its sides: below something, above a box, beside labels."""
_NUDGE = 5.0
"""Where two nets lie on each other whichever is above, an item is moved so far to the right."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A link's way: from `above` at its upper end to `below`, level at `track` if they differ.

    `joins` is the x at which it meets what another link of its net has drawn already, None: it
    goes its whole way.
    """

    above: float
    below: float
    track: int
    joins: float | None


@dataclass(frozen=True, slots=True)
class Channels:
    """The way of each link, and the height and the first track of each channel."""

    pieces: list[Piece]
    heights: list[float]
    first: list[float]


def route(rows: Rows, x: list[float]) -> Channels:
    """Return the ways of all links; moves items a bit where lines would lie on each other."""
    moved: set[int] = set()
    while True:  # at most once for each item
        ends = find_ports(rows, x)
        nets = _nets(rows, *ends)
        orders = [untangle([net for net in channel if net.crooked]) for channel in nets]
        found = {_movable(rows, *pair) for order in orders for pair in clashes(order)}
        moving = {item for item in found if item is not None} - moved
        if not moving:
            return _channels(rows, *ends, nets, orders)
        for item in moving:
            x[item] += _NUDGE
        moved |= moving


def _movable(rows: Rows, upper: int, lower: int) -> int | None:
    """Return which item at the ends of two links may move: a bend, else a label."""
    ends = (rows.links[upper].upper, rows.links[lower].lower)
    for kind in (ItemKind.BEND, ItemKind.LABEL):
        for item in ends:
            if rows.items[item].kind is kind:
                return item
    return None


def _nets(rows: Rows, above: Sequence[float], below: Sequence[float]) -> list[list[Net]]:
    """Return the nets of each channel."""
    found: list[dict[tuple[tuple[str, int, bool], int], Net]] = [{} for _ in rows.rows]
    for index, link in enumerate(rows.links):
        meeting = link.upper if link.net[2] else link.lower
        net = found[rows.items[link.upper].row].setdefault((link.net, meeting), Net())
        net.links.append(index)
        net.above.append(above[index])
        net.below.append(below[index])
    return [list(nets.values()) for nets in found]


def _channels(
    rows: Rows,
    above: Sequence[float],
    below: Sequence[float],
    nets: Sequence[Sequence[Net]],
    orders: Sequence[Sequence[Net]],
) -> Channels:
    pieces = [Piece(0.0, 0.0, 0, None)] * len(rows.links)
    heights, first = [], []
    for number, (channel, order) in enumerate(zip(nets, orders, strict=True)):
        tracks = find_tracks(order)
        for net in channel:
            track = tracks.get(id(net), 0)
            for index, joins in _joints(net, above, below).items():
                pieces[index] = Piece(above[index], below[index], track, joins)
        top, bottom = _margins(rows, number)
        heights.append(top + bottom + TRACK * max(tracks.values(), default=0))
        first.append(top)
    return Channels(pieces, heights[:-1], first[:-1])


def _joints(net: Net, above: Sequence[float], below: Sequence[float]) -> dict[int, float | None]:
    """Return where each link of a net meets the nearer ones; of the nearest there is one in all."""
    meeting = below if len(set(net.below)) == 1 else above
    away = {index: above[index] + below[index] - 2 * meeting[index] for index in net.links}
    joints: dict[int, float | None] = {}
    reached: dict[bool, float] = {}
    for index in sorted(net.links, key=lambda index: (abs(away[index]), index)):
        side = away[index] > 0
        joints[index] = reached.get(side, meeting[index]) if joints else None
        reached[side] = meeting[index] + away[index]
    return joints


def _margins(rows: Rows, number: int) -> tuple[float, float]:
    if number + 1 >= len(rows.rows):
        return 0.0, 0.0
    labels = [
        any(rows.items[item].kind is ItemKind.LABEL for item in row)
        for row in rows.rows[number : number + 2]
    ]
    return (
        _BESIDE_LABEL if labels[0] else _OPEN,
        _BESIDE_LABEL if labels[1] else _ABOVE_BOX,
    )
