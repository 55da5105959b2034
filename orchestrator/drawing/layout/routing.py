"""Routing: where lines meet boxes, and the way of each through the channels between the rows.

In a channel a net runs down, level on a track of its own, and down again. Tracks are ordered so
that nets cross seldom and never lie on each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from orchestrator.drawing.layout.rows import ItemKind, Link, Rows

TRACK = 10.0
"""How far level lines lie apart."""
_PORT_MARGIN = 14.0
_PORT_GAP = 16.0
_OFF_AXIS = 0.25
"""By how much of a box's width its only line may miss the axis for the sake of being straight."""
_STRAIGHT = 0.5
_OVERLAP_COST = 100
_OPEN, _ABOVE_BOX, _BESIDE_LABEL = 14.0, 20.0, 9.0
"""What a channel leaves free at its sides: below something, above a box, beside labels."""


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


@dataclass(slots=True)
class _Net:
    """The links that meet in one channel."""

    links: list[int] = field(default_factory=list)
    above: list[float] = field(default_factory=list)
    below: list[float] = field(default_factory=list)

    @property
    def low(self) -> float:
        return min(*self.above, *self.below)

    @property
    def high(self) -> float:
        return max(*self.above, *self.below)


@dataclass(frozen=True, slots=True)
class Channels:
    """The way of each link, and the height and the first track of each channel."""

    pieces: list[Piece]
    heights: list[float]
    first: list[float]


def route(rows: Rows, x: Sequence[float]) -> Channels:
    """Return the ways of all links."""
    above, below = _ports(rows, x)
    channels: list[dict[tuple[tuple[str, int, bool], int], _Net]] = [{} for _ in rows.rows]
    for index, link in enumerate(rows.links):
        meeting = link.upper if link.net[2] else link.lower
        nets = channels[rows.items[link.upper].row]
        net = nets.setdefault((link.net, meeting), _Net())
        net.links.append(index)
        net.above.append(above[index])
        net.below.append(below[index])
    pieces = [Piece(0.0, 0.0, 0, None)] * len(rows.links)
    heights, first = [], []
    for number, nets in enumerate(channels):
        crooked = [net for net in nets.values() if net.high - net.low > _STRAIGHT]
        tracks = _tracks(crooked)
        for net in nets.values():
            track = tracks.get(id(net), 0)
            for index, joins in _joints(net, above, below).items():
                pieces[index] = Piece(above[index], below[index], track, joins)
        top, bottom = _margins(rows, number)
        heights.append(top + bottom + TRACK * max(tracks.values(), default=0))
        first.append(top)
    return Channels(pieces, heights[:-1], first[:-1])


def _joints(net: _Net, above: Sequence[float], below: Sequence[float]) -> dict[int, float | None]:
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


# ----------------------------------------------------------------------------------- ports


def _ports(rows: Rows, x: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the x at which each link leaves its upper item, and meets its lower one."""
    above = [x[link.upper] for link in rows.links]
    below = [x[link.lower] for link in rows.links]
    tops: defaultdict[int, dict[tuple[object, ...], list[int]]] = defaultdict(dict)
    bottoms: defaultdict[int, dict[tuple[object, ...], list[int]]] = defaultdict(dict)
    for index, link in enumerate(rows.links):
        if rows.items[link.lower].kind is ItemKind.BOX:
            tops[link.lower].setdefault(_port(link, index, upper=False), []).append(index)
        if rows.items[link.upper].kind is ItemKind.BOX:
            bottoms[link.upper].setdefault(_port(link, index, upper=True), []).append(index)
    for box, ports in tops.items():
        _spread(rows, box, x, ports, above, below)
    for box, ports in bottoms.items():
        _spread(rows, box, x, ports, below, above)
    return above, below


def _port(link: Link, index: int, *, upper: bool) -> tuple[object, ...]:
    """Return what tells the ports of a side apart: the net where it meets, else the link."""
    return (link.net,) if link.net[2] is upper else (link.net, index)


def _spread(
    rows: Rows,
    box: int,
    x: Sequence[float],
    ports: dict[tuple[object, ...], list[int]],
    far: Sequence[float],
    near: list[float],
) -> None:
    size = rows.items[box].size
    low = min(x[box] - size.left + _PORT_MARGIN, x[box])
    high = max(x[box] + size.right - size.margin - _PORT_MARGIN, x[box])
    wanted = [
        (min((far[index] for index in links), key=lambda at: abs(at - x[box])), links)
        for links in ports.values()
    ]
    wanted.sort(key=lambda pair: (pair[0], pair[1]))
    if len(wanted) == 1 and abs(wanted[0][0] - x[box]) > (high - low) * _OFF_AXIS:
        at = [min(max(x[box], low), high)]
    else:
        at = spread([min(max(one, low), high) for one, _ in wanted], low, high)
    for place, (_, links) in zip(at, wanted, strict=True):
        for index in links:
            near[index] = place


def spread(wanted: Sequence[float], low: float, high: float) -> list[float]:
    """Return places between `low` and `high`, apart from each other, close to sorted wishes."""
    apart = min(_PORT_GAP, (high - low) / max(len(wanted) - 1, 1))
    groups: list[tuple[float, int]] = []  # the first wish of each, as if they stood alone
    for n, one in enumerate(wanted):
        groups.append((one - n * apart, 1))
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            (value, number), (value2, number2) = groups[-2:]
            both = (value * number + value2 * number2) / (number + number2)
            groups[-2:] = [(both, number + number2)]
    flat = [value for value, number in groups for _ in range(number)]
    last = len(wanted) - 1
    return [min(max(value, low), high - last * apart) + n * apart for n, value in enumerate(flat)]


# ---------------------------------------------------------------------------------- tracks


def _tracks(nets: list[_Net]) -> dict[int, int]:
    """Return the track of each net, the uppermost is 0."""
    order = _untangled(nets)
    tracks: dict[int, int] = {}
    for net in order:
        taken = [
            tracks[id(other)]
            for other in order
            if id(other) in tracks and other.low - TRACK < net.high and net.low - TRACK < other.high
        ]
        tracks[id(net)] = max(taken, default=-1) + 1
    return tracks


def _untangled(nets: list[_Net]) -> list[_Net]:
    """Return the nets from above to below, so that few cross: the one least in the way first."""
    cost = [[0] * len(nets) for _ in nets]  # of the first above the second
    for a, one in enumerate(nets):
        for b, two in enumerate(nets):
            if a != b and one.low < two.high and two.low < one.high:
                cost[a][b] = _crossings(one, two)
    remaining = list(range(len(nets)))
    order: list[_Net] = []
    while remaining:
        first = min(
            remaining,
            key=lambda a: (sum(cost[a][b] - cost[b][a] for b in remaining), nets[a].low, a),
        )
        remaining.remove(first)
        order.append(nets[first])
    return order


def _crossings(upper: _Net, lower: _Net) -> int:
    """Return how often two nets cross with one above the other, lying on each other the dearest."""
    crossings = sum(upper.low < x < upper.high for x in lower.above)
    crossings += sum(lower.low < x < lower.high for x in upper.below)
    overlaps = sum(abs(x - x2) < _STRAIGHT for x in upper.below for x2 in lower.above)
    return crossings + _OVERLAP_COST * overlaps
