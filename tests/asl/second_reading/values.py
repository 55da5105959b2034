"""JSON values, compared and spelled."""

import json
from decimal import Decimal
from typing import Any

Value = Any


class NotThere(Exception):
    """There is no value where one is needed."""


class CannotDo(Exception):
    """A function does not take these arguments."""


def is_number(value: Value) -> bool:
    return type(value) in (int, float)


def alike(one: Value, other: Value) -> bool:
    """Values that are the same JSON; true is not 1, and 1 is 1.0."""
    if is_number(one) and is_number(other):
        return Decimal(one) == Decimal(other)
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(alike(*pair) for pair in zip(one, other, strict=True))
    if isinstance(one, dict):
        return sorted(one) == sorted(other) and all(alike(one[key], other[key]) for key in one)
    return bool(one == other)


def spelled(value: Value) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
