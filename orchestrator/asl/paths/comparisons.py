"""How a filter compares two values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from orchestrator.asl.document import Json, equal
from orchestrator.asl.paths.syntax import Pattern


class Missing:
    """The value of a path that leads nowhere."""


MISSING = Missing()
Value: TypeAlias = "Json | Pattern | Missing"


def compare(left: Value, operator: str, right: Value) -> bool:
    """Tell whether `left operator right` holds; what cannot be compared does not."""
    if operator == "!=":
        return not _same(left, right)
    if operator == "!==":
        return not _identical(left, right)
    return _OPERATORS[operator](left, right)


def _same(left: Value, right: Value) -> bool:
    if isinstance(left, Missing | Pattern) or isinstance(right, Missing | Pattern):
        return left is right
    if isinstance(left, str) and _is_number(right):
        return left == _text(right)
    if _is_number(left) and isinstance(right, str):
        return left == _number(right)
    return equal(left, right)


def _identical(left: Value, right: Value) -> bool:
    return isinstance(left, str) == isinstance(right, str) and _same(left, right)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Value) -> str:
    return str(value)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _ordered(holds: Callable[[int], bool]) -> Callable[[Value, Value], bool]:
    def test(left: Value, right: Value) -> bool:
        if isinstance(left, str) and isinstance(right, str):
            return holds((left > right) - (left < right))
        if isinstance(left, bool) or isinstance(right, bool):
            return False
        if isinstance(left, int | float) and isinstance(right, int | float):
            return holds((left > right) - (left < right))
        return False

    return test


def _fits(left: Value, right: Value) -> bool:
    if isinstance(right, Pattern):
        return isinstance(left, str) and right.fits(left)
    return isinstance(left, Pattern) and isinstance(right, str) and left.fits(right)


def _within(left: Value, right: Value) -> bool:
    return isinstance(right, list) and any(_same(left, item) for item in right)


def _contains(left: Value, right: Value) -> bool:
    if isinstance(left, str):
        return isinstance(right, str) and right in left
    return _within(right, left)


def _subset(left: Value, right: Value) -> bool:
    return isinstance(left, list) and all(_within(item, right) for item in left)


def _any(left: Value, right: Value) -> bool:
    return isinstance(left, list) and any(_within(item, right) for item in left)


def _none(left: Value, right: Value) -> bool:
    return isinstance(left, list) and not _any(left, right)


def _size(left: Value, right: Value) -> bool:
    return isinstance(left, list | str) and len(left) == right and not isinstance(right, bool)


def _empty(left: Value, right: Value) -> bool:
    return isinstance(left, list | str | dict) and (not left) is right


_OPERATORS: dict[str, Callable[[Value, Value], bool]] = {
    "==": _same,
    "===": _identical,
    "<": _ordered(lambda order: order < 0),
    "<=": _ordered(lambda order: order <= 0),
    ">": _ordered(lambda order: order > 0),
    ">=": _ordered(lambda order: order >= 0),
    "=~": _fits,
    "in": _within,
    "nin": lambda left, right: not _within(left, right),
    "contains": _contains,
    "subsetof": _subset,
    "anyof": _any,
    "noneof": _none,
    "size": _size,
    "empty": _empty,
}
