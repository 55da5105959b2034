"""SVG: a scene as text. Whatever comes from a definition is escaped here, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from typing import Final

from orchestrator.asl.machine import Machine
from orchestrator.drawing.composing import MARKER_RADIUS
from orchestrator.drawing.face import NAME_LINE, PADDING, SMALL_LINE, TEXT_AT
from orchestrator.drawing.icon import ICONS
from orchestrator.drawing.layout import Point, Rect
from orchestrator.drawing.mark import Mark
from orchestrator.drawing.scene import Box, Edge, Marker, Scene
from orchestrator.drawing.style import STYLE
from orchestrator.drawing.text import carried

_MARGIN: Final = 16.0
_CORNER: Final = 6.0
_ROUND: Final = 8.0
_HEAD_LENGTH, _HEAD_HALF = 7.0, 3.5
_CUT: Final = 10.0
_BREAKS = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def write_svg(
    machine: Machine,
    scene: Scene,
    marks: Mapping[str, Mark],
    links: Mapping[str, str],
    *,
    style: bool,
) -> str:
    """Return the picture of a scene as one `svg` element."""
    wide, high = scene.width + 2 * _MARGIN, scene.height + 2 * _MARGIN
    key = sha256(machine.text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    role = "group" if links else "img"
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="machine" role="{role}"'
            f' aria-labelledby="m{key}-title" aria-describedby="m{key}-desc"'
            f' width="{_n(wide)}" height="{_n(high)}"'
            f' viewBox="{_n(-_MARGIN)} {_n(-_MARGIN)} {_n(wide)} {_n(high)}">'
        ),
        f'<title id="m{key}-title">{_text(machine.comment or "A state machine")}</title>',
        f'<desc id="m{key}-desc">{_text(_description(machine, scene, marks))}</desc>',
    ]
    if style:
        parts.append(f"<style>{STYLE}</style>")
    parts.append(
        f'<rect class="canvas" x="{_n(-_MARGIN)}" y="{_n(-_MARGIN)}"'
        f' width="{_n(wide)}" height="{_n(high)}"/>'
    )
    for box in scene.boxes:
        parts += _box(box, marks.get(box.state.name), links.get(box.state.name))
    parts += [_edge(edge) for edge in scene.edges]
    parts += [_marker(marker) for marker in scene.markers]
    # labels last: no line is drawn over one
    inner = {box.state.name for box in scene.boxes if box.parent is not None}
    parts += [
        _label(edge, inside=edge.transition.source in inner) for edge in scene.edges if edge.label
    ]
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _description(machine: Machine, scene: Scene, marks: Mapping[str, Mark]) -> str:
    """Return the picture in words: each state, and where it leads."""
    leading: dict[str, list[str]] = {}
    for edge in scene.edges:
        one = edge.transition
        words = f"to {one.target}" if one.target is not None else "to the end"
        details = f" ({'; '.join(one.details)})" if one.details else ""
        leading.setdefault(one.source, []).append(words + details)
    sentences = [f"Starts at {machine.start_at}."]
    for box in scene.boxes:
        name = box.state.name
        ways = f": {', '.join(leading[name])}" if name in leading else ""
        sentences.append(f"{_heading(box, marks.get(name))}{ways}.")
    return " ".join(sentences)


def _heading(box: Box, mark: Mark | None) -> str:
    inside = f" in {box.parent}" if box.parent is not None else ""
    said = f", {mark}" if mark is not None else ""
    return f"{box.state.name} ({type(box.state).__name__}{inside}{said})"


# ----------------------------------------------------------------------------------- boxes


def _box(box: Box, mark: Mark | None, link: str | None) -> Iterator[str]:
    name = box.state.name
    marked = "" if mark is None else f' data-mark="{mark}"'
    yield f'<g class="state state-{box.face.kind}" data-state="{_attribute(name)}"{marked}>'
    if link is not None:
        yield f'<a href="{_attribute(link)}" aria-label="{_attribute(_heading(box, mark))}">'
    comment = f"\n{box.state.comment}" if box.state.comment else ""
    yield f"<title>{_text(_heading(box, mark) + comment)}</title>"
    yield _outline(box)
    for frame in box.frames:
        yield (
            f'<rect class="frame" x="{_n(frame.x)}" y="{_n(frame.y)}" width="{_n(frame.width)}"'
            f' height="{_n(frame.height)}" rx="{_n(_CORNER)}"/>'
        )
    yield from _writing(box)
    if link is not None:
        yield "</a>"
    yield "</g>"


def _outline(box: Box) -> str:
    rect = box.rect
    if box.face.kind == "choice":
        left, right = rect.x + _CUT, rect.right - _CUT
        middle = rect.y + rect.height / 2
        return (
            f'<path class="box" d="M{_n(left)} {_n(rect.y)}H{_n(right)}L{_n(rect.right)} '
            f"{_n(middle)}L{_n(right)} {_n(rect.bottom)}H{_n(left)}L{_n(rect.x)} "
            f'{_n(middle)}Z"/>'
        )
    final = box.face.kind in ("succeed", "fail")
    radius = rect.height / 2 if final else _ROUND
    return (
        f'<rect class="box" x="{_n(rect.x)}" y="{_n(rect.y)}" width="{_n(rect.width)}"'
        f' height="{_n(rect.height)}" rx="{_n(radius)}"/>'
    )


def _writing(box: Box) -> Iterator[str]:
    rect, face = box.rect, box.face
    x, y = rect.x + TEXT_AT, rect.y + PADDING
    yield (
        f'<path class="icon" transform="translate({_n(rect.x + 11)} {_n(y + 1)})"'
        f' d="{ICONS[face.kind]}"/>'
    )
    for line in face.name:
        yield f'<text class="name" x="{_n(x)}" y="{_n(y + 13)}">{_text(line)}</text>'
        y += NAME_LINE
    for row in face.rows:
        yield (
            f'<text class="row row-{row.kind}" x="{_n(x)}" y="{_n(y + 11)}">'
            f"{_text(row.text)}</text>"
        )
        y += SMALL_LINE


# ----------------------------------------------------------------------------------- edges


def _edge(edge: Edge) -> str:
    one = edge.transition
    target = "" if one.target is None else f' data-to="{_attribute(one.target)}"'
    lines = "".join(_path(stroke, ends=stroke[-1] == edge.points[-1]) for stroke in edge.strokes)
    return (
        f'<g class="edge edge-{one.kind}" data-from="{_attribute(one.source)}"{target}>'
        f"{lines}{_title(edge)}</g>"
    )


def _title(edge: Edge) -> str:
    details = "\n".join(edge.transition.details)
    return f"<title>{_text(details)}</title>" if details else ""


def _path(points: Sequence[Point], *, ends: bool) -> str:
    """Return a way with round corners, and the head of an arrow where it ends."""
    if not ends:
        return f'<path class="line" d="{_way(points)}"/>'
    before, tip = points[-2], points[-1]
    base = _towards(tip, before, _HEAD_LENGTH)
    across = Point(0.0, _HEAD_HALF) if before.y == tip.y else Point(_HEAD_HALF, 0.0)
    one, two = base.moved(-across.x, -across.y), base.moved(across.x, across.y)
    head = f"M{_n(tip.x)} {_n(tip.y)}L{_n(one.x)} {_n(one.y)}L{_n(two.x)} {_n(two.y)}Z"
    return f'<path class="line" d="{_way((*points[:-1], base))}"/><path class="head" d="{head}"/>'


def _way(points: Sequence[Point]) -> str:
    parts = [f"M{_n(points[0].x)} {_n(points[0].y)}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(_CORNER, _distance(before, corner) / 2, _distance(corner, after) / 2)
        one, two = _towards(corner, before, radius), _towards(corner, after, radius)
        parts.append(
            f"L{_n(one.x)} {_n(one.y)}Q{_n(corner.x)} {_n(corner.y)} {_n(two.x)} {_n(two.y)}"
        )
    parts.append(f"L{_n(points[-1].x)} {_n(points[-1].y)}")
    return "".join(parts)


def _distance(one: Point, two: Point) -> float:
    return abs(one.x - two.x) + abs(one.y - two.y)


def _towards(start: Point, end: Point, far: float) -> Point:
    length = _distance(start, end) or 1.0
    return Point(
        start.x + (end.x - start.x) * far / length, start.y + (end.y - start.y) * far / length
    )


def _label(edge: Edge, *, inside: bool) -> str:
    rect = edge.label_rect or Rect(0.0, 0.0, 0.0, 0.0)
    middle = rect.x + rect.width / 2
    lines = "".join(
        f'<text class="label" x="{_n(middle)}" y="{_n(rect.y + 14 + n * SMALL_LINE)}">'
        f"{_text(line)}</text>"
        for n, line in enumerate(edge.label)
    )
    plate = "plate plate-inside" if inside else "plate"
    return (
        f'<g class="edge-{edge.transition.kind}"><rect class="{plate}" x="{_n(rect.x)}"'
        f' y="{_n(rect.y)}" width="{_n(rect.width)}" height="{_n(rect.height)}"'
        f' rx="4"/>{lines}{_title(edge)}</g>'
    )


def _marker(marker: Marker) -> str:
    at = f'cx="{_n(marker.center.x)}" cy="{_n(marker.center.y)}"'
    if not marker.start:
        return (
            f'<circle class="end" {at} r="{_n(MARKER_RADIUS)}"/>'
            f'<circle class="end-core" {at} r="{_n(MARKER_RADIUS / 2)}"/>'
        )
    line = _path(marker.points, ends=True) if marker.points else ""
    return (
        f'<g class="edge edge-start">{line}<circle class="start" {at} r="{_n(MARKER_RADIUS)}"/></g>'
    )


# ------------------------------------------------------------------------------------ text


def _n(number: float) -> str:
    return f"{round(number, 1):g}"


def _text(text: str) -> str:
    return escape(carried(text), quote=False)


def _attribute(text: str) -> str:
    escaped = escape(carried(text))
    return "".join(_BREAKS.get(character, character) for character in escaped)
