"""Choice rules: 39 comparisons and And, Or, Not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from orchestrator.asl.document import Json
from orchestrator.asl.errors import RUNTIME, CompileError, Fault, StateFailure
from orchestrator.asl.paths import (
    NO_VARIABLES,
    Budget,
    ContextSource,
    Path,
    PathNotFound,
    PathSyntaxError,
    Variables,
    compile_path,
)
from orchestrator.asl.spelling import number_in
from orchestrator.asl.timestamps import nanoseconds

Check: TypeAlias = Callable[[Json, Json], bool]


@dataclass(frozen=True, slots=True)
class Present:
    """`IsPresent`."""

    variable: Path
    expected: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """A variable and an operator; the comparand is a value or stands at a path."""

    variable: Path
    operator: str
    check: Check
    comparand: Json
    comparand_path: Path | None


@dataclass(frozen=True, slots=True)
class Not:
    """`Not`."""

    test: Test


@dataclass(frozen=True, slots=True)
class And:
    """`And`: stops at the first that does not hold."""

    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """`Or`: stops at the first that holds."""

    tests: tuple[Test, ...]


Test: TypeAlias = Present | Comparison | Not | And | Or


@dataclass(frozen=True, slots=True)
class Rule:
    """What decides whether a Choice takes a way."""

    test: Test
    paths: tuple[Path, ...]

    @property
    def reads_context(self) -> bool:
        """Tell whether some path in it begins with `$$`."""
        return any(path.reads_context for path in self.paths)

    @property
    def reads_execution_input(self) -> bool:
        """Tell whether some path in it can see the execution's input through `$$`."""
        return any(path.reads_execution_input for path in self.paths)

    @property
    def variables(self) -> frozenset[str]:
        """Return the names of the variables that it reads."""
        return frozenset().union(*(path.variables for path in self.paths))

    def holds(
        self, document: Json, context: ContextSource, variables: Variables = NO_VARIABLES
    ) -> bool:
        """Tell whether it holds; raises StateFailure when a variable leads nowhere."""
        return _holds(self.test, _Reading(document, context, Budget(), variables))


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a rule reads from."""

    document: Json
    context: ContextSource
    budget: Budget
    variables: Variables

    def read(self, path: Path) -> Json:
        """Return what is at a path; raises PathNotFound."""
        return path.read(self.document, self.context, self.budget, self.variables)

    def variable(self, path: Path) -> Json:
        """Return what is at a path that must lead somewhere."""
        try:
            return self.read(path)
        except PathNotFound:
            cause = (
                f"Invalid path '{path.text}': The choice state's condition path references an "
                "invalid value."
            )
            raise StateFailure(RUNTIME, cause) from None

    def has(self, path: Path) -> bool:
        """Tell whether a path leads somewhere."""
        try:
            found = self.read(path)
        except PathNotFound:
            return False
        return path.definite or bool(found)


def _holds(test: Test, reading: _Reading) -> bool:
    match test:
        case Comparison():
            return _compares(test, reading)
        case Present(variable, expected):
            return reading.has(variable) is expected
        case Not(inner):
            return not _holds(inner, reading)
        case And(tests):
            return all(_holds(one, reading) for one in tests)
        case Or(tests):
            return any(_holds(one, reading) for one in tests)


def _compares(test: Comparison, reading: _Reading) -> bool:
    value = reading.variable(test.variable)
    if test.comparand_path is None:
        return test.check(value, test.comparand)
    return test.check(value, reading.variable(test.comparand_path))


# comparisons


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_timestamp(value: Json) -> bool:
    return isinstance(value, str) and nanoseconds(value) is not None


def _string_order(a: Json, b: Json) -> int | None:
    if not isinstance(a, str) or not isinstance(b, str):
        return None
    if a.isascii() and b.isascii():
        return (a > b) - (a < b)
    left, right = _utf16(a), _utf16(b)
    return (left > right) - (left < right)


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _number_order(a: Json, b: Json) -> int | None:
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return None
    if isinstance(a, bool) or isinstance(b, bool):
        return None
    left, right = float(a), float(b)
    return (left > right) - (left < right)


def _timestamp_order(a: Json, b: Json) -> int | None:
    if not isinstance(a, str) or not isinstance(b, str):
        return None
    left, right = nanoseconds(a), nanoseconds(b)
    if left is None or right is None:
        return None
    return (left > right) - (left < right)


def _boolean_equals(a: Json, b: Json) -> bool:
    return isinstance(a, bool) and isinstance(b, bool) and a is b


_ORDERS: dict[str, Callable[[Json, Json], int | None]] = {
    "String": _string_order,
    "Numeric": _number_order,
    "Timestamp": _timestamp_order,
}
_ACCEPTED: dict[str, tuple[int, ...]] = {
    "Equals": (0,),
    "LessThan": (-1,),
    "GreaterThan": (1,),
    "LessThanEquals": (-1, 0),
    "GreaterThanEquals": (0, 1),
}


def _ordered(order: Callable[[Json, Json], int | None], accepted: tuple[int, ...]) -> Check:
    return lambda value, comparand: order(value, comparand) in accepted


COMPARISONS: dict[str, Check] = {
    kind + relation: _ordered(order, accepted)
    for kind, order in _ORDERS.items()
    for relation, accepted in _ACCEPTED.items()
} | {"BooleanEquals": _boolean_equals}
"""The sixteen comparisons that also have a form ending in `Path`."""

TYPE_TESTS: dict[str, Callable[[Json], bool]] = {
    "IsNull": lambda value: value is None,
    "IsNumeric": _is_number,
    "IsString": lambda value: isinstance(value, str),
    "IsBoolean": lambda value: isinstance(value, bool),
    "IsTimestamp": _is_timestamp,
}

OPERATORS = frozenset(
    {*COMPARISONS, *(name + "Path" for name in COMPARISONS), *TYPE_TESTS}
    | {"IsPresent", "StringMatches"}
)
"""Every operator of a data test."""


# compilation


def compile_rule(value: Json, pointer: str = "") -> Rule:
    """Return the rule that an entry of Choices (its `Next` aside) or a part of one means.

    Raises CompileError with all that is wrong.
    """
    compiler = _Compiler()
    test = compiler.test(value, pointer)
    if test is None or compiler.faults:
        raise CompileError(compiler.faults)
    return Rule(test, tuple(compiler.paths))


class _Compiler:
    """Collects faults and paths on the way through a rule."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.paths: list[Path] = []

    def fault(self, message: str, pointer: str) -> None:
        self.faults.append(Fault(message, pointer))

    def test(self, value: Json, pointer: str) -> Test | None:
        if not isinstance(value, dict):
            self.fault("A Choice rule must be an object", pointer)
            return None
        kinds = [name for name in value if name in ("And", "Or", "Not") or name in OPERATORS]
        if len(kinds) != 1:
            self.fault("A Choice rule must have exactly one operator", pointer)
            return None
        operator = kinds[0]
        operand, inner = value[operator], f"{pointer}/{operator}"
        match operator:
            case "And" | "Or":
                return self.several(operator, operand, inner)
            case "Not":
                test = self.test(operand, inner)
                return None if test is None else Not(test)
            case _:
                return self.data_test(value, operator, pointer)

    def several(self, operator: str, operand: Json, pointer: str) -> Test | None:
        if not isinstance(operand, list) or not operand:
            self.fault(f"{operator} must be a non-empty array", pointer)
            return None
        tests = [self.test(one, f"{pointer}/{n}") for n, one in enumerate(operand)]
        complete = tuple(test for test in tests if test is not None)
        return And(complete) if operator == "And" else Or(complete)

    def path(self, value: Json, pointer: str) -> Path | None:
        try:
            if not isinstance(value, str):
                self.fault("A path must be a string", pointer)
                return None
            path = compile_path(value)
        except PathSyntaxError as error:
            self.fault(str(error), pointer)
            return None
        self.paths.append(path)
        return path

    def data_test(self, rule: dict[str, Json], operator: str, pointer: str) -> Test | None:
        if "Variable" not in rule:
            self.fault("A Choice rule needs a Variable", pointer)
            return None
        variable = self.path(rule["Variable"], f"{pointer}/Variable")
        operand, place = rule[operator], f"{pointer}/{operator}"
        if operator.endswith("Path"):
            comparand = self.path(operand, place)
            if variable is None or comparand is None:
                return None
            return Comparison(variable, operator, COMPARISONS[operator[:-4]], None, comparand)
        if not _is_comparand(operator, operand):
            self.fault(f"{operator} has a value of the wrong type", place)
            return None
        if variable is None:
            return None
        if operator == "IsPresent":
            return Present(variable, operand is True)
        return Comparison(variable, operator, _check(operator, operand), operand, None)


def _is_comparand(operator: str, operand: Json) -> bool:
    if operator.startswith(("Is", "Boolean")):
        return isinstance(operand, bool)
    if operator.startswith("Numeric"):
        return _is_number(operand) or isinstance(operand, str)
    if operator.startswith("Timestamp"):
        return _is_timestamp(operand)
    return isinstance(operand, str)


def _check(operator: str, operand: Json) -> Check:
    if operator == "StringMatches":
        return _matcher(str(operand))
    if operator.startswith("Numeric") and isinstance(operand, str):
        return _spelled(operator, operand)
    if operator in TYPE_TESTS:
        test = TYPE_TESTS[operator]
        return lambda value, comparand: test(value) is comparand
    return COMPARISONS[operator]


def _spelled(operator: str, operand: str) -> Check:
    """Return the comparison with the number that a text spells; without one it fails."""
    number = number_in(operand)

    def check(value: Json, _: Json) -> bool:
        if number is None:
            cause = f"The value of {operator} is a string that is no number: {operand}"
            raise StateFailure(RUNTIME, cause)
        return COMPARISONS[operator](value, number)

    return check


_PIECE = re.compile(r"\\([*\\])|(\*)|([^\\*]+|\\)", re.DOTALL)


def _matcher(pattern: str) -> Check:
    parts: list[list[str]] = [[]]
    for escaped, star, plain in _PIECE.findall(pattern):
        if star:
            parts.append([])
        else:
            parts[-1].append(escaped or plain)
    literals = ["".join(part) for part in parts]
    return lambda value, _: isinstance(value, str) and _fits(value, literals)


def _fits(text: str, literals: list[str]) -> bool:
    """Tell whether a text is the literals in order with anything between them."""
    if len(literals) == 1:
        return text == literals[0]
    first, *middle, last = literals
    if len(text) < len(first) + len(last):
        return False
    if not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for literal in middle:
        found = text.find(literal, at, end)
        if found < 0:
            return False
        at = found + len(literal)
    return True
