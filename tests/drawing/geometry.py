"""What is wrong with a scene, measured: overlaps, lines through boxes, labels on boxes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

from orchestrator.drawing.layout import Point, Rect
from orchestrator.drawing.scene import Box, Edge, Scene

NEAR = 0.25


def faults(scene: Scene) -> list[str]:
    """Every fault of a scene, as a sentence; none is what a picture must have."""
    return [
        *_boxes(scene),
        *_frames(scene),
        *_markers(scene),
        *_ends(scene),
        *_lines(scene),
        *_overlaid(scene),
        *_labels(scene),
        *_outside(scene),
    ]


def overlap(one: Rect, two: Rect) -> bool:
    return (
        one.x < two.right - NEAR
        and two.x < one.right - NEAR
        and one.y < two.bottom - NEAR
        and two.y < one.bottom - NEAR
    )


def within(inner: Rect, outer: Rect) -> bool:
    return (
        inner.x >= outer.x - NEAR
        and inner.y >= outer.y - NEAR
        and inner.right <= outer.right + NEAR
        and inner.bottom <= outer.bottom + NEAR
    )


def stroke(one: Point, two: Point) -> Rect:
    """A piece of a line, upright or level, as a box without width or height, for `overlap`."""
    assert one.x == two.x or one.y == two.y, f"{one} to {two} is slanted"
    return Rect(
        min(one.x, two.x) - 2 * NEAR,
        min(one.y, two.y) - 2 * NEAR,
        abs(one.x - two.x) + 4 * NEAR,
        abs(one.y - two.y) + 4 * NEAR,
    )


def shrunk(rect: Rect) -> Rect:
    """A box without its border, on which lines may end."""
    return Rect(rect.x + 1, rect.y + 1, rect.width - 2, rect.height - 2)


def strokes(edge: Edge) -> Iterator[Rect]:
    for way in (edge.points, *edge.strokes):
        yield from (stroke(one, two) for one, two in pairwise(way))


def _boxes(scene: Scene) -> Iterator[str]:
    for one, two in combinations(scene.boxes, 2):
        if one.parent == two.parent and overlap(one.rect, two.rect):
            yield f"{one.state.name} overlaps {two.state.name}"


def _frames(scene: Scene) -> Iterator[str]:
    boxes = {box.state.name: box for box in scene.boxes}
    for box in scene.boxes:
        if box.parent is not None:
            frames = boxes[box.parent].frames
            if not any(within(box.rect, frame) for frame in frames):
                yield f"{box.state.name} is not in a frame of {box.parent}"
        if any(overlap(one, two) for one, two in combinations(box.frames, 2)):
            yield f"frames of {box.state.name} overlap"
        if not all(within(frame, box.rect) for frame in box.frames):
            yield f"a frame of {box.state.name} is not in it"


def _markers(scene: Scene) -> Iterator[str]:
    for marker in scene.markers:
        spot = Rect(marker.center.x - 6, marker.center.y - 6, 12, 12)
        for box in scene.boxes:
            if overlap(spot, box.rect) and not any(within(spot, one) for one in box.frames):
                yield f"a marker lies on {box.state.name}"


def _ends(scene: Scene) -> Iterator[str]:
    boxes = {box.state.name: box for box in scene.boxes}
    for edge in scene.edges:
        one = edge.transition
        if not _on_border(edge.points[0], boxes[one.source].rect):
            yield f"an arrow of {one.source} does not begin at it"
        if one.target is not None and not _on_border(edge.points[-1], boxes[one.target].rect):
            yield f"an arrow to {one.target} does not end at it"


def _on_border(point: Point, rect: Rect) -> bool:
    spot = Rect(point.x, point.y, 0, 0)
    return within(spot, rect) and not overlap(
        Rect(point.x - 1, point.y - 1, 2, 2),
        Rect(rect.x + 2, rect.y + 2, rect.width - 4, rect.height - 4),
    )


def _lines(scene: Scene) -> Iterator[str]:
    boxes = {box.state.name: box for box in scene.boxes}
    for edge in scene.edges:
        around = ancestors(boxes, edge.transition.source)
        pieces = list(strokes(edge))
        for box in scene.boxes:
            if box.state.name in around:
                continue
            inside = shrunk(box.rect)
            if any(overlap(piece, inside) for piece in pieces):
                yield f"the arrow {_named(edge)} runs through {box.state.name}"


def _overlaid(scene: Scene) -> Iterator[str]:
    """Lines that run on each other, but those that join since they lead to the same place."""
    ways = [
        (edge, [(one, two) for one, two in pairwise(edge.points) if one != two])
        for edge in scene.edges
    ]
    for (one, pieces), (two, others) in combinations(ways, 2):
        same = one.transition.target is not None and one.transition.target == two.transition.target
        if same and one.transition.kind == two.transition.kind:
            continue
        if any(_together(piece, other) > 1 for piece in pieces for other in others):
            yield f"the arrows {_named(one)} and {_named(two)} run on each other"


def _together(one: tuple[Point, Point], two: tuple[Point, Point]) -> float:
    """How far two pieces of lines run on each other."""
    (a, b), (c, d) = one, two
    if abs(a.x - b.x) < NEAR and abs(c.x - d.x) < NEAR and abs(a.x - c.x) < 1:
        return min(max(a.y, b.y), max(c.y, d.y)) - max(min(a.y, b.y), min(c.y, d.y))
    if abs(a.y - b.y) < NEAR and abs(c.y - d.y) < NEAR and abs(a.y - c.y) < 1:
        return min(max(a.x, b.x), max(c.x, d.x)) - max(min(a.x, b.x), min(c.x, d.x))
    return 0.0


def ancestors(boxes: dict[str, Box], name: str) -> set[str]:
    found: set[str] = set()
    parent = boxes[name].parent
    while parent is not None:
        found.add(parent)
        parent = boxes[parent].parent
    return found


def _labels(scene: Scene) -> Iterator[str]:
    boxes = {box.state.name: box for box in scene.boxes}
    labelled = [(edge, edge.label_rect) for edge in scene.edges if edge.label_rect is not None]
    for edge, label in labelled:
        around = ancestors(boxes, edge.transition.source)
        for box in scene.boxes:
            if box.state.name not in around and overlap(label, box.rect):
                yield f"the label of {_named(edge)} lies on {box.state.name}"
        for other in scene.edges:
            if other is not edge and any(overlap(label, piece) for piece in strokes(other)):
                yield f"the label of {_named(edge)} lies on the arrow {_named(other)}"
    for (one, rect), (two, rect2) in combinations(labelled, 2):
        if overlap(rect, rect2):
            yield f"the labels of {_named(one)} and {_named(two)} overlap"


def _named(edge: Edge) -> str:
    return f"{edge.transition.source} -{edge.transition.kind}-> {edge.transition.target}"


def _outside(scene: Scene) -> Iterator[str]:
    canvas = Rect(0, 0, scene.width, scene.height)
    for box in scene.boxes:
        if not within(box.rect, canvas):
            yield f"{box.state.name} is outside of the picture"
    for edge in scene.edges:
        if not all(within(Rect(one.x, one.y, 0, 0), canvas) for one in edge.points):
            yield f"the arrow {_named(edge)} is outside of the picture"
        if edge.label_rect is not None and not within(edge.label_rect, canvas):
            yield f"the label of {_named(edge)} is outside of the picture"
