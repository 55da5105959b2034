"""Moments, durations and documents as people read them."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Final

from orchestrator.asl.document import Json
from orchestrator.execution.payload import Payload

LONGEST_DOCUMENT: Final = 60_000
"""Characters of a document that a page shows; the rest is behind the API."""
SHORT: Final = 120
_MINUTE: Final = 60.0
_HOUR: Final = 3_600.0
_DAY: Final = 86_400.0
_DAYS_WITH_HOURS: Final = 10


def moment(at: datetime | None) -> str:
    """Return a moment in UTC, to the second."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def iso(at: datetime | None) -> str:
    """Return a moment as machines read it."""
    return "" if at is None else at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds(value: float) -> str:
    """Return a duration in the two units that matter: `3 d 4 h`, `12 min 5 s`, `340 ms`."""
    value = max(0.0, value)
    if value < 1:
        return f"{value * 1_000:.0f} ms"
    if value < _MINUTE:
        return f"{value:.1f} s" if value < _MINUTE / 6 else f"{value:.0f} s"
    if value < _HOUR:
        return _two(value, _MINUTE, "min", 1, "s")
    if value < _DAY:
        return _two(value, _HOUR, "h", _MINUTE, "min")
    days = int(value // _DAY)
    return f"{days} d" if days >= _DAYS_WITH_HOURS else _two(value, _DAY, "d", _HOUR, "h")


def _two(value: float, large: float, its: str, small: float, others: str) -> str:
    whole, rest = int(value // large), int(value % large // small)
    return f"{whole} {its} {rest} {others}" if rest else f"{whole} {its}"


def between(begun: datetime | None, ended: datetime | None) -> str:
    """Return how long it was from one moment to another."""
    if begun is None or ended is None:
        return ""
    return seconds((ended - begun).total_seconds())


def away(at: datetime | None, now: datetime) -> str:
    """Return how far a moment is from now: `3 min ago`, `in 2 h`."""
    if at is None:
        return ""
    distance = (at - now).total_seconds()
    return f"in {seconds(distance)}" if distance > 0 else f"{seconds(-distance)} ago"


def pretty(document: Payload | None) -> str:
    """Return a document with line breaks, as far as a page shows it."""
    if document is None:
        return ""
    return pretty_json(document.value)


def pretty_json(value: Json) -> str:
    """Return a value with line breaks, as far as a page shows it."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    text = text.encode("utf-8", "backslashreplace").decode()
    if len(text) <= LONGEST_DOCUMENT:
        return text
    return f"{text[:LONGEST_DOCUMENT]}\n… {len(text) - LONGEST_DOCUMENT} more characters"


def short(text: object, most: int = SHORT) -> str:
    """Return a text that fits on a line."""
    line = " ".join(str("" if text is None else text).split())
    line = line.encode("utf-8", "backslashreplace").decode()
    return line if len(line) <= most else line[: most - 1] + "…"


def number(value: int) -> str:
    """Return a number with its thousands apart."""
    return f"{value:,}".replace(",", "\u202f")


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"
