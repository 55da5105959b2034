"""The functions at the end of a path: `.length()` and its like."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from orchestrator.asl.document import Json
from orchestrator.asl.paths.work import Nowhere

Arguments: TypeAlias = list[Json]

MANY = 100
"""How many arguments a function takes that takes any number."""

ARGUMENTS = {
    "length": (0, 1),
    "size": (0, 1),
    "keys": (0, 0),
    "first": (0, 0),
    "last": (0, 0),
    "index": (1, 1),
    "append": (1, MANY),
    "concat": (0, MANY),
    "min": (0, MANY),
    "max": (0, MANY),
    "avg": (0, MANY),
    "sum": (0, MANY),
    "stddev": (0, MANY),
}
"""How many arguments each function takes: at least, at most."""


def call(function: str, value: Json, arguments: Arguments) -> Json:
    """Return what a function makes of a value; raises Nowhere where it makes nothing."""
    if function in _OF_NUMBERS:
        return _of_numbers(function, value, arguments)
    return _OTHERS[function](value, arguments)


def _of_numbers(function: str, value: Json, arguments: Arguments) -> float:
    items = [*value, *arguments] if isinstance(value, list) else arguments
    numbers = [
        float(item)
        for item in items
        if isinstance(item, int | float) and not isinstance(item, bool)
    ]
    if not numbers:
        raise Nowhere(f"The function {function}() needs an array of numbers")
    try:
        result = _OF_NUMBERS[function](numbers)
    except OverflowError:
        raise Nowhere(f"The result of {function}() is beyond binary64") from None
    return result


def _mean(numbers: list[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def _deviation(numbers: list[float]) -> float:
    mean = _mean(numbers)
    return math.sqrt(math.fsum((number - mean) ** 2 for number in numbers) / len(numbers))


_OF_NUMBERS: dict[str, Callable[[list[float]], float]] = {
    "min": min,
    "max": max,
    "avg": _mean,
    "sum": math.fsum,
    "stddev": _deviation,
}


def _length(value: Json, arguments: Arguments) -> Json:
    subject = arguments[0] if arguments else value
    return len(subject) if isinstance(subject, list | dict) else None


def _keys(value: Json, arguments: Arguments) -> Json:  # noqa: ARG001  # one shape for all
    return list(value) if isinstance(value, dict) else None


def _item(value: Json, index: Json) -> Json:
    if isinstance(value, list) and isinstance(index, int) and -len(value) <= index < len(value):
        return value[index]
    raise Nowhere("There is no such item")


def _append(value: Json, arguments: Arguments) -> Json:
    return [*value, *arguments] if isinstance(value, list) else value


def _concat(value: Json, arguments: Arguments) -> Json:
    items = [*value, *arguments] if isinstance(value, list) else arguments
    return "".join(item for item in items if isinstance(item, str))


_OTHERS: dict[str, Callable[[Json, Arguments], Json]] = {
    "length": _length,
    "size": _length,
    "keys": _keys,
    "first": lambda value, _: _item(value, 0),
    "last": lambda value, _: _item(value, -1),
    "index": lambda value, arguments: _item(value, arguments[0]) if arguments else None,
    "append": _append,
    "concat": _concat,
}
