"""Payload templates: Parameters, ResultSelector, ItemSelector, Assign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from orchestrator.asl.document import Json
from orchestrator.asl.draw import Draw
from orchestrator.asl.errors import CompileError, Fault
from orchestrator.asl.expressions import (
    Expression,
    ExpressionSyntaxError,
    Surroundings,
    compile_expression,
)
from orchestrator.asl.paths import NO_VARIABLES, Budget, ContextSource, Variables


@dataclass(frozen=True, slots=True)
class Copied:
    """A part without `.$` fields: it stands for itself."""

    value: Json


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The value of a `.$` field, named `field` in the definition."""

    field: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Members:
    """An object with `.$` fields somewhere inside."""

    members: tuple[tuple[str, Part], ...]


@dataclass(frozen=True, slots=True)
class Items:
    """An array with `.$` fields somewhere inside."""

    items: tuple[Part, ...]


Part: TypeAlias = Copied | Evaluated | Members | Items


@dataclass(frozen=True, slots=True)
class Template:
    """A payload template."""

    part: Part
    expressions: tuple[Expression, ...]
    doubts: tuple[Fault, ...] = ()
    """What AWS would refuse of it."""

    @property
    def reads_context(self) -> bool:
        """Tell whether some path in it begins with `$$`."""
        return any(expression.reads_context for expression in self.expressions)

    @property
    def reads_execution_input(self) -> bool:
        """Tell whether some path in it can see the execution's input through `$$`."""
        return any(expression.reads_execution_input for expression in self.expressions)

    @property
    def variables(self) -> frozenset[str]:
        """Return the names of the variables that it reads."""
        return frozenset().union(*(expression.variables for expression in self.expressions))

    def render(
        self,
        document: Json,
        context: ContextSource,
        draw: Draw,
        variables: Variables = NO_VARIABLES,
        *,
        lenient: bool = False,
    ) -> Json:
        """Return the value of the template; raises StateFailure.

        Where it is `lenient` a path that leads nowhere gives null.
        What the template copies is shared with it and with the document, not copied anew.
        """
        around = Surroundings(document, context, draw, Budget(), variables, lenient)
        return _rendered(self.part, around)


def _rendered(part: Part, around: Surroundings) -> Json:
    match part:
        case Copied(value):
            return value
        case Evaluated(field, expression):
            return expression.value_in(field, around)
        case Members(members):
            return {name: _rendered(member, around) for name, member in members}
        case Items(items):
            return [_rendered(item, around) for item in items]


def compile_template(value: Json, pointer: str = "") -> Template:
    """Return the template that a JSON value means.

    Raises CompileError with all that is wrong; faults point at the object around the field.
    """
    compiler = _Compiler()
    part = compiler.part(value, pointer)
    if compiler.faults:
        raise CompileError(compiler.faults)
    return Template(part, tuple(compiler.expressions), tuple(compiler.doubts))


class _Compiler:
    """Collects faults and expressions on the way through a template."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.doubts: list[Fault] = []
        self.expressions: list[Expression] = []

    def part(self, value: Json, pointer: str) -> Part:
        if isinstance(value, dict):
            return self.members(value, pointer)
        if isinstance(value, list):
            parts = tuple(self.part(item, f"{pointer}/{n}") for n, item in enumerate(value))
            if all(isinstance(part, Copied) for part in parts):
                return Copied(value)
            return Items(parts)
        return Copied(value)

    def members(self, value: dict[str, Json], pointer: str) -> Part:
        members: dict[str, Part] = {}
        for key, item in value.items():
            evaluated = key.endswith(".$")
            name = key[:-2] if evaluated else key
            if name in members:
                self.faults.append(Fault(f"The field '{name}' is given twice", pointer))
            if evaluated:
                members[name] = self.evaluated(key, item, pointer)
            else:
                members[name] = self.part(item, f"{pointer}/{_escaped(key)}")
        if all(isinstance(part, Copied) for part in members.values()):
            return Copied(value)
        return Members(tuple(members.items()))

    def evaluated(self, field: str, value: Json, pointer: str) -> Part:
        try:
            # What is no string is no expression either.
            expression = compile_expression(value if isinstance(value, str) else "")
        except ExpressionSyntaxError:
            message = (
                f"The value for the field '{field}' must be a valid JSONPath or a valid intrinsic "
                "function call"
            )
            self.faults.append(Fault(message, pointer))
            return Copied(None)
        self.expressions.append(expression)
        self.doubts.extend(Fault(doubt, pointer) for doubt in expression.doubts)
        return Evaluated(field, expression)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
