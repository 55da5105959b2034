"""Marks: what has become of a state in an execution."""

from __future__ import annotations

from enum import StrEnum


class Mark(StrEnum):
    """What has become of a state; the word stands in `data-mark`, and the style colours by it."""

    DONE = "done"
    RUNNING = "running"
    WAITING = "waiting"
    FAILED = "failed"
    CAUGHT = "caught"
    CANCELLED = "cancelled"
    COMPENSATED = "compensated"
    BLOCKED = "blocked"
