"""What goes into a layout, and what comes out: lengths are in the drawing's units, y grows down."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A place."""

    x: float
    y: float

    def moved(self, x: float, y: float) -> Point:
        """Return the place that lies so much further right and down."""
        return Point(self.x + x, self.y + y)


@dataclass(frozen=True, slots=True)
class Rect:
    """A box with upright sides, `x` and `y` at its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Return the x of the right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Return the y of the lower side."""
        return self.y + self.height

    def moved(self, x: float, y: float) -> Rect:
        """Return the same box so much further right and down."""
        return Rect(self.x + x, self.y + y, self.width, self.height)


@dataclass(frozen=True, slots=True)
class Size:
    """How far something reaches to the left and right of its axis, where lines meet it.

    `margin` of it on the right takes no lines.
    """

    left: float
    right: float
    height: float
    margin: float = 0.0

    @property
    def width(self) -> float:
        """Return how wide it is."""
        return self.left + self.right


@dataclass(frozen=True, slots=True)
class Arc:
    """A connection from one box to another one, both by their index.

    Arcs to the same head join on their way if they have the same `group`. The heavier it is, the
    straighter an arc is drawn.
    """

    tail: int
    head: int
    group: str
    weight: float
    label: Size | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """The way of an arc from tail to head.

    `strokes` are the parts of it, each from one row to the next, that no earlier line has drawn.
    """

    points: tuple[Point, ...]
    strokes: tuple[tuple[Point, ...], ...]
    label: Rect | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A layout: for each box where its axis meets its upper side, for each arc its line."""

    width: float
    height: float
    places: tuple[Point, ...]
    lines: tuple[Line, ...]
