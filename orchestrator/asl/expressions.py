"""An Expression: a path, or a call of an intrinsic function, as a `.$` field holds it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from orchestrator.asl.document import Json, show
from orchestrator.asl.draw import Draw
from orchestrator.asl.errors import INTRINSIC_FAILURE, RUNTIME, StateFailure
from orchestrator.asl.intrinsics import INTRINSICS, Intrinsic, IntrinsicError
from orchestrator.asl.limits import MOST_CALL_NESTING
from orchestrator.asl.paths import ContextSource, Path, PathNotFound, PathSyntaxError, compile_path


class ExpressionSyntaxError(Exception):
    """A text is neither a path nor a call of an intrinsic function."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A string, number, boolean or null written as an argument."""

    value: Json


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an intrinsic function."""

    text: str
    intrinsic: Intrinsic
    arguments: tuple[Term, ...]


Term: TypeAlias = Path | Constant | Call


@dataclass(frozen=True, slots=True)
class Expression:
    """What stands in a `.$` field, in ErrorPath and in CausePath."""

    text: str
    term: Path | Call
    reads_context: bool
    reads_execution_input: bool

    def value(self, field: str, document: Json, context: ContextSource, draw: Draw) -> Json:
        """Return what it comes to; raises StateFailure. `field` is named in the cause."""
        try:
            if isinstance(self.term, Path):
                return self.term.read(document, context)
            return _called(self.term, document, context, draw)
        except PathNotFound as error:
            cause = (
                f"The JSONPath '{error.text}' specified for the field '{field}' could not be found "
                f"in the input '{show(document)}'"
            )
            raise StateFailure(RUNTIME, cause) from None


def _called(call: Call, document: Json, context: ContextSource, draw: Draw) -> Json:
    arguments: list[Json] = []
    for term in call.arguments:
        match term:
            case Path():
                arguments.append(term.read(document, context))
            case Constant(value):
                arguments.append(value)
            case Call():
                arguments.append(_called(term, document, context, draw))
    try:
        return call.intrinsic.apply(arguments, draw)
    except IntrinsicError as error:
        cause = f"The function '{call.text}' had the following error: {error}"
        raise StateFailure(INTRINSIC_FAILURE, cause) from error


def compile_expression(text: str) -> Expression:
    """Return the expression that a text means; raises ExpressionSyntaxError."""
    try:
        term = compile_path(text) if text.startswith("$") else _call_alone(text)
    except PathSyntaxError as error:
        raise ExpressionSyntaxError(str(error)) from error
    paths = _paths(term)
    return Expression(
        text,
        term,
        reads_context=any(path.reads_context for path in paths),
        reads_execution_input=any(path.reads_execution_input for path in paths),
    )


def _paths(term: Term) -> list[Path]:
    match term:
        case Path():
            return [term]
        case Constant():
            return []
        case Call():
            return [path for argument in term.arguments for path in _paths(argument)]


_NAME = re.compile(r"States\.[A-Za-z0-9]+")
_STRING = re.compile(r"'((?:\\.|[^'\\])*)'", re.DOTALL)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"true\b|false\b|null\b")
_BLANKS = re.compile(r"\s*")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def _call_alone(text: str) -> Call:
    reader = _Reader(text)
    call = reader.call(1)
    if reader.at != len(text):
        raise reader.error("unexpected text")
    return call


class _Reader:
    """Reads a call from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

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

    def call(self, nesting: int) -> Call:
        if nesting > MOST_CALL_NESTING:
            raise self.error(f"calls nested more than {MOST_CALL_NESTING} deep")
        start = self.at
        name = self.match(_NAME)
        if name is None or name[0] not in INTRINSICS:
            raise self.error("expected an intrinsic function")
        if not self.takes("("):
            raise self.error("expected '('")
        arguments: list[Term] = []
        while not self.takes(")"):
            if arguments and not self.takes(","):
                raise self.error("expected ',' or ')'")
            self.match(_BLANKS)
            arguments.append(self.term(nesting))
        intrinsic = INTRINSICS[name[0]]
        most = len(arguments) if intrinsic.most is None else intrinsic.most
        if not intrinsic.least <= len(arguments) <= most:
            raise self.error(f"wrong number of arguments for {intrinsic.name}")
        return Call(self.text[start : self.at], intrinsic, tuple(arguments))

    def term(self, nesting: int) -> Term:
        if self.text.startswith("$", self.at):
            return self.path()
        if self.text.startswith("States.", self.at):
            return self.call(nesting + 1)
        string = self.match(_STRING)
        if string is not None:
            return Constant(self.unescaped(string[1]))
        word = self.match(_WORD)
        if word is not None:
            return Constant(_WORDS[word[0]])
        number = self.match(_NUMBER)
        if number is None:
            raise self.error("expected an argument")
        digits = number[0]
        return Constant(int(digits) if digits.lstrip("-").isdigit() else float(digits))

    def unescaped(self, text: str) -> str:
        for escape in _ESCAPE.findall(text):
            if escape not in "'{}\\":
                raise self.error(f"illegal escape '\\{escape}'")
        return _ESCAPE.sub(r"\1", text)

    def path(self) -> Path:
        """Read a path: up to a comma or a closing parenthesis outside of brackets and quotes."""
        start, brackets, quote = self.at, 0, ""
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "\\":
                self.at += 1
            elif quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            elif character in "([":
                brackets += 1
            elif character in ")]" and brackets:
                brackets -= 1
            elif character in "),":
                break
            self.at += 1
        return compile_path(self.text[start : self.at].rstrip())
