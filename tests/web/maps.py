"""A machine that is one Map over `items` of its input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def over_items(states: Mapping[str, Any]) -> dict[str, Any]:
    """The machine whose iterations take these states, the first one first."""
    inner = {"StartAt": next(iter(states)), "States": dict(states)}
    each = {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": inner, "End": True}
    return {"StartAt": "Each", "States": {"Each": each}}
