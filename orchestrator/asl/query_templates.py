"""Templates of JSONata: Arguments, Output, Assign, Items: any JSON with `{% … %}` inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from orchestrator.asl.diagnostics import child
from orchestrator.asl.document import Json
from orchestrator.asl.errors import CompileError, Fault
from orchestrator.asl.jsonata import Query, QuerySyntaxError, compile_query, expression_in


@dataclass(frozen=True, slots=True)
class Literal:
    """A part without expressions: it stands for itself."""

    value: Json


@dataclass(frozen=True, slots=True)
class Queried:
    """The value of an expression; `field` is where it stands: `Output/total`."""

    field: str
    query: Query


@dataclass(frozen=True, slots=True)
class Members:
    """An object with expressions somewhere inside."""

    members: tuple[tuple[str, Part], ...]


@dataclass(frozen=True, slots=True)
class Items:
    """An array with expressions somewhere inside."""

    items: tuple[Part, ...]


Part: TypeAlias = Literal | Queried | Members | Items

Asked: TypeAlias = Callable[[Queried], Json]
"""Returns the value of an expression, or raises StateFailure."""


@dataclass(frozen=True, slots=True)
class QueryTemplate:
    """A template of JSONata."""

    part: Part
    queries: tuple[Query, ...]
    doubts: tuple[Fault, ...]

    @property
    def reads_execution_input(self) -> bool:
        """Tell whether some expression in it can see the execution's input by the context."""
        return any(query.reads_execution_input for query in self.queries)

    @property
    def variables(self) -> frozenset[str]:
        """Return the names of the variables that it reads."""
        return frozenset().union(*(query.variables for query in self.queries))

    def render(self, asked: Asked) -> Json:
        """Return the value of the template; what it holds literally is shared with it."""
        return _rendered(self.part, asked)


def _rendered(part: Part, asked: Asked) -> Json:
    match part:
        case Literal(value):
            return value
        case Queried():
            return asked(part)
        case Members(members):
            return {name: _rendered(member, asked) for name, member in members}
        case Items(items):
            return [_rendered(item, asked) for item in items]


def compile_query_template(value: Json, field: str, pointer: str = "") -> QueryTemplate:
    """Return the template that a JSON value means; `field` begins the places that causes name.

    Raises CompileError with all that is wrong.
    """
    compiler = _Compiler()
    part = compiler.part(value, field, pointer)
    if compiler.faults:
        raise CompileError(compiler.faults)
    return QueryTemplate(part, tuple(compiler.queries), tuple(compiler.doubts))


class _Compiler:
    """Collects faults and expressions on the way through a template."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.doubts: list[Fault] = []
        self.queries: list[Query] = []

    def part(self, value: Json, field: str, pointer: str) -> Part:
        match value:
            case dict():
                members = {
                    name: self.part(inner, f"{field}/{name}", child(pointer, name))
                    for name, inner in value.items()
                }
                if all(isinstance(member, Literal) for member in members.values()):
                    return Literal(value)
                return Members(tuple(members.items()))
            case list():
                items = tuple(
                    self.part(inner, f"{field}[{n}]", child(pointer, n))
                    for n, inner in enumerate(value)
                )
                if all(isinstance(item, Literal) for item in items):
                    return Literal(value)
                return Items(items)
            case _:
                return self.leaf(value, field, pointer)

    def leaf(self, value: Json, field: str, pointer: str) -> Part:
        text = expression_in(value)
        if text is None:
            return Literal(value)
        try:
            query = compile_query(text)
        except QuerySyntaxError as error:
            self.faults.append(Fault(f"Value is not a valid JSONata expression: {error}", pointer))
            return Literal(None)
        self.queries.append(query)
        if query.doubt is not None:
            self.doubts.append(Fault(query.doubt, pointer))
        return Queried(field, query)
