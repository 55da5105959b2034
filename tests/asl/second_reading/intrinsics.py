"""What a call of an intrinsic function comes to."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from tests.asl.second_reading import paths
from tests.asl.second_reading.splitting import split
from tests.asl.second_reading.values import CannotDo, Value, alike, is_number, spelled


def evaluate(text: str, document: Value, context: Value) -> Value:
    """The value of a path or a call."""
    text = text.strip()
    if text.startswith("$"):
        return paths.read(text, document, context)
    if text.startswith("'"):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if not text.startswith("States."):
        return json.loads(text)
    name, inside = text[len("States.") : -1].split("(", 1)
    parts = split(inside, ",") if inside.strip() else []
    if name == "Format" and parts[0].strip().startswith("'"):
        rest = [evaluate(part, document, context) for part in parts[1:]]
        return formatted(literal_pieces(parts[0].strip()[1:-1]), rest)
    return FUNCTIONS[name](*(evaluate(part, document, context) for part in parts))


def literal_pieces(text: str) -> list[str]:
    pieces, place = [""], 0
    while place < len(text):
        if text[place] == "\\":
            pieces[-1] += text[place + 1]
            place += 2
        elif text.startswith("{}", place):
            pieces.append("")
            place += 2
        else:
            pieces[-1] += text[place]
            place += 1
    return pieces


def need(condition: bool) -> None:
    if not condition:
        raise CannotDo


def formatted(pieces: list[str], values: list[Value]) -> str:
    need(len(pieces) == len(values) + 1)
    text = pieces[0]
    for value, piece in zip(values, pieces[1:], strict=True):
        text += printed(value) + piece
    return text


def printed(value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "[" + ", ".join(printed(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}={printed(value[key])}" for key in value) + "}"
    return spelled(value)


def whole(value: Value) -> int:
    need(is_number(value))
    return int((Decimal(value) + Decimal("0.5")).to_integral_value(ROUND_FLOOR))


def small(value: Value) -> int:
    number = whole(value)
    need(-2147483648 <= number <= 2147483647)
    return number


def a_list(value: Value) -> list[Value]:
    need(isinstance(value, list))
    return list(value)


def a_string(value: Value) -> str:
    need(isinstance(value, str))
    return str(value)


def string_to_json(text: Value) -> Value:
    if a_string(text).strip() == "":
        return None
    try:
        return json.loads(text)
    except ValueError:
        raise CannotDo from None


def partition(array: Value, size: Value) -> Value:
    items, length = a_list(array), whole(size)
    need(length > 0)
    chunks: list[Value] = []
    while items:
        chunks.append(items[:length])
        items = items[length:]
    return chunks


def array_range(first: Value, last: Value, step: Value) -> Value:
    place, end, stride = whole(first), whole(last), whole(step)
    need(stride != 0)
    numbers: list[Value] = []
    while (place <= end) if stride > 0 else (place >= end):
        numbers.append(place)
        need(len(numbers) <= 1000)
        place += stride
    return numbers


def get_item(array: Value, index: Value) -> Value:
    items, place = a_list(array), whole(index)
    need(0 <= place < len(items))
    return items[place]


def unique(array: Value) -> Value:
    kept: list[Value] = []
    for item in a_list(array):
        if not any(alike(item, other) for other in kept):
            kept.append(item)
    return kept


def encode(text: Value) -> Value:
    need(len(a_string(text)) <= 10_000)
    return base64.b64encode(text.encode()).decode()


def decode(text: Value) -> Value:
    need(len(a_string(text)) <= 10_000)
    need(re.fullmatch(r"[A-Za-z0-9+/]*={0,2}", text) is not None)
    bare = text.rstrip("=")
    need(len(bare) % 4 != 1)
    return base64.b64decode(bare + "===="[: -len(bare) % 4]).decode(errors="replace")


def digest(value: Value, algorithm: Value) -> Value:
    need(algorithm in ("MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512"))
    text = value if isinstance(value, str) else spelled(value)
    need(len(text) <= 10_000)
    return hashlib.new(algorithm.replace("-", ""), text.encode()).hexdigest()


def merge(one: Value, other: Value, deep: Value) -> Value:
    need(isinstance(one, dict) and isinstance(other, dict) and deep is False)
    merged = dict(one)
    for key in other:
        merged[key] = other[key]
    return merged


def string_split(text: Value, delimiters: Value) -> Value:
    parts, part = [], ""
    for letter in a_string(text):
        if letter in a_string(delimiters):
            parts.append(part)
            part = ""
        else:
            part += letter
    a_string(delimiters)
    return [one for one in [*parts, part] if one]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Format": lambda template, *values: formatted(a_string(template).split("{}"), list(values)),
    "StringToJson": string_to_json,
    "JsonToString": spelled,
    "Array": lambda *values: list(values),
    "ArrayPartition": partition,
    "ArrayContains": lambda array, value: any(alike(item, value) for item in a_list(array)),
    "ArrayRange": array_range,
    "ArrayGetItem": get_item,
    "ArrayLength": lambda array: len(a_list(array)),
    "ArrayUnique": unique,
    "Base64Encode": encode,
    "Base64Decode": decode,
    "Hash": digest,
    "JsonMerge": merge,
    "MathAdd": lambda one, other: small(small(one) + small(other)),
    "StringSplit": string_split,
}
