"""Icons: one small outline for each type of state, 16 by 16."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ICONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # a gear, reduced to a hub and its teeth
        "task": "M5.5 8a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2"
        "M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4",
        "pass": "M2 8h11M9 4l4 4l-4 4",
        "choice": "M8 1.5l6.5 6.5l-6.5 6.5l-6.5-6.5z",
        "wait": "M2 8a6 6 0 1 0 12 0a6 6 0 1 0-12 0M8 4.5v3.5l2.5 1.5",
        # a bubble: somebody speaks to it
        "await": "M2.5 2.5h11v8h-6l-3.5 3v-3h-1.5zM5.5 5.5h5M5.5 8h3",
        "succeed": "M2 8a6 6 0 1 0 12 0a6 6 0 1 0-12 0M5 8.2l2.2 2.2l4-4.4",
        "fail": "M2 8a6 6 0 1 0 12 0a6 6 0 1 0-12 0M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4",
        "compensate": "M6 2.5l-3.5 3.5l3.5 3.5M2.5 6h7.5a3.75 3.75 0 0 1 0 7.5h-4",
        "parallel": "M8 1.5v3M3 14.5v-7h10v7M8 4.5v10",
        "map": "M4.5 4.5h9.5v9.5h-9.5zM2 11v-9h9",
    }
)
