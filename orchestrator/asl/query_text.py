"""What can be told of a JSONata expression by its text: what it mentions, and where it begins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_HEAVY: Final = re.compile(
    r"""
    \$(?: replace | pad | join | split | formatNumber | match | string | base64encode
        | distinct | reduce | range ) (?!\w)  # functions that do not heed every limit
    | (?<!\w) function \s* \(           # a function is defined
    | λ
    | \.\.                              # a range
    | [@\#|]                            # a join, a position, a transformation
    """,
    re.VERBOSE,
)


def is_heavy(text: str) -> bool:
    """Tell whether an expression may use more than its limits say.

    Looks at strings and comments, too: to be wrong about these is dear, not dangerous.
    """
    return _HEAVY.search(text) is not None


def mentioned(function: str, text: str) -> bool:
    """Tell whether an expression may call a function."""
    at = text.find(f"${function}")
    while at >= 0:
        end = at + len(function) + 1
        if not (text[end : end + 1].isalnum() or text[end : end + 1] == "_"):
            return True
        at = text.find(f"${function}", end)
    return False


_UNCALLED: Final = re.compile(r"\$([^\W\d]\w*+)(?!\s*\()")


def uncalled(text: str) -> frozenset[str]:
    """Return the names behind a `$` that no parenthesis follows."""
    return frozenset(_UNCALLED.findall(text))


_TOKEN: Final = re.compile(
    r"""
    (?P<skipped> \s+ | /\*.*?\*/ )
    | (?P<string> "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' )
    | (?P<number> \d+ (?:\.\d+)? (?:[eE][+-]?\d+)? )
    | (?P<name> [^\W\d]\w* | `[^`]*` )
    | (?P<variable> \$\$ | \$\w* )
    | (?P<operator> \.\. | := | != | >= | <= | \*\* | ~> | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_REGEX: Final = re.compile(r"/(?:\\.|[^/\\])*/[a-z]*", re.DOTALL)
_WORDS: Final = frozenset({"and", "or", "in", "true", "false", "null", "function"})
_OPERANDS: Final = frozenset({"string", "number", "name", "variable", "regex"})


def bare_reference(text: str) -> str | None:
    """Return a name, `$` or `$$` that stands outside of all brackets and follows no `.`.

    An expression has no input of its own, so this leads nowhere. Inside brackets it may: there it
    is a member of what stands before them.
    """
    depth, previous = 0, ""
    for kind, piece in _tokens(text):
        if piece in "([{":
            depth += 1
        elif piece in ")]}":
            depth -= 1
        elif piece == "|" and not depth:
            return None
        elif not depth and previous != "." and _is_bare(kind, piece):
            return piece
        previous = piece
    return None


def _is_bare(kind: str, piece: str) -> bool:
    if kind == "variable":
        return piece in ("$", "$$")
    return kind == "name" and piece not in _WORDS


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at, kind, piece = 0, "", ""
    while at < len(text):
        is_operand = (kind in _OPERANDS and piece not in _WORDS) or piece in (")", "]", "}")
        found = None
        if text[at] == "/" and not is_operand and not text.startswith("/*", at):
            found = _REGEX.match(text, at)
            if found is not None:
                at, kind, piece = found.end(), "regex", found[0]
                yield kind, piece
                continue
        found = _TOKEN.match(text, at)
        if found is None:
            return
        at = found.end()
        if found.lastgroup != "skipped":
            kind, piece = found.lastgroup or "", found[0]
            yield kind, piece
