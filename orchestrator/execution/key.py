"""Keys: under which handlers act on the world, the same whenever the same work is done again."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID


def of_task(execution: int, entry: int, reported: int, state: str | None) -> str:
    """Return the key of a state's task; `reported`: how many attempts have reported a failure."""
    return _key(f"{execution}/{entry}/{reported}/{state}")


def of_effect(execution: int, number: int, pointer: str) -> str:
    """Return the key of an effect or a compensation; `pointer` is where it stands.

    `number` is the event to which it belongs.
    """
    return _key(f"{execution}/{number}/0/{pointer}")


def _key(text: str) -> str:
    return str(UUID(bytes=sha256(text.encode("utf-8", "surrogatepass")).digest()[:16], version=5))
