"""A drawing: the scene of a machine, and its SVG with the marks of an execution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from orchestrator.asl.machine import Machine
from orchestrator.drawing.composing import compose
from orchestrator.drawing.mark import Mark
from orchestrator.drawing.scene import Scene
from orchestrator.drawing.svg import write_svg

_NO_MARKS: Final[Mapping[str, Mark]] = {}
_NO_LINKS: Final[Mapping[str, str]] = {}
MOST_KEPT: Final = 64
"""Scenes that are kept at hand, those of the machines drawn last."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of a machine; lengths are in pixels at its natural size."""

    machine: Machine
    scene: Scene

    def svg(
        self,
        marks: Mapping[str, Mark] = _NO_MARKS,
        *,
        links: Mapping[str, str] = _NO_LINKS,
        style: bool = True,
    ) -> str:
        """Return the picture as one `svg` element.

        `marks` says what has become of states, by their name, `links` where a click on one leads.
        Without `style` the page must bring STYLE, as it must where it forbids inline styles.
        """
        return write_svg(self.machine, self.scene, marks, links, style=style)


def draw(machine: Machine) -> Drawing:
    """Return the drawing of a machine; machines of the same text share it."""
    return _drawn(_ByText(machine))


@dataclass(frozen=True, slots=True, eq=False)
class _ByText:
    """A machine that is equal to another one if their texts are."""

    machine: Machine

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByText) and self.machine.text == other.machine.text

    def __hash__(self) -> int:
        return hash(self.machine.text)


@lru_cache(maxsize=MOST_KEPT)
def _drawn(key: _ByText) -> Drawing:
    return Drawing(key.machine, compose(key.machine))
