"""What a path is made of. Values only: `parser` makes them, `evaluation` follows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from orchestrator.asl.document import Json

Root = Literal["$", "$$", "@", "$name"]
"""Where a query begins: the document, the context object, a filter's value, a variable."""


class PathSyntaxError(Exception):
    """A text is no path; `position` is the place in the text where it stops making sense."""

    def __init__(self, message: str, text: str, position: int) -> None:
        super().__init__(f"{message} at character {position} of '{text}'")
        self.message = message
        self.text = text
        self.position = position


@dataclass(frozen=True, slots=True)
class Child:
    """`.name` or `['name']`."""

    name: str


@dataclass(frozen=True, slots=True)
class Children:
    """`['a', 'b']`: at the end of a path one object of these members, else each of them."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Index:
    """`[0]`; negative ones count from the end."""

    index: int


@dataclass(frozen=True, slots=True)
class Indices:
    """`[0, 2]`."""

    indices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """`[first:last]`, either end may be left out."""

    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`.*` or `[*]`."""


@dataclass(frozen=True, slots=True)
class Descent:
    """`..`: the value and every object and array inside it, outer ones first."""


@dataclass(frozen=True, slots=True)
class Filter:
    """`[?(test)]`."""

    test: Test


@dataclass(frozen=True, slots=True)
class Call:
    """`.length()` and its like."""

    function: str
    arguments: tuple[Operand, ...]


Segment: TypeAlias = Child | Children | Index | Indices | Slice | Wildcard | Descent | Filter | Call


@dataclass(frozen=True, slots=True)
class Query:
    """A path below one of the four roots; `variable` is the name where the root is one."""

    root: Root
    segments: tuple[Segment, ...]
    definite: bool
    variable: str = ""


@dataclass(frozen=True, slots=True)
class Literally:
    """A value written into a filter."""

    value: Json


@dataclass(frozen=True, slots=True)
class Pattern:
    """`/text/flags`; `search` tells whether the whole of a string matches."""

    text: str
    fits: Callable[[str], bool]


Operand: TypeAlias = Query | Literally | Pattern


@dataclass(frozen=True, slots=True)
class Exists:
    """A path that stands alone in a filter: it leads somewhere."""

    query: Query


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`."""

    left: Operand
    operator: str
    right: Operand


@dataclass(frozen=True, slots=True)
class Not:
    """`!test`."""

    test: Test


@dataclass(frozen=True, slots=True)
class Both:
    """`a && b && …`."""

    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """`a || b || …`."""

    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """`true` or `false` alone in a filter."""

    value: bool


Test: TypeAlias = Exists | Comparison | Not | Both | Either | Constant
