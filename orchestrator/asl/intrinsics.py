"""The eighteen intrinsic functions.

What a function cannot do raises IntrinsicError; `expressions` makes a state's failure of it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from orchestrator.asl.document import (
    DocumentError,
    Json,
    check_depth,
    check_size,
    equal,
    read,
    show,
    write_out,
)
from orchestrator.asl.draw import Draw
from orchestrator.asl.limits import (
    DEFAULT,
    MOST_MADE_BYTES,
    MOST_PATH_STEPS,
    MOST_RANGE_ITEMS,
    MOST_TEXT_CHARACTERS,
)

Arguments: TypeAlias = list[Json]
Apply: TypeAlias = Callable[[Arguments, Draw], Json]


class IntrinsicError(Exception):
    """A function cannot be applied to its arguments; the message says why."""


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """One function: how many arguments it takes (most None: any number), and what it does."""

    name: str
    least: int
    most: int | None
    apply: Apply


def _pure(function: Callable[..., Json]) -> Apply:
    """Make an Apply of a function that draws nothing."""
    return lambda arguments, _: function(*arguments)


# ----------------------------------------------------------------------- what is an argument


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise IntrinsicError(f"Expected a string but was: {show(value)}")
    return value


def _short_text(value: Json) -> str:
    text = _text(value)
    if len(text) > MOST_TEXT_CHARACTERS:
        raise IntrinsicError(f"The string has more than {MOST_TEXT_CHARACTERS} characters")
    return text


def _array(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise IntrinsicError(f"Expected an array but was: {show(value)}")
    return value


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise IntrinsicError(f"Expected an object but was: {show(value)}")
    return value


def _integer(value: Json) -> int:
    """Return a number as an integer, halves rounded up."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise IntrinsicError(f"Expected a number but was: {show(value)}")
    if isinstance(value, int):
        return value
    below = math.floor(value)
    return below + 1 if value - below >= 0.5 else below  # noqa: PLR2004  # a half


def _small_integer(value: Json) -> int:
    number = _integer(value)
    if not -(2**31) <= number < 2**31:
        raise IntrinsicError("The number is not between -2147483648 and 2147483647")
    return number


def _written(value: Json) -> str:
    """Return the compact JSON text of a value."""
    return write_out(_bounded(value))


def _bounded(value: Json) -> Json:
    """Refuse a value whose text would be immense, or that is deeper than documents are."""
    try:
        check_size(value, MOST_MADE_BYTES)
        check_depth(value, DEFAULT.document_depth + DEFAULT.definition_depth)
    except DocumentError as error:
        raise IntrinsicError(error.message) from error
    return value


# ------------------------------------------------------------------------------------ strings


def formatted(pieces: Sequence[str], arguments: Sequence[Json]) -> str:
    """Return the pieces of a template with the arguments between them."""
    if len(pieces) != len(arguments) + 1:
        places, given = len(pieces) - 1, len(arguments)
        raise IntrinsicError(f"The template has {places} places for {given} arguments")
    made = [pieces[0]]
    size = sum(map(len, pieces))
    for argument, piece in zip(arguments, pieces[1:], strict=True):
        text = _java_text(argument)
        size += len(text)
        if size > MOST_MADE_BYTES:
            raise IntrinsicError(f"The string has more than {MOST_MADE_BYTES} characters")
        made += (text, piece)
    return "".join(made)


def _java_text(value: Json) -> str:
    """Return a value as AWS puts it into a string: `{a=1, b=[x, null]}`."""
    if isinstance(value, str):
        return value
    return _java_whole(_bounded(value)) if isinstance(value, dict | list) else show(value)


def _java_whole(value: Json) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_java_whole, value)) + "]"
    if isinstance(value, dict):
        texts = map(_java_whole, value.values())
        return "{" + ", ".join(map("{}={}".format, value, texts)) + "}"
    return value if isinstance(value, str) else show(value)


def _format(template: Json, *arguments: Json) -> Json:
    return formatted(_text(template).split("{}"), arguments)


def _string_to_json(value: Json) -> Json:
    text = _text(value)
    if not text.strip():
        return None
    try:
        return read(text)
    except DocumentError as error:
        raise IntrinsicError(f"The string is not JSON: {error}") from error


def _string_split(value: Json, delimiters: Json) -> Json:
    text, characters = _text(value), _text(delimiters)
    if not characters:
        return [text] if text else []
    return [part for part in re.split(f"[{re.escape(characters)}]", text) if part]


def _base64_encode(value: Json) -> Json:
    data = _short_text(value).encode("utf-8", "replace")
    return base64.b64encode(data).decode("ascii")


def _base64_decode(value: Json) -> Json:
    text = _short_text(value).rstrip("=")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise IntrinsicError("The string is not Base64") from error
    return data.decode("utf-8", "replace")


_ALGORITHMS = {
    "MD5": "md5",
    "SHA-1": "sha1",
    "SHA-256": "sha256",
    "SHA-384": "sha384",
    "SHA-512": "sha512",
}


def _hash(value: Json, algorithm: Json) -> Json:
    name = _ALGORITHMS.get(_text(algorithm))
    if name is None:
        raise IntrinsicError(f"Unknown algorithm: {show(algorithm)}")
    text = _short_text(value if isinstance(value, str) else _written(value))
    return hashlib.new(name, text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


# ----------------------------------------------------------------------- arrays and objects


def _array_partition(array: Json, size: Json) -> Json:
    items, length = _array(array), _integer(size)
    if length < 1:
        raise IntrinsicError("The size of a chunk must be positive")
    return [items[first : first + length] for first in range(0, len(items), length)]


def _array_contains(array: Json, value: Json) -> Json:
    items = _array(array)
    left = MOST_PATH_STEPS

    def spend(steps: int) -> None:
        nonlocal left
        left -= steps
        if left < 0:
            raise IntrinsicError("There is too much to compare")

    return any(equal(item, value, spend) for item in items)


def _array_range(first: Json, last: Json, step: Json) -> Json:
    start, end, stride = _integer(first), _integer(last), _integer(step)
    if stride == 0:
        raise IntrinsicError("The step must not be 0")
    if (end - start) // stride >= MOST_RANGE_ITEMS:
        raise IntrinsicError(f"The range has more than {MOST_RANGE_ITEMS} items")
    return list(range(start, end + (1 if stride > 0 else -1), stride))


def _array_get_item(array: Json, index: Json) -> Json:
    items, number = _array(array), _integer(index)
    if not 0 <= number < len(items):
        raise IntrinsicError(f"The array of {len(items)} items has no item {number}")
    return items[number]


def _array_length(array: Json) -> Json:
    return len(_array(array))


def _array_unique(array: Json) -> Json:
    items = _array(array)
    _bounded(items)
    seen: dict[str, Json] = {}
    for item in items:
        seen.setdefault(_canonical(item), item)
    return list(seen.values())


def _canonical(value: Json) -> str:
    """Return a text that equal values have in common, and no others."""
    if isinstance(value, list):
        return "[" + ",".join(map(_canonical, value)) + "]"
    if isinstance(value, dict):
        keys = sorted(value)
        texts = map(_canonical, map(value.__getitem__, keys))
        return "{" + ",".join(map("{}:{}".format, map(write_out, keys), texts)) + "}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return write_out(value)


def _json_merge(first: Json, second: Json, deep: Json) -> Json:
    if deep is not False:
        raise IntrinsicError("Only the shallow merge (false) is supported")
    return {**_object(first), **_object(second)}


# ------------------------------------------------------------------------------------ numbers


def _math_add(first: Json, second: Json) -> Json:
    return _small_integer(_small_integer(first) + _small_integer(second))


def _math_random(arguments: Arguments, draw: Draw) -> Json:
    """Draw from the start up to, not including, the end; a seed always draws the same."""
    start, end, *seeds = map(_small_integer, arguments)
    if start >= end:
        raise IntrinsicError(f"There are no numbers from {start} to {end}")
    if seeds:
        draw = Draw(f"States.MathRandom {seeds[0]}".encode())
    return draw.integer(start, end - 1)


INTRINSICS = {
    intrinsic.name: intrinsic
    for intrinsic in (
        Intrinsic("States.Format", 1, None, _pure(_format)),
        Intrinsic("States.StringToJson", 1, 1, _pure(_string_to_json)),
        Intrinsic("States.JsonToString", 1, 1, _pure(_written)),
        Intrinsic("States.Array", 0, None, lambda arguments, _: list(arguments)),
        Intrinsic("States.ArrayPartition", 2, 2, _pure(_array_partition)),
        Intrinsic("States.ArrayContains", 2, 2, _pure(_array_contains)),
        Intrinsic("States.ArrayRange", 3, 3, _pure(_array_range)),
        Intrinsic("States.ArrayGetItem", 2, 2, _pure(_array_get_item)),
        Intrinsic("States.ArrayLength", 1, 1, _pure(_array_length)),
        Intrinsic("States.ArrayUnique", 1, 1, _pure(_array_unique)),
        Intrinsic("States.Base64Encode", 1, 1, _pure(_base64_encode)),
        Intrinsic("States.Base64Decode", 1, 1, _pure(_base64_decode)),
        Intrinsic("States.Hash", 2, 2, _pure(_hash)),
        Intrinsic("States.JsonMerge", 3, 3, _pure(_json_merge)),
        Intrinsic("States.MathRandom", 2, 3, _math_random),
        Intrinsic("States.MathAdd", 2, 2, _pure(_math_add)),
        Intrinsic("States.StringSplit", 2, 2, _pure(_string_split)),
        Intrinsic("States.UUID", 0, 0, lambda _, draw: draw.uuid()),
    )
}
"""Every function by its name."""
