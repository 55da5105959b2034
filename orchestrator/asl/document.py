"""JSON text, read and written in one place.

orjson does the work where it is exact. It is not for integers beyond 64 bits (it reads them as
floats), for lone surrogates (it refuses them) and for what must be escaped to be ASCII; there the
standard library does. NaN (it writes null) is refused before.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

import orjson
import re2

from orchestrator.asl.limits import DEFAULT, Limits

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class DocumentError(Exception):
    """A text is no acceptable JSON document, or a value cannot be written as one.

    `position` is the character (the byte, for invalid UTF-8) where a text goes wrong; `too_large`
    tells a document beyond its limit from a wrong one.
    """

    def __init__(
        self, message: str, position: int | None = None, *, too_large: bool = False
    ) -> None:
        super().__init__(message if position is None else f"{message} at character {position}")
        self.message = message
        self.position = position
        self.too_large = too_large


# ------------------------------------------------------------------------------------- reading

_BEYOND_64_BITS = re2.compile(rb"[0-9]{19}")


def read(text: str | bytes, *, limits: Limits = DEFAULT) -> Json:
    """Return the value of a JSON text; the last of several equal keys wins.

    Raises DocumentError for text that is too long or too deep, for NaN, Infinity, numbers beyond
    binary64 and integers of more than 308 digits, for invalid UTF-8 and for what is not JSON.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > limits.document_bytes:
        raise _too_large(limits.document_bytes)
    value = _parsed(text, data, limits)
    if data.count(b"[") + data.count(b"{") > limits.document_depth:
        check_depth(value, limits.document_depth)
    return value


def _too_large(most_bytes: int) -> DocumentError:
    return DocumentError(f"The document has more than {most_bytes} bytes", too_large=True)


def _too_deep(most: int) -> DocumentError:
    return DocumentError(f"The document is nested more than {most} deep")


def _parsed(text: str | bytes, data: bytes, limits: Limits) -> Json:
    if not _BEYOND_64_BITS.search(data):
        try:
            value: Json = orjson.loads(data)
        except orjson.JSONDecodeError:
            # It may be a lone surrogate; and the other parser says better what is wrong.
            pass
        else:
            return value
    return _carefully_parsed(_decoded(text), limits)


def _decoded(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError("The text is not UTF-8", error.start) from error


def _carefully_parsed(text: str, limits: Limits) -> Json:
    def integer(digits: str) -> int:
        if len(digits.lstrip("-")) > limits.integer_digits:
            raise DocumentError(f"An integer has more than {limits.integer_digits} digits")
        return int(digits)

    try:
        value: Json = json.loads(
            text, parse_int=integer, parse_float=_float, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        raise DocumentError(error.msg, error.pos) from error
    except RecursionError as error:
        raise _too_deep(limits.document_depth) from error
    return value


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise DocumentError(f"The number {digits[:40]} is beyond binary64")
    return value


def _constant(name: str) -> Json:
    raise DocumentError(f"{name} is not JSON")


def check_depth(value: Json, most: int) -> None:
    """Raise DocumentError if arrays and objects stand in each other more than `most` deep."""
    level: list[Json] = [value]
    for _ in range(most):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    if any(isinstance(one, dict | list) for one in level):
        raise _too_deep(most)


def _inside(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


# ------------------------------------------------------------------------------------- writing

_PLAIN = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


def write(value: Json, *, limits: Limits = DEFAULT) -> str:
    """Return the compact JSON text of a value, in ASCII only.

    Raises DocumentError for what `read` would refuse: NaN, Infinity, integers of more than 308
    digits, what is too deep or too large. A value that holds one part many times is refused
    before its text is made.
    """
    check_size(value, limits.document_bytes)
    text = _quickly_written(value)
    if text is None:
        text = _carefully_written(value, limits)
    if len(text) > limits.document_bytes:
        raise _too_large(limits.document_bytes)
    if text.count("[") + text.count("{") > limits.document_depth:
        check_depth(value, limits.document_depth)
    return text


def check_size(value: Json, most_bytes: int) -> None:
    """Raise DocumentError if the text of a value is sure to have more than `most_bytes`.

    Counts no more than that, so it is safe where a few parts make up an immense whole. On the
    way it refuses NaN and Infinity, of which orjson makes null without a word.
    """
    size = 0
    waiting: list[Json] = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            size += len(current) + 2
        elif isinstance(current, dict):
            size += 2 * len(current)
            waiting.extend(current)
            waiting.extend(current.values())
        elif isinstance(current, list):
            size += len(current) + 1
            waiting.extend(current)
        else:
            size += 1
            if isinstance(current, float) and not math.isfinite(current):
                raise DocumentError(f"{current} is not JSON")
        if size > most_bytes:
            raise _too_large(most_bytes)


def _quickly_written(value: Json) -> str | None:
    try:
        data = orjson.dumps(value, option=_PLAIN)
    except orjson.JSONEncodeError:
        return None
    return data.decode() if data.isascii() else None


def _carefully_written(value: Json, limits: Limits) -> str:
    check_depth(value, limits.document_depth)
    _check_members(value, limits)
    try:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError) as error:
        raise DocumentError(f"The value cannot be written as JSON: {error}") from error


def _check_members(value: Json, limits: Limits) -> None:
    most = 10**limits.integer_digits
    waiting: list[Json] = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            if not all(isinstance(key, str) for key in current):
                raise DocumentError("The value has a key that is no string")
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)
        elif isinstance(current, int) and not -most < current < most:
            raise DocumentError(f"An integer has more than {limits.integer_digits} digits")


# ------------------------------------------------------------------------------- for causes

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def write_out(value: Json) -> str:
    """Return the compact JSON text of a value, whatever characters it holds, however long."""
    try:
        return _ENCODER.encode(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise DocumentError(f"The value cannot be written as JSON: {error}") from error


def show(value: Json, *, most_characters: int = DEFAULT.cause_characters) -> str:
    """Return the compact JSON text of a value for people to read, cut off where it gets long."""
    pieces: list[str] = []
    left = most_characters
    for piece in _ENCODER.iterencode(value):
        pieces.append(piece)
        left -= len(piece)
        if left <= 0:
            break
    return "".join(pieces)[:most_characters]


# ---------------------------------------------------------------------------------- comparing


def plain(value: Json) -> Json:
    """Return a value in which equal numbers are written alike."""
    match value:
        case dict():
            return {name: plain(inner) for name, inner in value.items()}
        case list():
            return [plain(inner) for inner in value]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def _free(steps: int) -> None:
    """Spend nothing."""


def equal(a: Json, b: Json, spend: Callable[[int], None] = _free) -> bool:
    """Tell whether two values are the same JSON: 1 is 1.0, and true is not 1.

    `spend` is told of every value that is compared, and may put an end to it by raising.
    """
    spend(1)
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict):
        if not isinstance(b, dict) or len(a) != len(b):
            return False
        for key, value in a.items():
            if key not in b or not equal(value, b[key], spend):
                return False
        return True
    if isinstance(a, list):
        if not isinstance(b, list) or len(a) != len(b):
            return False
        # A loop, for deep values: a generator would take two frames a level.
        for one, other in zip(a, b, strict=True):  # noqa: SIM110
            if not equal(one, other, spend):
                return False
        return True
    return a == b
