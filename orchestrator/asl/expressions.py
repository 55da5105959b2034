"""An Expression: a path, or a call of an intrinsic function, as a `.$` field holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from orchestrator.asl.document import Json, show
from orchestrator.asl.draw import Draw
from orchestrator.asl.errors import INTRINSIC_FAILURE, RUNTIME, StateFailure
from orchestrator.asl.intrinsics import INTRINSICS, Intrinsic, IntrinsicError, formatted
from orchestrator.asl.limits import MOST_CALL_NESTING
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

CHARACTERS_PER_STEP = 100
"""How many characters of text one step of an evaluation makes."""


class ExpressionSyntaxError(Exception):
    """A text is neither a path nor a call of an intrinsic function."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A string, number, boolean or null written as an argument."""

    value: Json


@dataclass(frozen=True, slots=True)
class Text:
    """A string written as an argument; `pieces` are what stands around each unescaped `{}`."""

    value: str
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an intrinsic function."""

    text: str
    intrinsic: Intrinsic
    arguments: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Formatting:
    """A call of States.Format with a template that is written there."""

    text: str
    pieces: tuple[str, ...]
    arguments: tuple[Term, ...]


Term: TypeAlias = Path | Constant | Text | Call | Formatting


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an expression is evaluated in."""

    document: Json
    context: ContextSource
    draw: Draw
    budget: Budget
    variables: Variables
    lenient: bool = False
    """What leads nowhere is null."""


@dataclass(frozen=True, slots=True)
class Expression:
    """What stands in a `.$` field, in ErrorPath and in CausePath."""

    text: str
    term: Term
    reads_context: bool
    reads_execution_input: bool
    variables: frozenset[str]
    doubts: tuple[str, ...]
    """What AWS would refuse of it."""

    def value(
        self,
        field: str,
        document: Json,
        context: ContextSource,
        draw: Draw,
        variables: Variables = NO_VARIABLES,
    ) -> Json:
        """Return what it comes to; raises StateFailure. `field` is named in the cause."""
        return self.value_in(field, Surroundings(document, context, draw, Budget(), variables))

    def value_in(self, field: str, around: Surroundings) -> Json:
        """Return what it comes to as a part of something larger; raises StateFailure."""
        try:
            return _value(self.term, around)
        except PathNotFound as error:
            if around.lenient:
                return None
            cause = (
                f"The JSONPath '{error.text}' specified for the field '{field}' could not be found"
                f" in the input '{show(around.document)}'"
            )
            raise StateFailure(RUNTIME, cause) from None


def _value(term: Term, around: Surroundings) -> Json:
    match term:
        case Path():
            return term.read(around.document, around.context, around.budget, around.variables)
        case Constant(value):
            return value
        case Text(text):
            return text
        case Call() | Formatting():
            return _called(term, around)


def _called(call: Call | Formatting, around: Surroundings) -> Json:
    arguments = [_value(argument, around) for argument in call.arguments]
    try:
        result = _applied(call, arguments, around.draw)
    except IntrinsicError as error:
        cause = f"The function '{call.text}' had the following error: {error}"
        raise StateFailure(INTRINSIC_FAILURE, cause) from error
    around.budget.spend(1 + sum(map(_steps, arguments)) + _steps(result))
    return result


def _applied(call: Call | Formatting, arguments: list[Json], draw: Draw) -> Json:
    match call:
        case Call():
            return call.intrinsic.apply(arguments, draw)
        case Formatting():
            return formatted(call.pieces, arguments)


def _steps(value: Json) -> int:
    match value:
        case str():
            return len(value) // CHARACTERS_PER_STEP
        case list() | dict():
            return len(value)
        case _:
            return 0


# ------------------------------------------------------------------------------- compilation


def compile_expression(text: str) -> Expression:
    """Return the expression that a text means; raises ExpressionSyntaxError."""
    doubts: tuple[str, ...] = ()
    try:
        if text.startswith("$"):
            term: Term = compile_path(text)
        else:
            term, doubts = _lone_call(text.rstrip())
    except PathSyntaxError as error:
        raise ExpressionSyntaxError(str(error)) from error
    paths = tuple(_paths(term))
    return Expression(
        text,
        term,
        reads_context=any(path.reads_context for path in paths),
        reads_execution_input=any(path.reads_execution_input for path in paths),
        variables=frozenset().union(*(path.variables for path in paths)),
        doubts=doubts,
    )


def _paths(term: Term) -> Iterator[Path]:
    match term:
        case Path():
            yield term
        case Call() | Formatting():
            for argument in term.arguments:
                yield from _paths(argument)
        case Constant() | Text():
            pass


def _lone_call(text: str) -> tuple[Term, tuple[str, ...]]:
    reader = _Reader(text)
    call = reader.call(1)
    if reader.at != len(text):
        raise reader.error("unexpected text")
    return call, tuple(dict.fromkeys(reader.doubts))


_NAME = re.compile(r"States\.[A-Za-z0-9]+")
_STRING = re.compile(r"'((?:\\.|[^'\\])*)'", re.DOTALL)
_NUMBER = re.compile(r"-?[0-9]{1,308}(?:\.[0-9]{1,308})?(?:[eE][+-]?[0-9]{1,2})?(?![\w.])")
_WORD = re.compile(r"(true|false|null)(?!\w)")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_BLANKS = re.compile(r"\s*")
_PIECE = re.compile(r"\\(.)|(\{\})|([^\\{]+|\{)", re.DOTALL)
_PATH = re.compile(
    r"""(?: \\. | '(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*" | [^\\'"()\[\],] )+""",
    re.DOTALL | re.VERBOSE,
)


_BLANK_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_ELSEWHERE = frozenset({"States.Default"})
"""Functions that deployed definitions call and nobody has."""


def _no_such_function(arguments: list[Json], draw: Draw) -> Json:  # noqa: ARG001  # an Apply
    raise StateFailure(RUNTIME, "The definition calls a function that does not exist.")


class _Reader:
    """Reads a call from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.doubts: list[str] = []

    def error(self, message: str) -> ExpressionSyntaxError:
        return ExpressionSyntaxError(f"{message} at character {self.at} of '{self.text}'")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def takes(self, token: str) -> bool:
        self.match(_BLANKS)
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def call(self, nesting: int) -> Call | Formatting:
        if nesting > MOST_CALL_NESTING:
            raise self.error(f"calls nested more than {MOST_CALL_NESTING} deep")
        start = self.at
        name = self.match(_NAME)
        intrinsic = None if name is None else INTRINSICS.get(name[0])
        if name is not None and name[0] in _ELSEWHERE:
            self.doubts.append(
                f"There is no function {name[0]}: the state fails where it is called"
            )
            intrinsic = Intrinsic(name[0], 0, None, _no_such_function)
        if intrinsic is None:
            raise self.error("expected an intrinsic function")
        arguments = self.arguments(nesting)
        most = len(arguments) if intrinsic.most is None else intrinsic.most
        if not intrinsic.least <= len(arguments) <= most:
            raise self.error(f"wrong number of arguments for {intrinsic.name}")
        text = self.text[start : self.at]
        match arguments:
            case [Text(_, pieces), *rest] if intrinsic.name == "States.Format":
                return Formatting(text, pieces, tuple(rest))
            case _:
                return Call(text, intrinsic, tuple(arguments))

    def arguments(self, nesting: int) -> list[Term]:
        if not self.takes("("):
            raise self.error("expected '('")
        arguments: list[Term] = []
        while not self.takes(")"):
            if arguments and not self.takes(","):
                raise self.error("expected ',' or ')'")
            self.match(_BLANKS)
            arguments.append(self.term(nesting))
        return arguments

    def term(self, nesting: int) -> Term:
        if self.text.startswith("$", self.at):
            return self.path()
        if self.text.startswith("States.", self.at):
            return self.call(nesting + 1)
        if string := self.match(_STRING):
            return self.string(string[1])
        if word := self.match(_WORD):
            return Constant(_WORDS[word[1]])
        number = self.match(_NUMBER)
        if number is None:
            raise self.error("expected an argument")
        digits = number[0]
        return Constant(int(digits) if digits.lstrip("-").isdigit() else float(digits))

    def string(self, text: str) -> Text:
        pieces: list[list[str]] = [[]]
        whole: list[str] = []
        for escaped, place, plain in _PIECE.findall(text):
            if escaped in _BLANK_ESCAPES:
                self.doubts.append(f"'\\{escaped}' is no escape of a string: it is read as in JSON")
                escaped = _BLANK_ESCAPES[escaped]  # noqa: PLW2901  # what it stands for
            elif escaped and escaped not in "'{}\\":
                raise self.error(f"illegal escape '\\{escaped}'")
            whole.append(escaped or place or plain)
            if place:
                pieces.append([])
            else:
                pieces[-1].append(escaped or plain)
        return Text("".join(whole), tuple(map("".join, pieces)))

    def path(self) -> Path:
        """Read a path: it ends at a comma or a parenthesis outside of its brackets and quotes."""
        start, brackets = self.at, 0
        while self.at < len(self.text):
            if self.match(_PATH):
                continue
            character = self.text[self.at]
            if character in "([":
                brackets += 1
            elif character not in ",)]" or not brackets:
                break
            elif character in ")]":
                brackets -= 1
            self.at += 1
        return compile_path(self.text[start : self.at])
