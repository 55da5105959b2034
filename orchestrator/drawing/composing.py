"""Composing: a machine becomes a scene.

Transitions never leave their scope, so that each is laid out by itself, the innermost first, and
then stands as one box in the scope around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from orchestrator.asl.machine import Machine, branches_of
from orchestrator.asl.states import Branch, State
from orchestrator.drawing.face import face
from orchestrator.drawing.label import label, label_size
from orchestrator.drawing.layout import Arc, Plan, Point, Rect, Size, lay_out
from orchestrator.drawing.scene import Box, Edge, Marker, Scene
from orchestrator.drawing.transition import EdgeKind, Transition, transitions

MARKER_RADIUS: Final = 6.0
_MARKER = Size(MARKER_RADIUS, MARKER_RADIUS, 2 * MARKER_RADIUS)
_FRAME_PADDING = 16.0
_FRAME_GAP = 12.0
_WIDEST_SHELF = 1500.0
"""Branches go on below each other where they are wider than this together."""
_LOOP, _LOOP_TOP, _LOOP_BOTTOM = 18.0, 12.0, 40.0
"""How far the arrow of a state to itself reaches to the right of it, and where it meets it."""
_TO_END = 20.0
_BEGINNING = 8.0
_WEIGHTS = {
    EdgeKind.NEXT: 4.0,
    EdgeKind.CHOICE: 3.0,
    EdgeKind.CALL: 3.0,
    EdgeKind.TIMER: 2.0,
    EdgeKind.ERROR: 1.0,
    EdgeKind.UNDO: 1.0,
}


def compose(machine: Machine) -> Scene:
    """Return the scene of a machine."""
    return _scope(machine, Branch(machine.start_at, machine.states), None)


def _scope(machine: Machine, scope: Branch, parent: str | None) -> Scene:
    found = transitions(machine, scope)
    last = _last(found)
    bodies = [
        _ended(_body(machine, state, parent), last.get(state.name))
        for state in scope.states.values()
    ]
    loops = {one.source: _loop(one) for one in found if one.source == one.target}
    ways = [one for one in found if one.source != one.target and one.source not in last]
    index = {name: n for n, name in enumerate(scope.states, 1)}
    sizes = [_MARKER]
    for body in bodies:
        loop = loops.get(body.boxes[0].state.name)
        margin = 0.0 if loop is None else _LOOP + (loop.label_rect or _NOWHERE).width
        half = body.width / 2
        sizes.append(Size(half, half + margin, body.height, margin))
    plan = lay_out(*_graph(scope, ways, index, sizes))
    pieces = [
        body.moved(place.x - body.width / 2, place.y)
        for body, place in zip(bodies, plan.places[1:], strict=False)
    ]
    drawn = [
        Edge(one, line.points, line.strokes, label(one), line.label)
        for one, line in zip(ways, plan.lines[1:], strict=True)
    ]
    drawn += [
        loops[piece.boxes[0].state.name].moved(piece.boxes[0].rect.right, piece.boxes[0].rect.y)
        for piece in pieces
        if piece.boxes[0].state.name in loops
    ]
    return Scene(
        plan.width,
        plan.height,
        tuple(box for piece in pieces for box in piece.boxes),
        (*drawn, *(edge for piece in pieces for edge in piece.edges)),
        (*_markers(plan, len(bodies)), *(one for piece in pieces for one in piece.markers)),
    )


def _last(found: Sequence[Transition]) -> dict[str, Transition]:
    """Return the transitions that end a scope from states that lead nowhere else."""
    leaving = Counter(one.source for one in found)
    return {one.source: one for one in found if one.target is None and leaving[one.source] == 1}


def _ended(body: Scene, end: Transition | None) -> Scene:
    """Return a state's scene with the end of its scope close below it, if it leads only there."""
    if end is None:
        return body
    x, y = body.width / 2, body.height + _TO_END
    way = (Point(x, body.height), Point(x, y))
    edge = Edge(end, way, (way,), (), None)
    marker = Marker(Point(x, y + MARKER_RADIUS), False)
    return replace(
        body,
        height=y + 2 * MARKER_RADIUS,
        edges=(*body.edges, edge),
        markers=(*body.markers, marker),
    )


_NOWHERE = Rect(0.0, 0.0, 0.0, 0.0)


def _graph(
    scope: Branch, ways: Sequence[Transition], index: dict[str, int], sizes: list[Size]
) -> tuple[list[Size], list[Arc]]:
    """Return what is to be laid out: the start, the states, and an end for each that ends."""
    arcs = [Arc(0, index[scope.start_at], "start", _BEGINNING)]
    for one in ways:
        head = len(sizes) if one.target is None else index[one.target]
        if one.target is None:
            sizes.append(_MARKER)
        written = label(one)
        size = label_size(written) if written else None
        arcs.append(Arc(index[one.source], head, one.kind, _WEIGHTS[one.kind], size))
    return sizes, arcs


def _markers(plan: Plan, states: int) -> list[Marker]:
    start = Marker(plan.places[0].moved(0.0, MARKER_RADIUS), True, plan.lines[0].points)
    ends = plan.places[1 + states :]
    return [start, *(Marker(place.moved(0.0, MARKER_RADIUS), False) for place in ends)]


def _loop(transition: Transition) -> Edge:
    """Return the arrow of a state to itself, from the upper right corner of its box."""
    written = label(transition)
    x, middle = _LOOP - 4.0, (_LOOP_TOP + _LOOP_BOTTOM) / 2
    points = (
        Point(0.0, _LOOP_BOTTOM),
        Point(x, _LOOP_BOTTOM),
        Point(x, _LOOP_TOP),
        Point(0.0, _LOOP_TOP),
    )
    size = label_size(written)
    where = Rect(_LOOP, middle - size.height / 2, size.width, size.height) if written else None
    return Edge(transition, points, (points,), written, where)


# ----------------------------------------------------------------------------------- boxes


def _body(machine: Machine, state: State, parent: str | None) -> Scene:
    """Return the scene of a state's box and what is in it, at the origin."""
    inner = [_scope(machine, branch, state.name) for branch in branches_of(state)]
    if not inner:
        written = face(state)
        rect = Rect(0.0, 0.0, written.width, written.height)
        return Scene(rect.width, rect.height, (Box(state, parent, rect, written),), (), ())
    needed = max(frame.right for frame in _shelves(inner, 0.0)) + _FRAME_GAP
    written = face(state, needed)
    frames = _shelves(inner, written.height)
    wide = max(written.width, needed)
    frames = [frame.moved((wide - needed) / 2, 0.0) for frame in frames]
    rect = Rect(0.0, 0.0, wide, max(frame.bottom for frame in frames) + _FRAME_GAP)
    pieces = [
        one.moved(frame.x + (frame.width - one.width) / 2, frame.y + _FRAME_PADDING)
        for one, frame in zip(inner, frames, strict=True)
    ]
    return Scene(
        rect.width,
        rect.height,
        (
            Box(state, parent, rect, written, tuple(frames)),
            *(box for piece in pieces for box in piece.boxes),
        ),
        tuple(edge for piece in pieces for edge in piece.edges),
        tuple(marker for piece in pieces for marker in piece.markers),
    )


def _shelves(scenes: Sequence[Scene], top: float) -> list[Rect]:
    """Return where branches stand: side by side, and on below where that gets too wide."""
    frames: list[Rect] = []
    x, y, deepest = _FRAME_GAP, top, 0.0
    for one in scenes:
        wide, high = one.width + 2 * _FRAME_PADDING, one.height + 2 * _FRAME_PADDING
        if frames and x + wide > _WIDEST_SHELF:
            x, y, deepest = _FRAME_GAP, y + deepest + _FRAME_GAP, 0.0
        frames.append(Rect(x, y, wide, high))
        x += wide + _FRAME_GAP
        deepest = max(deepest, high)
    level = {one.y: max(two.height for two in frames if two.y == one.y) for one in frames}
    return [replace(one, height=level[one.y]) for one in frames]
