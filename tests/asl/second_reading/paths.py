"""What a path finds: a list of nodes goes through the pieces of the path, one after the other."""

import re
from collections.abc import Callable
from typing import Any

from tests.asl.second_reading.splitting import end_of_group, split
from tests.asl.second_reading.values import NotThere, Value, alike, is_number, spelled

Piece = tuple[Any, ...]
ABSENT = object()


def read(text: str, document: Value, context: Value, here: Value = None) -> Value:
    """The value of a path; NotThere if it should be one value and is none."""
    if text.startswith("$$"):
        start, rest = context, text[2:]
    else:
        start, rest = (here if text[0] == "@" else document), text[1:]
    pieces = pieces_of(rest)
    nodes = [start]
    for number, piece in enumerate(pieces):
        last = number == len(pieces) - 1
        if piece[0] == "function" and pieces[0] == ("descend",):
            nodes = called(piece[1], nodes)
        else:
            nodes = [out for node in nodes for out in step(piece, node, last, document, context)]
    if not one_value(pieces):
        return nodes
    if not nodes:
        raise NotThere(text)
    return nodes[0]


def one_value(pieces: list[Piece]) -> bool:
    if pieces and pieces[0] == ("descend",):
        return any(piece[0] == "function" for piece in pieces)
    for number, piece in enumerate(pieces):
        if piece[0] in ("all", "slice", "filter", "descend", "several indices"):
            return False
        if piece[0] == "several names" and number < len(pieces) - 1:
            return False
    return True


def pieces_of(text: str) -> list[Piece]:
    pieces: list[Piece] = []
    while text:
        if text.startswith(".."):
            pieces.append(("descend",))
            text = text[2:] if text[2] == "[" else text[1:]
        elif text.startswith(".["):
            text = text[1:]
        elif text.startswith("["):
            end = end_of_group(text, 0)
            pieces.append(bracket(text[1 : end - 1].strip()))
            text = text[end:]
        else:
            name, text = dotted(text[1:])
            pieces.append(name)
    return pieces


def dotted(text: str) -> tuple[Piece, str]:
    name, place = "", 0
    while place < len(text) and text[place] not in ".[(":
        if text[place] == "\\":
            place += 1
        name += text[place]
        place += 1
    if text[place : place + 1] == "(":
        return ("function", name), text[end_of_group(text, place) :]
    if text[:place] == "*":
        return ("all",), text[place:]
    return ("name", name), text[place:]


def bracket(inside: str) -> Piece:
    if inside == "*":
        return ("all",)
    if inside.startswith("?"):
        return ("filter", inside[1:].strip())
    if inside.startswith(("'", '"')):
        names = [unquoted(part.strip()) for part in split(inside, ",")]
        return ("name", names[0]) if len(names) == 1 else ("several names", names)
    if ":" in inside:
        first, last = (part.strip() for part in inside.split(":"))
        return ("slice", int(first) if first else None, int(last) if last else None)
    indices = [int(part) for part in inside.split(",")]
    return ("index", indices[0]) if len(indices) == 1 else ("several indices", indices)


def unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def step(piece: Piece, node: Value, last: bool, document: Value, context: Value) -> list[Value]:
    kind = piece[0]
    if kind == "name":
        return [node[piece[1]]] if isinstance(node, dict) and piece[1] in node else []
    if kind == "several names":
        if not isinstance(node, dict):
            return []
        there = {name: node[name] for name in piece[1] if name in node}
        return [there] if last else [there[name] for name in piece[1] if name in there]
    if kind in ("index", "several indices"):
        indices = [piece[1]] if kind == "index" else piece[1]
        return [out for index in indices for out in at(node, index)]
    if kind == "slice":
        return sliced(node, piece[1], piece[2])
    if kind == "all":
        return children(node)
    if kind == "descend":
        return [inner for inner in everything(node) if isinstance(inner, list | dict)]
    if kind == "filter":
        candidates = node if isinstance(node, list) else [node] if isinstance(node, dict) else []
        return [one for one in candidates if passes(piece[1], one, document, context)]
    return called(piece[1], node)


def children(node: Value) -> list[Value]:
    if isinstance(node, dict):
        return list(node.values())
    return list(node) if isinstance(node, list) else []


def everything(node: Value) -> list[Value]:
    return [node, *(inner for child in children(node) for inner in everything(child))]


def at(node: Value, index: int) -> list[Value]:
    if not isinstance(node, list):
        return []
    place = index if index >= 0 else len(node) + index
    return [node[place]] if 0 <= place < len(node) else []


def sliced(node: Value, first: int | None, last: int | None) -> list[Value]:
    if not isinstance(node, list):
        return []
    if first is None or last is None:
        return node[first:last]
    places = [place for place in range(-50, 50) if first <= place < min(last, len(node))]
    return [out for place in places for out in at(node, place)]


def called(function: str, node: Value) -> list[Value]:
    """What a function makes of a node, if anything."""
    if function in ("length", "size"):
        return [len(node) if isinstance(node, list | dict) else None]
    if function == "keys":
        return [list(node) if isinstance(node, dict) else None]
    items = node if isinstance(node, list) else []
    if function == "concat":
        return ["".join(item for item in items if isinstance(item, str))]
    if function in ("first", "last"):
        return items[:1] if function == "first" else items[-1:]
    numbers = [item for item in items if is_number(item)]
    if not numbers:
        return []
    makers: dict[str, Callable[[list[Any]], Any]] = {
        "min": min,
        "max": max,
        "sum": sum,
        "avg": lambda given: sum(given) / len(given),
    }
    return [float(makers[function](numbers))]


def passes(test: str, here: Value, document: Value, context: Value) -> bool:
    test = test.strip()
    ways = split(test, "||")
    if len(ways) > 1:
        return any(passes(way, here, document, context) for way in ways)
    needs = split(test, "&&")
    if len(needs) > 1:
        return all(passes(need, here, document, context) for need in needs)
    if test.startswith("!"):
        return not passes(test[1:], here, document, context)
    if test.startswith("("):
        return passes(test[1:-1], here, document, context)
    for operator in ("=~", "==", "!=", "<=", ">=", "<", ">"):
        sides = split(test, operator)
        if len(sides) == 2:
            left, right = (operand(side.strip(), here, document, context) for side in sides)
            return compared(left, operator, right)
    found = operand(test, here, document, context)
    return found is not ABSENT and (one_value(pieces_of(test[1:])) is True or bool(found))


def operand(text: str, here: Value, document: Value, context: Value) -> Value:
    if text[0] in "$@":
        try:
            return read(text, document, context, here)
        except NotThere:
            return ABSENT
    if text[0] in "'\"":
        return unquoted(text)
    if text[0] == "/":
        return re.compile(text[1 : text.rindex("/")])
    if text in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[text]
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return text if text[0].isalpha() else float(text)


def compared(left: Value, operator: str, right: Value) -> bool:
    if operator == "=~":
        words = left if isinstance(left, list) else [left]
        return any(right.fullmatch(word(one)) is not None for one in words)
    if operator == "==":
        return same(left, right)
    if operator == "!=":
        return not same(left, right)
    strings = isinstance(left, str) and isinstance(right, str)
    if not strings and not (is_number(left) and is_number(right)):
        return False
    return bool(
        {
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
        }[operator]
    )


def word(value: Value) -> str:
    if value is ABSENT or value is None or isinstance(value, list | dict):
        return ""
    return value if isinstance(value, str) else spelled(value)


def same(left: Value, right: Value) -> bool:
    if left is ABSENT or right is ABSENT:
        return False
    if isinstance(left, str) and is_number(right):
        return left == spelled(right)
    if is_number(left) and isinstance(right, str):
        number = re.fullmatch(r"-?\d+(\.\d+)?", right)
        return number is not None and float(right) == left
    return alike(left, right)
