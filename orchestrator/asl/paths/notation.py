"""How causes spell paths and name values."""

from __future__ import annotations

from orchestrator.asl.document import Json
from orchestrator.asl.paths.syntax import (
    Call,
    Child,
    Children,
    Descent,
    Filter,
    Index,
    Indices,
    Query,
    Segment,
    Slice,
    Wildcard,
)


def bracketed(query: Query, count: int) -> str:
    """Return the root and the first pieces of a query in bracket notation."""
    return f"${query.variable}" + "".join(map(piece, query.segments[:count]))


def piece(segment: Segment) -> str:
    """Return one piece in bracket notation."""
    match segment:
        case Child(name):
            return f"['{name}']"
        case Children(names):
            return "[" + ",".join(f"'{name}'" for name in names) + "]"
        case Index(index):
            return f"[{index}]"
        case Indices(indices):
            return "[" + ",".join(map(str, indices)) + "]"
        case Slice(first, last):
            return f"[{'' if first is None else first}:{'' if last is None else last}]"
        case Wildcard():
            return "[*]"
        case Descent():
            return ".."
        case Filter():
            return "[?]"
        case Call(function):
            return f".{function}()"


def kind(value: Json) -> str:
    """Name the type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case dict():
            return "an object"
