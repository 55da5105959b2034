"""The functions at the end of a path: `.length()` and its like."""

from __future__ import annotations

import math
from collections.abc import Callable

from orchestrator.asl.document import Json
from orchestrator.asl.paths.work import Nowhere

MANY = 100
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


def call(function: str, value: Json, arguments: list[Json]) -> Json:
    """Return what a function makes of a value; raises Nowhere where it makes nothing."""
    if function in _NUMERIC:
        return _NUMERIC[function](_numbers(function, value, arguments))
    return _OTHERS[function](value, arguments)


def _numbers(function: str, value: Json, arguments: list[Json]) -> list[float]:
    items = (value if isinstance(value, list) else []) + arguments
    numbers = [
        float(item)
        for item in items
        if isinstance(item, int | float) and not isinstance(item, bool)
    ]
    if not numbers:
        raise Nowhere(f"The function {function}() needs an array of numbers")
    return numbers


def _mean(numbers: list[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def _deviation(numbers: list[float]) -> float:
    mean = _mean(numbers)
    return math.sqrt(math.fsum((number - mean) ** 2 for number in numbers) / len(numbers))


_NUMERIC: dict[str, Callable[[list[float]], float]] = {
    "min": min,
    "max": max,
    "avg": _mean,
    "sum": math.fsum,
    "stddev": _deviation,
}


def _length(value: Json, arguments: list[Json]) -> Json:
    subject = arguments[0] if arguments else value
    return len(subject) if isinstance(subject, list | dict) else None


def _keys(value: Json, arguments: list[Json]) -> Json:
    return list(value) if isinstance(value, dict) else None


def _item(value: Json, index: int) -> Json:
    if not isinstance(value, list) or not -len(value) <= index < len(value):
        raise Nowhere(f"There is no item {index}")
    return value[index]


def _index(value: Json, arguments: list[Json]) -> Json:
    index = arguments[0]
    if not isinstance(index, int) or isinstance(index, bool):
        raise Nowhere("The function index() needs an integer")
    return _item(value, index)


def _append(value: Json, arguments: list[Json]) -> Json:
    return [*value, *arguments] if isinstance(value, list) else value


def _concat(value: Json, arguments: list[Json]) -> Json:
    items = (value if isinstance(value, list) else []) + arguments
    return "".join(item for item in items if isinstance(item, str))


_OTHERS: dict[str, Callable[[Json, list[Json]], Json]] = {
    "length": _length,
    "size": _length,
    "keys": _keys,
    "first": lambda value, arguments: _item(value, 0),
    "last": lambda value, arguments: _item(value, -1),
    "index": _index,
    "append": _append,
    "concat": _concat,
}
