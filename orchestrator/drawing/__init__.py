"""The drawing: a machine becomes a picture, a layered graph with boxes in boxes, as SVG.

Pure: the same machine is the same picture, letter for letter. Knows the language and nothing of
executions: what has become of a state comes as a mark, and the style colours it.
"""

from __future__ import annotations

from orchestrator.drawing.drawing import Drawing, draw
from orchestrator.drawing.mark import Mark
from orchestrator.drawing.style import STYLE

__all__ = ["STYLE", "Drawing", "Mark", "draw"]
