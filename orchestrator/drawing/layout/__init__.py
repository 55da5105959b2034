"""Layered layout: boxes in rows, lines between them that run upright and level.

Knows sizes and connections, and nothing of what they mean. `lay_out` takes a graph through ranks
(which row), order (which place in the row), placing (which x) and routing (which way).
"""

from __future__ import annotations

from orchestrator.drawing.layout.graph import Arc, Line, Plan, Point, Rect, Size
from orchestrator.drawing.layout.plan import lay_out

__all__ = ["Arc", "Line", "Plan", "Point", "Rect", "Size", "lay_out"]
