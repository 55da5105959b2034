"""Fail: end the machine, or only its branch, with an error."""

from __future__ import annotations

from dataclasses import dataclass

from ..templates import Expression


@dataclass(frozen=True, slots=True)
class Fail:
    """A Fail state; of `error` and `error_path`, of `cause` and `cause_path` at most one is given."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    error: str | None
    cause: str | None
    error_path: Expression | None
    cause_path: Expression | None
