"""Labels: what is written on an arrow, and how much room it takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from orchestrator.drawing.face import SMALL_LINE, SMALL_SIZE
from orchestrator.drawing.layout import Size
from orchestrator.drawing.text import fit, shown, width, wrap
from orchestrator.drawing.transition import EdgeKind, Transition

LABEL_ABOVE: Final = 3.0
_WIDEST, _LINES = 180.0, 3
_SIDE = 6.0


def label(transition: Transition) -> tuple[str, ...]:
    """Return what is written on an arrow, line by line."""
    causes = [shown(cause) for cause in transition.labels]
    if not causes:
        return ()
    if len(causes) == 1 or transition.kind is not EdgeKind.CHOICE:
        return wrap(", ".join(causes), SMALL_SIZE, _WIDEST, _LINES)
    lines = [
        fit(f"or {cause}" if n else cause, SMALL_SIZE, _WIDEST) for n, cause in enumerate(causes)
    ]
    if len(lines) > _LINES:
        lines[_LINES - 1 :] = [f"or {len(lines) - _LINES + 1} more"]
    return tuple(lines)


def label_size(lines: Iterable[str]) -> Size:
    """Return the room of a label around the line that it stands on."""
    widths = [width(line, SMALL_SIZE) for line in lines]
    half = max(widths, default=0.0) / 2 + _SIDE
    return Size(half, half, SMALL_LINE * len(widths) + 2 * LABEL_ABOVE)
