"""Numbers that stand as texts where numbers belong."""

from __future__ import annotations

import math


def number_in(text: str) -> int | float | None:
    """Return the number that a text spells, None if it spells none."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
