"""What a driver raises, and what of it may succeed when tried again."""

from __future__ import annotations

from typing import Final

from sqlalchemy.exc import DBAPIError

RETRYABLE_STATES: Final = frozenset({"40001", "40P01", "55P03"})
"""Serialization failure, deadlock, lock timeout: the same may succeed when tried again."""


def sqlstate(error: DBAPIError) -> str | None:
    """Return PostgreSQL's five characters for an error."""
    state = getattr(error.orig, "sqlstate", None)
    return state if isinstance(state, str) else None


def reason(error: DBAPIError) -> str:
    """Return what the driver says, or at least the kind of its error."""
    return str(error.orig).strip() or type(error.orig).__name__
