"""Text of a path -> Query, by recursive descent."""

from __future__ import annotations

import json
import re

import re2

from orchestrator.asl.document import Json
from orchestrator.asl.paths.functions import ARGUMENTS
from orchestrator.asl.paths.syntax import (
    Both,
    Call,
    Child,
    Children,
    Comparison,
    Constant,
    Descent,
    Either,
    Exists,
    Filter,
    Index,
    Indices,
    Literally,
    Not,
    Operand,
    PathSyntaxError,
    Pattern,
    Query,
    Root,
    Segment,
    Slice,
    Test,
    Wildcard,
)

MOST_NESTING = 32
"""How deep filters, parentheses and arguments may stand in each other."""

_NAME = re.compile(r"(?:\\.|[^\s.\[\]()\\'\"*,])+")
_NAME_INSIDE = re.compile(r"(?:\\.|[^\s.\[\]()\\'\"*,=!<>&|~{}?])+")
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_OPERATOR = re.compile(
    r"===|!==|==|!=|=~|<=|>=|<|>|"
    r"(?:in|nin|contains|all|subsetof|anyof|noneof|size|empty)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_FROM_THE_END = re.compile(r"\(\s*@\.length\s*-\s*([1-9][0-9]{0,8})\s*\)")
_VARIABLE = re.compile(r"[^\W\d]\w*")
_PATTERN = re.compile(r"/((?:\\.|[^/\\])*)/([a-zA-Z]*)")
_QUOTED = re.compile(r"'((?:\\.|[^'\\])*)'|\"((?:\\.|[^\"\\])*)\"", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_BLANKS = re.compile(r"\s*")


def parse_query(text: str) -> Query:
    """Return the query that a path's text means; raises PathSyntaxError.

    Blanks at its end mean nothing.
    """
    reader = _Reader(text.rstrip())
    query = reader.query(inside=False)
    if reader.at != len(reader.text):
        raise reader.error("unexpected text")
    return query


def _unescaped(text: str) -> str:
    """Return what stands between quotes, its escapes replaced."""

    def one(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) > 1:
            return chr(int(code[1:], 16))
        return _ESCAPED.get(code, code)

    return _ESCAPE.sub(one, text) if "\\" in text else text


def _refused_constant(name: str) -> Json:
    raise ValueError(name)


_JSON = json.JSONDecoder(parse_constant=_refused_constant)


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.nesting = 0

    def error(self, message: str) -> PathSyntaxError:
        return PathSyntaxError(message, self.text, self.at)

    def sees(self, token: str) -> bool:
        return self.text.startswith(token, self.at)

    def takes(self, token: str) -> bool:
        if not self.sees(token):
            return False
        self.at += len(token)
        return True

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def blanks(self) -> None:
        self.match(_BLANKS)

    def expect(self, token: str) -> None:
        self.blanks()
        if not self.takes(token):
            raise self.error(f"expected '{token}'")

    def deeper(self) -> None:
        self.nesting += 1
        if self.nesting > MOST_NESTING:
            raise self.error(f"nested more than {MOST_NESTING} deep")

    # paths

    def query(self, inside: bool) -> Query:
        root, variable = self.root(inside)
        segments: list[Segment] = []
        while (segment := self.segment(inside)) is not None:
            segments.append(segment)
            if isinstance(segment, Descent):
                segments.append(self.after_descent(inside))
        return Query(root, tuple(segments), _definite(segments), variable)

    def root(self, inside: bool) -> tuple[Root, str]:
        if self.takes("$$"):
            return "$$", ""
        if self.takes("$"):
            variable = self.match(_VARIABLE)
            return ("$", "") if variable is None else ("$name", variable[0])
        if inside and self.takes("@"):
            return "@", ""
        raise self.error("a path begins with '$'")

    def segment(self, inside: bool) -> Segment | None:
        if self.takes(".."):
            return Descent()
        if self.takes("."):
            return self.bracket() if self.takes("[") else self.dotted(inside)
        if self.takes("["):
            return self.bracket()
        return None

    def after_descent(self, inside: bool) -> Segment:
        return self.bracket() if self.takes("[") else self.dotted(inside)

    def dotted(self, inside: bool) -> Segment:
        if self.takes("*"):
            return Wildcard()
        found = self.match(_NAME_INSIDE if inside else _NAME)
        if found is None:
            raise self.error("expected a name")
        if self.takes("("):
            return self.call(found[0])
        return Child(re.sub(r"\\(.)", r"\1", found[0]) if "\\" in found[0] else found[0])

    def call(self, function: str) -> Segment:
        if function not in ARGUMENTS:
            raise self.error(f"unknown function '{function}'")
        self.deeper()
        arguments: list[Operand] = []
        self.blanks()
        while not self.takes(")"):
            if arguments:
                self.expect(",")
                self.blanks()
            arguments.append(self.operand())
            self.blanks()
        self.nesting -= 1
        least, most = ARGUMENTS[function]
        if not least <= len(arguments) <= most:
            raise self.error(f"wrong number of arguments for '{function}'")
        return Call(function, tuple(arguments))

    def bracket(self) -> Segment:
        self.blanks()
        if self.takes("?"):
            segment: Segment = self.filter()
        elif self.takes("*"):
            segment = Wildcard()
        elif self.sees("'") or self.sees('"'):
            segment = self.names()
        elif found := self.match(_FROM_THE_END):
            segment = Index(-int(found[1]))
        else:
            segment = self.positions()
        self.expect("]")
        return segment

    def names(self) -> Segment:
        names = [self.quoted()]
        self.blanks()
        while self.takes(","):
            self.blanks()
            names.append(self.quoted())
            self.blanks()
        return Child(names[0]) if len(names) == 1 else Children(tuple(names))

    def quoted(self) -> str:
        found = self.match(_QUOTED)
        if found is None:
            raise self.error("expected a quoted string")
        return _unescaped(found[1] if found[1] is not None else found[2])

    def integer(self) -> int | None:
        self.blanks()
        found = self.match(_INTEGER)
        self.blanks()
        return None if found is None else int(found[0])

    def positions(self) -> Segment:
        first = self.integer()
        if self.takes(":"):
            last = self.integer()
            if first is None and last is None:
                raise self.error("a slice needs a number")
            return Slice(first, last)
        if first is None:
            raise self.error("expected a name, a number, '*' or '?'")
        indices = [first]
        while self.takes(","):
            following = self.integer()
            if following is None:
                raise self.error("expected a number")
            indices.append(following)
        return Index(first) if len(indices) == 1 else Indices(tuple(indices))

    # filters

    def filter(self) -> Filter:
        self.expect("(")
        test = self.either()
        self.expect(")")
        return Filter(test)

    def either(self) -> Test:
        self.deeper()
        tests = [self.both()]
        self.blanks()
        while self.takes("||"):
            tests.append(self.both())
            self.blanks()
        self.nesting -= 1
        return tests[0] if len(tests) == 1 else Either(tuple(tests))

    def both(self) -> Test:
        tests = [self.single()]
        self.blanks()
        while self.takes("&&"):
            tests.append(self.single())
            self.blanks()
        return tests[0] if len(tests) == 1 else Both(tuple(tests))

    def single(self) -> Test:
        self.blanks()
        if self.takes("!"):
            self.deeper()
            test = Not(self.single())
            self.nesting -= 1
            return test
        if self.takes("("):
            inner = self.either()
            self.expect(")")
            return inner
        return self.comparison()

    def comparison(self) -> Test:
        left = self.operand()
        self.blanks()
        operator = self.match(_OPERATOR)
        if operator is not None:
            self.blanks()
            return Comparison(left, operator[0].lower(), self.operand())
        match left:
            case Query():
                return Exists(left)
            case Literally(bool(value)):
                return Constant(value)
            case Literally() | Pattern():
                raise self.error("expected an operator")

    def operand(self) -> Operand:
        self.blanks()
        if self.sees("$") or self.sees("@"):
            return self.query(inside=True)
        if self.sees("/"):
            return self.pattern()
        return Literally(self.literal())

    def literal(self) -> Json:
        if self.sees("'") or self.sees('"'):
            return self.quoted()
        if self.sees("[") or self.sees("{"):
            return self.json()
        word = self.match(_WORD)
        if word is not None:
            # A word without quotes stands for itself: deployed definitions have them.
            return _WORDS.get(word[0], word[0])
        number = self.match(_NUMBER)
        if number is None:
            raise self.error("expected a path or a value")
        return int(number[0]) if number[0].lstrip("-").isdigit() else float(number[0])

    def json(self) -> Json:
        if self.takes("["):
            return self.items()
        try:
            value, self.at = _JSON.raw_decode(self.text, self.at)
        except (ValueError, RecursionError):
            raise self.error("expected JSON") from None
        result: Json = value
        return result

    def items(self) -> list[Json]:
        self.deeper()
        items: list[Json] = []
        self.blanks()
        while not self.takes("]"):
            if items:
                self.expect(",")
                self.blanks()
            items.append(self.literal())
            self.blanks()
        self.nesting -= 1
        return items

    def pattern(self) -> Pattern:
        found = self.match(_PATTERN)
        if found is None:
            raise self.error("expected a pattern")
        flags = "".join(flag for flag in found[2] if flag in "ims")
        text = (f"(?{flags})" if flags else "") + found[1].replace("\\/", "/")
        try:
            fits = re2.compile(text).fullmatch
        except re2.error:
            raise self.error("pattern that cannot be compiled") from None
        return Pattern(found[0], lambda string: fits(string) is not None)


def _definite(segments: list[Segment]) -> bool:
    """Tell whether a path yields one value, and not a list of values.

    A function behind a path that begins with `..` takes the whole list, so it makes one value of
    it; members given together are one object where they end the path.
    """
    if segments and isinstance(segments[0], Descent):
        return any(isinstance(segment, Call) for segment in segments)
    return all(
        isinstance(segment, Child | Index | Call)
        or (isinstance(segment, Children) and number + 1 == len(segments))
        for number, segment in enumerate(segments)
    )
