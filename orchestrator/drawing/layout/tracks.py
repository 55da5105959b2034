"""Tracks: which net of a channel runs level above which, so that nets cross seldom.

None lies on another one, if there is a way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

TRACK = 10.0
"""How far level lines lie apart."""
_STRAIGHT = 0.5
_TOUCHING = 1.0
_OVERLAP_COST = 100
_MOST_MOVES, _MOST_MOVED = 8, 80
"""How often the nets of a channel are moved to better tracks, if there are not more than these."""


@dataclass(slots=True)
class Net:
    """The links that meet in one channel."""

    links: list[int] = field(default_factory=list)
    above: list[float] = field(default_factory=list)
    below: list[float] = field(default_factory=list)

    @property
    def low(self) -> float:
        """Return the x of its left end."""
        return min(*self.above, *self.below)

    @property
    def high(self) -> float:
        """Return the x of its right end."""
        return max(*self.above, *self.below)

    @property
    def crooked(self) -> bool:
        """Tell whether it runs level somewhere."""
        return self.high - self.low > _STRAIGHT


def find_tracks(order: Sequence[Net]) -> dict[int, int]:
    """Return the track of each net, by its identity; the uppermost is 0."""
    tracks: dict[int, int] = {}
    for net in order:
        taken = [
            tracks[id(other)]
            for other in order
            if id(other) in tracks and other.low - TRACK < net.high and net.low - TRACK < other.high
        ]
        tracks[id(net)] = max(taken, default=-1) + 1
    return tracks


def untangle(nets: list[Net]) -> list[Net]:
    """Return the nets from above to below, so that few cross and none lies on another one."""
    cost = [[0] * len(nets) for _ in nets]  # of the first above the second
    for a, one in enumerate(nets):
        for b, two in enumerate(nets):
            if a != b and one.low <= two.high and two.low <= one.high:
                cost[a][b] = _crossings(one, two)
    remaining = list(range(len(nets)))
    order: list[int] = []
    while remaining:  # the one least in the way goes first
        first = min(
            remaining,
            key=lambda a: (sum(cost[a][b] - cost[b][a] for b in remaining), nets[a].low, a),
        )
        remaining.remove(first)
        order.append(first)
    for _ in range(_MOST_MOVES if len(order) <= _MOST_MOVED else 0):
        if sum(_moved(order, net, cost) for net in range(len(nets))) == 0:
            break
    return [nets[net] for net in order]


def _moved(order: list[int], net: int, cost: list[list[int]]) -> bool:
    """Move a net to where it costs least; tell whether that is elsewhere."""
    here = order.index(net)
    others = [one for one in order if one != net]
    total = sum(cost[net][one] for one in others)
    costs = [total]  # of its place before each of the others, and behind the last
    for one in others:
        total += cost[one][net] - cost[net][one]
        costs.append(total)
    best = min(range(len(costs)), key=lambda place: (costs[place], abs(place - here)))
    if costs[best] >= costs[here]:
        return False
    order[:] = [*others[:best], net, *others[best:]]
    return True


def _crossings(upper: Net, lower: Net) -> int:
    """Return how often two nets cross with one above the other, lying on each other the dearest."""
    crossings = sum(upper.low < x < upper.high for x in lower.above)
    crossings += sum(lower.low < x < lower.high for x in upper.below)
    overlaps = sum(abs(x - x2) < _TOUCHING for x in upper.below for x2 in lower.above)
    return crossings + _OVERLAP_COST * overlaps


def clashes(order: Sequence[Net]) -> Iterator[tuple[int, int]]:
    """Yield pairs of links that lie on each other: of the lower net, and of the upper one."""
    for place, upper in enumerate(order):
        for lower in order[place + 1 :]:
            for link, x in zip(upper.links, upper.below, strict=True):
                for other, x2 in zip(lower.links, lower.above, strict=True):
                    if abs(x - x2) < _TOUCHING:
                        yield other, link
