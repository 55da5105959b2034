"""How a filter compares two values. Every comparison tells what it costs by `spend`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from orchestrator.asl.document import Json, equal
from orchestrator.asl.paths.syntax import Pattern


class Missing:
    """The value of a path that leads nowhere."""


MISSING = Missing()
Value: TypeAlias = "Json | Pattern | Missing"
Spend: TypeAlias = Callable[[int], None]
Operator: TypeAlias = Callable[[Value, Value, Spend], bool]

CHARACTERS_PER_STEP = 100
"""How many characters of text one step compares or searches."""

_DECIMAL = re.compile(r"-?[0-9]{1,300}(?:\.[0-9]{1,300})?(?:[eE][+-]?[0-9]{1,3})?")


def compare(left: Value, operator: str, right: Value, spend: Spend) -> bool:
    """Tell whether `left operator right` holds; what cannot be compared does not."""
    spend(1 + text_steps(left, right))
    return _OPERATORS[operator](left, right, spend)


def text_steps(*values: Value) -> int:
    """Return what it costs to look at all characters of the strings among the values."""
    return sum(len(value) // CHARACTERS_PER_STEP for value in values if isinstance(value, str))


def _not(operator: Operator) -> Operator:
    return lambda left, right, spend: not operator(left, right, spend)


def _same(left: Value, right: Value, spend: Spend) -> bool:
    """Compare as `==` does: a number also equals the string that spells it."""
    if isinstance(left, Missing | Pattern) or isinstance(right, Missing | Pattern):
        return False
    if isinstance(left, str) and _is_number(right):
        return left == str(right)
    if _is_number(left) and isinstance(right, str):
        return _DECIMAL.fullmatch(right) is not None and left == float(right)
    return equal(left, right, spend)


def _identical(left: Value, right: Value, spend: Spend) -> bool:
    return isinstance(left, str) == isinstance(right, str) and _same(left, right, spend)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ordered(holds: Callable[[int], bool]) -> Operator:
    def test(left: Value, right: Value, spend: Spend) -> bool:  # noqa: ARG001  # one shape for all
        if isinstance(left, str) and isinstance(right, str):
            return holds((left > right) - (left < right))
        if isinstance(left, bool) or isinstance(right, bool):
            return False
        if isinstance(left, int | float) and isinstance(right, int | float):
            return holds((left > right) - (left < right))
        return False

    return test


def _fits(left: Value, right: Value, spend: Spend) -> bool:
    if isinstance(left, Pattern):
        left, right = right, left
    if not isinstance(right, Pattern) or isinstance(left, Pattern):
        return False
    if isinstance(left, list):
        spend(len(left) + text_steps(*left))
        return any(right.fits(_spelled(item)) for item in left)
    return right.fits(_spelled(left))


def _spelled(value: Json | Missing) -> str:
    """Return the text a pattern is held against; what has none counts as an empty one."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            return ""


def _within(left: Value, right: Value, spend: Spend) -> bool:
    if not isinstance(right, list):
        return False
    spend(len(right))
    return any(_same(left, item, spend) for item in right)


def _contains(left: Value, right: Value, spend: Spend) -> bool:
    if isinstance(left, str):
        return isinstance(right, str) and right in left
    return _within(right, left, spend)


def _covers(left: Value, right: Value, spend: Spend) -> bool:
    return _subset(right, left, spend)


def _subset(left: Value, right: Value, spend: Spend) -> bool:
    return isinstance(left, list) and all(_within(item, right, spend) for item in left)


def _any(left: Value, right: Value, spend: Spend) -> bool:
    return isinstance(left, list) and any(_within(item, right, spend) for item in left)


def _none(left: Value, right: Value, spend: Spend) -> bool:
    if not isinstance(left, list) or not isinstance(right, list):
        return False
    return not _any(left, right, spend)


def _size(left: Value, right: Value, spend: Spend) -> bool:  # noqa: ARG001  # one shape for all
    return isinstance(left, list | str) and _is_number(right) and len(left) == right


def _empty(left: Value, right: Value, spend: Spend) -> bool:  # noqa: ARG001  # one shape for all
    return isinstance(left, list | str | dict) and (not left) is right


_OPERATORS: dict[str, Operator] = {
    "==": _same,
    "!=": _not(_same),
    "===": _identical,
    "!==": _not(_identical),
    "<": _ordered(lambda order: order < 0),
    "<=": _ordered(lambda order: order <= 0),
    ">": _ordered(lambda order: order > 0),
    ">=": _ordered(lambda order: order >= 0),
    "=~": _fits,
    "in": _within,
    "nin": _not(_within),
    "contains": _contains,
    "all": _covers,
    "subsetof": _subset,
    "anyof": _any,
    "noneof": _none,
    "size": _size,
    "empty": _empty,
}
