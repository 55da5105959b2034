"""Ranks: which arcs point up, and in which rank each box stands."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.drawing.layout.graph import Arc

LIGHT = 1.0
"""The weight up to which an arc goes on only where nothing else does."""
_PULLS = 4
"""How often boxes are pulled towards what they lead to."""


def find_returns(count: int, arcs: Sequence[Arc]) -> frozenset[int]:
    """Return the arcs that close a circle, by index: those that point back to where one came from.

    Follows the arcs from box 0 in their order, so that what comes first in the text leads down.
    """
    leaving: list[list[int]] = [[] for _ in range(count)]
    for index, arc in enumerate(arcs):
        leaving[arc.tail].append(index)
    fresh, open_, closed = 0, 1, 2
    colour = [fresh] * count
    returns: set[int] = set()
    for root in range(count):
        if colour[root] != fresh:
            continue
        colour[root] = open_
        path = [(root, iter(leaving[root]))]
        while path:
            box, following = path[-1]
            index = next(following, -1)
            if index < 0:
                colour[box] = closed
                path.pop()
                continue
            head = arcs[index].head
            if colour[head] == open_:
                returns.add(index)
            elif colour[head] == fresh:
                colour[head] = open_
                path.append((head, iter(leaving[head])))
    return frozenset(returns)


def find_ranks(count: int, arcs: Sequence[Arc], returns: frozenset[int]) -> list[int]:
    """Return the rank of each box: every arc leads at least one down, the returning ones up."""
    above: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    below: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    for index, arc in enumerate(arcs):
        upper, lower = (arc.head, arc.tail) if index in returns else (arc.tail, arc.head)
        above[lower].append((upper, arc.weight))
        below[upper].append((lower, arc.weight))
    order = _downwards(above, below)
    ranks = [0] * count
    for box in order:
        ranks[box] = max((ranks[upper] + 1 for upper, _ in above[box]), default=0)
    for _ in range(_PULLS):
        for box in reversed(order):
            pull = sum(weight for _, weight in below[box]) - sum(weight for _, weight in above[box])
            if below[box] and pull > 0:
                ranks[box] = min(ranks[lower] for lower, _ in below[box]) - 1
    lowest = min(ranks, default=0)
    return [rank - lowest for rank in ranks]


def find_main(arcs: Sequence[Arc], ranks: Sequence[int], returns: frozenset[int]) -> frozenset[int]:
    """Return the arcs that go on, by index: of each box that with the longest way below it.

    Heavy ones go before light ones, what comes first in the text before what comes later.
    """
    longest = [0] * len(ranks)
    main: dict[int, tuple[bool, int, int]] = {}
    down = [index for index in range(len(arcs)) if index not in returns]
    for index in sorted(down, key=lambda index: (-ranks[arcs[index].head], index)):
        arc = arcs[index]
        key = (arc.weight > LIGHT, longest[arc.head], -index)
        main[arc.tail] = max(main.get(arc.tail, key), key)
        longest[arc.tail] = max(longest[arc.tail], longest[arc.head] + 1)
    return frozenset(-key[2] for key in main.values())


def _downwards(
    above: list[list[tuple[int, float]]], below: list[list[tuple[int, float]]]
) -> list[int]:
    missing = [len(upper) for upper in above]
    order = [box for box, number in enumerate(missing) if number == 0]
    for box in order:  # grows while it is read
        for lower, _ in below[box]:
            missing[lower] -= 1
            if missing[lower] == 0:
                order.append(lower)
    return order
