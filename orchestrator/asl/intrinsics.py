"""The eighteen intrinsic functions.

Each takes its arguments and a Draw; what it cannot do raises StateFailure with
States.IntrinsicFailure.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from orchestrator.asl.document import DocumentError, Json, equal, read, show
from orchestrator.asl.draw import Draw
from orchestrator.asl.limits import MOST_RANGE_ITEMS, MOST_TEXT_CHARACTERS

Arguments: TypeAlias = list[Json]


class IntrinsicError(Exception):
    """A function cannot be applied to its arguments; the message says why."""


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """One function: its name, how many arguments it takes (most None: any number), its work."""

    name: str
    least: int
    most: int | None
    apply: Callable[[Arguments, Draw], Json]


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise IntrinsicError(f"expected a string but was: {show(value)}")
    return value


def _array(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise IntrinsicError(f"expected an array but was: {show(value)}")
    return value


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise IntrinsicError(f"expected an object but was: {show(value)}")
    return value


def _integer(value: Json) -> int:
    """Return a number as an integer, halves rounded up."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise IntrinsicError(f"expected a number but was: {show(value)}")
    return value if isinstance(value, int) else math.floor(value + 0.5)


def _small_integer(value: Json) -> int:
    number = _integer(value)
    if not -(2**31) <= number < 2**31:
        raise IntrinsicError(f"number outside of -2147483648 to 2147483647: {number}")
    return number


def _short_text(text: str) -> str:
    if len(text) > MOST_TEXT_CHARACTERS:
        raise IntrinsicError(f"string of more than {MOST_TEXT_CHARACTERS} characters")
    return text


def _format(arguments: Arguments, draw: Draw) -> Json:
    parts = _text(arguments[0]).split("{}")
    if len(parts) != len(arguments):
        raise IntrinsicError(
            f"the template has {len(parts) - 1} places for {len(arguments) - 1} arguments"
        )
    rendered = [parts[0]]
    for argument, part in zip(arguments[1:], parts[1:], strict=True):
        rendered += (argument if isinstance(argument, str) else java_text(argument), part)
    return "".join(rendered)


def java_text(value: Json) -> str:
    """Return a value as Java prints it: `{a=1, b=[x, null]}`."""
    match value:
        case str():
            return value
        case dict():
            return "{" + ", ".join(f"{key}={java_text(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(java_text, value)) + "]"
        case _:
            return show(value)


def _string_to_json(arguments: Arguments, draw: Draw) -> Json:
    text = _text(arguments[0])
    if not text.strip():
        return None
    try:
        return read(text)
    except DocumentError as error:
        raise IntrinsicError(f"the string is not JSON: {error}") from error


def _json_to_string(arguments: Arguments, draw: Draw) -> Json:
    return show(arguments[0])


def _make_array(arguments: Arguments, draw: Draw) -> Json:
    return list(arguments)


def _array_partition(arguments: Arguments, draw: Draw) -> Json:
    items, size = _array(arguments[0]), _integer(arguments[1])
    if size < 1:
        raise IntrinsicError(f"the chunk size must be positive but was: {size}")
    return [items[first : first + size] for first in range(0, len(items), size)]


def _array_contains(arguments: Arguments, draw: Draw) -> Json:
    return any(equal(item, arguments[1]) for item in _array(arguments[0]))


def _array_range(arguments: Arguments, draw: Draw) -> Json:
    first, last, step = map(_integer, arguments)
    if step == 0:
        raise IntrinsicError("the step must not be 0")
    numbers = range(first, last + (1 if step > 0 else -1), step)
    if (last - first) // step >= MOST_RANGE_ITEMS:
        raise IntrinsicError(f"the range has more than {MOST_RANGE_ITEMS} items")
    return list(numbers)


def _array_get_item(arguments: Arguments, draw: Draw) -> Json:
    items, index = _array(arguments[0]), _integer(arguments[1])
    if not 0 <= index < len(items):
        raise IntrinsicError(f"the index {index} is outside of the array")
    return items[index]


def _array_length(arguments: Arguments, draw: Draw) -> Json:
    return len(_array(arguments[0]))


def _array_unique(arguments: Arguments, draw: Draw) -> Json:
    seen: dict[str, Json] = {}
    for item in _array(arguments[0]):
        seen.setdefault(_canonical(item), item)
    return list(seen.values())


def _canonical(value: Json) -> str:
    """Return a text that is the same for equal values and for no others."""
    match value:
        case bool() | None | str():
            return show(value)
        case float() if value.is_integer():
            return str(int(value))
        case int() | float():
            return str(value)
        case list():
            return "[" + ",".join(map(_canonical, value)) + "]"
        case dict():
            members = (f"{show(key)}:{_canonical(value[key])}" for key in sorted(value))
            return "{" + ",".join(members) + "}"


def _base64_encode(arguments: Arguments, draw: Draw) -> Json:
    text = _short_text(_text(arguments[0]))
    return base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")


def _base64_decode(arguments: Arguments, draw: Draw) -> Json:
    text = _short_text(_text(arguments[0]))
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError) as error:
        raise IntrinsicError("the string is not Base64") from error


_DIGESTS = {"MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512"}


def _hash(arguments: Arguments, draw: Draw) -> Json:
    data, algorithm = arguments
    name = _text(algorithm)
    if name not in _DIGESTS:
        raise IntrinsicError(f"unknown algorithm: {name}")
    text = _short_text(data if isinstance(data, str) else show(data))
    digest = hashlib.new(name.replace("-", ""), text.encode("utf-8", "replace"))
    return digest.hexdigest()


def _json_merge(arguments: Arguments, draw: Draw) -> Json:
    first, second, deep = arguments
    if deep is not False:
        raise IntrinsicError("only the shallow merge (false) is supported")
    return {**_object(first), **_object(second)}


def _math_random(arguments: Arguments, draw: Draw) -> Json:
    start, end = _integer(arguments[0]), _integer(arguments[1])
    if start >= end:
        raise IntrinsicError(f"there are no numbers from {start} to {end}")
    if len(arguments) == 3:
        return Random(_integer(arguments[2])).randrange(start, end)
    return draw.integer(start, end - 1)


def _math_add(arguments: Arguments, draw: Draw) -> Json:
    return _small_integer(_small_integer(arguments[0]) + _small_integer(arguments[1]))


def _string_split(arguments: Arguments, draw: Draw) -> Json:
    text, delimiters = _text(arguments[0]), set(_text(arguments[1]))
    parts: list[Json] = []
    part: list[str] = []
    for character in [*text, None]:
        if character is None or character in delimiters:
            if part:
                parts.append("".join(part))
            part = []
        else:
            part.append(character)
    return parts


def _uuid(arguments: Arguments, draw: Draw) -> Json:
    return draw.uuid()


INTRINSICS = {
    intrinsic.name: intrinsic
    for intrinsic in (
        Intrinsic("States.Format", 1, None, _format),
        Intrinsic("States.StringToJson", 1, 1, _string_to_json),
        Intrinsic("States.JsonToString", 1, 1, _json_to_string),
        Intrinsic("States.Array", 0, None, _make_array),
        Intrinsic("States.ArrayPartition", 2, 2, _array_partition),
        Intrinsic("States.ArrayContains", 2, 2, _array_contains),
        Intrinsic("States.ArrayRange", 3, 3, _array_range),
        Intrinsic("States.ArrayGetItem", 2, 2, _array_get_item),
        Intrinsic("States.ArrayLength", 1, 1, _array_length),
        Intrinsic("States.ArrayUnique", 1, 1, _array_unique),
        Intrinsic("States.Base64Encode", 1, 1, _base64_encode),
        Intrinsic("States.Base64Decode", 1, 1, _base64_decode),
        Intrinsic("States.Hash", 2, 2, _hash),
        Intrinsic("States.JsonMerge", 3, 3, _json_merge),
        Intrinsic("States.MathRandom", 2, 3, _math_random),
        Intrinsic("States.MathAdd", 2, 2, _math_add),
        Intrinsic("States.StringSplit", 2, 2, _string_split),
        Intrinsic("States.UUID", 0, 0, _uuid),
    )
}
"""Every function by its name."""
