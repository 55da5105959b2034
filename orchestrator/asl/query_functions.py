"""The six functions that AWS adds to JSONata.

What a function cannot do raises FunctionError. As in JSONata, a list of one item that a function
makes stands for the item, and an argument that is missing makes the result missing.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from orchestrator.asl.document import DocumentError, Json, read, show, write_out
from orchestrator.asl.draw import Draw
from orchestrator.asl.limits import MOST_QUERY_ITEMS

Function: TypeAlias = Callable[..., Json]


class FunctionError(Exception):
    """A function cannot be applied to its arguments; the message says why."""


def _number(function: str, value: Json) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FunctionError(f"The function ${function} expects a number but got {show(value)}")
    return value


def _integer(function: str, value: Json) -> int:
    return math.floor(_number(function, value))


def _partition(array: Json = None, size: Json = None, *_: Json) -> Json:
    if array is None or size is None:
        return None
    length = _integer("partition", size)
    if length < 1:
        raise FunctionError("The function $partition expects a size of 1 or more")
    items: list[Json] = array if isinstance(array, list) else [array]
    return [items[first : first + length] for first in range(0, len(items), length)]


def _range(first: Json = None, last: Json = None, step: Json = None, *_: Json) -> Json:
    if first is None or last is None or step is None:
        return None
    numbers = range_of(*(_integer("range", one) for one in (first, last, step)))
    return numbers[0] if len(numbers) == 1 else numbers or None


def range_of(first: int, last: int, step: int) -> list[Json]:
    """Return the numbers from `first` to `last`, both included."""
    if step == 0:
        raise FunctionError("The function $range expects a step that is not 0")
    numbers = range(first, last + (1 if step > 0 else -1), step)
    if len(numbers) > MOST_QUERY_ITEMS:
        raise FunctionError(f"The function $range makes {MOST_QUERY_ITEMS} items at most")
    return list(numbers)


_ALGORITHMS: Final = {
    "MD5": hashlib.md5,
    "SHA-1": hashlib.sha1,
    "SHA-256": hashlib.sha256,
    "SHA-384": hashlib.sha384,
    "SHA-512": hashlib.sha512,
}


def _hash(value: Json = None, algorithm: Json = None, *_: Json) -> Json:
    if value is None or algorithm is None:
        return None
    made = _ALGORITHMS.get(algorithm) if isinstance(algorithm, str) else None
    if made is None:
        known = ", ".join(_ALGORITHMS)
        raise FunctionError(f"The function $hash expects one of {known} but got {show(algorithm)}")
    text = value if isinstance(value, str) else write_out(value)
    return made(text.encode("utf-8", "surrogatepass")).hexdigest()


def _parse(text: Json = None, *_: Json) -> Json:
    if text is None:
        return None
    if not isinstance(text, str):
        raise FunctionError(f"The function $parse expects a string but got {show(text)}")
    try:
        return read(text)
    except DocumentError as error:
        raise FunctionError(f"The function $parse got what is no JSON: {error}") from error


PURE: Final[Mapping[str, Function]] = MappingProxyType(
    {"partition": _partition, "range": _range, "hash": _hash, "parse": _parse}
)
"""Those that give the same for the same arguments."""

DRAWING: Final = ("random", "uuid")
"""Those that draw."""


def drawing(draw: Draw) -> dict[str, Function]:
    """Return the functions that draw, on these draws."""

    def random(seed: Json = None, *_: Json) -> Json:
        return draw.fraction() if seed is None else java_random(_integer("random", seed))

    def uuid(*_: Json) -> Json:
        return draw.uuid()

    return {"random": random, "uuid": uuid}


_BITS: Final = (1 << 48) - 1
_FACTOR: Final = 0x5DEECE66D


def java_random(seed: int) -> float:
    """Return the first nextDouble() of a java.util.Random of that seed."""
    state = (seed ^ _FACTOR) & _BITS
    first = (state * _FACTOR + 0xB) & _BITS
    second = (first * _FACTOR + 0xB) & _BITS
    return float(((first >> 22) << 27) + (second >> 21)) / (1 << 53)
