"""JSON text, read and written in one place."""

from __future__ import annotations

import json
import math
import re
from typing import TypeAlias

import orjson

from orchestrator.asl.limits import DEFAULT, Limits

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"


class DocumentError(Exception):
    """A text is no acceptable JSON document, or a value cannot be written as one."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message if position is None else f"{message} at character {position}")
        self.message = message
        self.position = position


def read(text: str | bytes, *, limits: Limits = DEFAULT) -> Json:
    """Return the value of a JSON text; the last of several equal keys wins.

    Raises DocumentError for text that is too long or too deep, for NaN, Infinity, numbers beyond
    binary64 and integers of more than 308 digits, for invalid UTF-8 and for what is not JSON.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > limits.document_bytes:
        raise DocumentError(f"document of more than {limits.document_bytes} bytes")
    string = _decoded(data) if isinstance(text, bytes) else text
    check_depth(string, limits.document_depth)
    return _parsed(string, limits)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError("invalid UTF-8", error.start) from error


_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)', re.DOTALL)
_BRACKETS = re.compile(r"[\[\]{}]")


def check_depth(text: str, most: int) -> None:
    """Raise DocumentError if arrays and objects stand in each other more than `most` deep."""
    if text.count("[") + text.count("{") <= most:
        return
    depth = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > most:
            raise DocumentError(f"document nested more than {most} deep")


def _parsed(text: str, limits: Limits) -> Json:
    def integer(digits: str) -> int:
        if len(digits.lstrip("-")) > limits.integer_digits:
            raise DocumentError(f"integer of more than {limits.integer_digits} digits")
        return int(digits)

    def number(digits: str) -> float:
        value = float(digits)
        if math.isinf(value):
            raise DocumentError(f"number beyond binary64: {digits[:40]}")
        return value

    def constant(name: str) -> Json:
        raise DocumentError(f"{name} is not JSON")

    try:
        value: Json = json.loads(
            text, parse_int=integer, parse_float=number, parse_constant=constant
        )
    except json.JSONDecodeError as error:
        raise DocumentError(error.msg, error.pos) from error
    return value


def write(value: Json) -> str:
    """Return the compact JSON text of a value, in ASCII only.

    Raises DocumentError for NaN, Infinity and values that are too deep.
    """
    try:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError) as error:
        raise DocumentError(f"value cannot be written as JSON: {error}") from error


def show(value: Json) -> str:
    """Return the compact JSON text of a value as people read it, not limited to ASCII."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def equal(a: Json, b: Json) -> bool:
    """Tell whether two values are the same JSON: 1 is 1.0, and true is not 1."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict):
        if not isinstance(b, dict) or len(a) != len(b):
            return False
        return all(key in b and equal(value, b[key]) for key, value in a.items())
    if isinstance(a, list):
        if not isinstance(b, list) or len(a) != len(b):
            return False
        return all(equal(one, other) for one, other in zip(a, b, strict=True))
    return a == b
