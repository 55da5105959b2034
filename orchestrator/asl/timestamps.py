"""Moments as ASL writes them: the RFC 3339 profile, with `T`, with a zone, to the nanosecond."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)
_MOST_OFFSET_HOURS = 18
_MOST_OFFSET_MINUTES = 59
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def nanoseconds(text: str) -> int | None:
    """Return the nanoseconds since 1970 that a timestamp names, None if it is no timestamp."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[n]) for n in range(1, 7))
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    offset = _offset_seconds(match[8], match[9], match[10])
    if offset is None:
        return None
    since = moment - _EPOCH
    seconds = since.days * 86_400 + since.seconds - offset
    return seconds * 1_000_000_000 + int((match[7] or "").ljust(9, "0"))


def _offset_seconds(sign: str | None, hours: str | None, minutes: str | None) -> int | None:
    if sign is None or hours is None or minutes is None:
        return 0
    if int(hours) > _MOST_OFFSET_HOURS or int(minutes) > _MOST_OFFSET_MINUTES:
        return None
    seconds = int(hours) * 3600 + int(minutes) * 60
    return -seconds if sign == "-" else seconds
