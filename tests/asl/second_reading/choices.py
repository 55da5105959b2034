"""Whether a Choice rule holds."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from tests.asl.second_reading import paths
from tests.asl.second_reading.values import NotThere, Value, is_number


def holds(rule: Value, document: Value, context: Value) -> bool:
    """Whether the rule holds; NotThere if a value it compares is missing."""
    if "And" in rule:
        return all(holds(inner, document, context) for inner in rule["And"])
    if "Or" in rule:
        return any(holds(inner, document, context) for inner in rule["Or"])
    if "Not" in rule:
        return not holds(rule["Not"], document, context)
    (operator,) = rule.keys() - {"Variable", "Comment"}
    wanted = rule[operator]
    if operator == "IsPresent":
        return present(rule["Variable"], document, context) is wanted
    value = paths.read(rule["Variable"], document, context)
    if operator.startswith("Is"):
        return is_a(operator, value) is wanted
    if operator.endswith("Path"):
        wanted = paths.read(wanted, document, context)
        operator = operator[: -len("Path")]
    return compares(operator, value, wanted)


def present(path: str, document: Value, context: Value) -> bool:
    try:
        paths.read(path, document, context)
    except NotThere:
        return False
    return True


def is_a(operator: str, value: Value) -> bool:
    return {
        "IsNull": value is None,
        "IsNumeric": is_number(value),
        "IsString": isinstance(value, str),
        "IsBoolean": isinstance(value, bool),
        "IsTimestamp": instant(value) is not None,
    }[operator]


def compares(operator: str, value: Value, wanted: Value) -> bool:
    if operator == "BooleanEquals":
        return isinstance(value, bool) and isinstance(wanted, bool) and value == wanted
    if operator == "StringMatches":
        return isinstance(value, str) and like(value, wanted)
    family = next(name for name in ("String", "Numeric", "Timestamp") if operator.startswith(name))
    if family == "String":
        if not isinstance(value, str) or not isinstance(wanted, str):
            return False
        sides: tuple[Any, Any] = java_units(value), java_units(wanted)
    elif family == "Numeric":
        if not is_number(value) or not is_number(wanted):
            return False
        sides = float(value), float(wanted)
    else:
        sides = instant(value), instant(wanted)
        if None in sides:
            return False
    return RELATIONS[operator[len(family) :]](*sides)


RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "Equals": lambda one, other: bool(one == other),
    "LessThan": lambda one, other: bool(one < other),
    "GreaterThan": lambda one, other: bool(one > other),
    "LessThanEquals": lambda one, other: bool(one <= other),
    "GreaterThanEquals": lambda one, other: bool(one >= other),
}


def java_units(text: str) -> list[int]:
    """The 16-bit units of a string: Java compares these."""
    units = []
    for letter in text:
        code = ord(letter)
        if code > 0xFFFF:
            code -= 0x10000
            units += [0xD800 + (code >> 10), 0xDC00 + (code & 0x3FF)]
        else:
            units.append(code)
    return units


def instant(text: Value) -> Fraction | None:
    """The seconds since 1970 of an RFC 3339 timestamp with `T` and a zone."""
    if not isinstance(text, str):
        return None
    parts = re.fullmatch(
        r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", text, re.ASCII
    )
    if parts is None:
        return None
    try:
        local = datetime.strptime(parts[1], "%Y-%m-%dT%H:%M:%S")  # noqa: DTZ007  # zone follows
    except ValueError:
        return None
    zone = timedelta(0)
    if parts[3] != "Z":
        zone = timedelta(hours=int(parts[3][1:3]), minutes=int(parts[3][4:6]))
        zone = -zone if parts[3][0] == "-" else zone
    since = local - zone - datetime(1970, 1, 1)  # noqa: DTZ001  # both are without a zone
    return Fraction(since // timedelta(seconds=1)) + Fraction("0" + (parts[2] or ".0"))


def like(text: str, pattern: str) -> bool:
    """Whether a text is what a pattern with `*` means: tried letter by letter."""
    if pattern == "":
        return text == ""
    if pattern[0] == "*":
        return like(text, pattern[1:]) or (text != "" and like(text[1:], pattern))
    letter, rest = pattern[0], pattern[1:]
    if letter == "\\" and rest[:1] in ("*", "\\"):
        letter, rest = rest[0], rest[1:]
    return text[:1] == letter and like(text[1:], rest)
