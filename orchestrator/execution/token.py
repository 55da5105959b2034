"""What stands for the token of a task until somebody claims it."""

from __future__ import annotations

from hashlib import sha256

_CHARACTERS = 32


def placeholder(token: str) -> str:
    """Return what stands for an attempt's task token: nobody can know it before, or make one of it.

    It has no character that JSON text would escape.
    """
    return f"[task token {sha256(token.encode()).hexdigest()[:_CHARACTERS]}]"
