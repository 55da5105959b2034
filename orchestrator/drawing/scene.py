"""The scene: every box, arrow and marker of a machine at its place, boxes in boxes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from orchestrator.asl.states import State
from orchestrator.drawing.face import Face
from orchestrator.drawing.layout import Point, Rect
from orchestrator.drawing.transition import Transition


@dataclass(frozen=True, slots=True)
class Box:
    """A state's box. `parent` is the state around it, `frames` are those of its branches."""

    state: State
    parent: str | None
    rect: Rect
    face: Face
    frames: tuple[Rect, ...] = ()

    def moved(self, x: float, y: float) -> Box:
        """Return the box so much further right and down."""
        frames = tuple(frame.moved(x, y) for frame in self.frames)
        return replace(self, rect=self.rect.moved(x, y), frames=frames)


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow. `strokes` are what is to be drawn of it where arrows to the same place join."""

    transition: Transition
    points: tuple[Point, ...]
    strokes: tuple[tuple[Point, ...], ...]
    label: tuple[str, ...]
    label_rect: Rect | None

    def moved(self, x: float, y: float) -> Edge:
        """Return the arrow so much further right and down."""
        return replace(
            self,
            points=tuple(point.moved(x, y) for point in self.points),
            strokes=tuple(tuple(one.moved(x, y) for one in stroke) for stroke in self.strokes),
            label_rect=None if self.label_rect is None else self.label_rect.moved(x, y),
        )


@dataclass(frozen=True, slots=True)
class Marker:
    """Where a scope begins or ends; `points` are the line from the start to its first state."""

    center: Point
    start: bool
    points: tuple[Point, ...] = ()

    def moved(self, x: float, y: float) -> Marker:
        """Return the marker so much further right and down."""
        points = tuple(point.moved(x, y) for point in self.points)
        return Marker(self.center.moved(x, y), self.start, points)


@dataclass(frozen=True, slots=True)
class Scene:
    """All that is drawn of a scope and what is in it; outer boxes come before inner ones."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    markers: tuple[Marker, ...]

    def moved(self, x: float, y: float) -> Scene:
        """Return the scene with everything in it so much further right and down."""
        return replace(
            self,
            boxes=tuple(box.moved(x, y) for box in self.boxes),
            edges=tuple(edge.moved(x, y) for edge in self.edges),
            markers=tuple(marker.moved(x, y) for marker in self.markers),
        )
