"""Machines that wait to be called."""

from __future__ import annotations

from typing import Any

from tests.execution.definitions import states

CALLS: dict[str, Any] = {"pay": {}, "ship": {}, "cancel": {}}
OVER = {"Type": "Succeed", "On": {"*": {"Refuse": "it is over"}}}


def waiting(on: Any, **fields: Any) -> dict[str, Any]:
    """An Await that answers these calls; it refuses all others."""
    return {"Type": "Await", "On": {"*": {"Refuse": "not now"}, **on}, **fields}


def machine(language: str = "JSONPath", /, **named: Any) -> dict[str, Any]:
    return {**states(**named), "Calls": CALLS, "QueryLanguage": language}


ACCEPTED = {"verdict": "accepted", "call": "pay", "from": "A", "to": "Over"}
