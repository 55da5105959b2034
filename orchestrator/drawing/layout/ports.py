"""Ports: where lines meet the boxes that they lead to and from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from orchestrator.drawing.layout.rows import ItemKind, Link, Rows

_MARGIN = 14.0
_GAP = 16.0
_OFF_AXIS = 0.25
"""By how much of a box's width its only line may miss the axis for the sake of being straight."""


def find_ports(rows: Rows, x: Sequence[float]) -> tuple[list[float], list[float]]:
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
    low = min(x[box] - size.left + _MARGIN, x[box])
    high = max(x[box] + size.right - size.margin - _MARGIN, x[box])
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
    apart = min(_GAP, (high - low) / max(len(wanted) - 1, 1))
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
