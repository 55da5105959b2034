"""Text: how wide it is about, how it is shortened and broken, and what of it may be shown.

No font is at hand where a picture is made, so widths are those of a common sans-serif and somewhat
generous: a text that fits here fits in what a reader has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

ELLIPSIS: Final = "…"
_BREAKABLE = (
    re.compile(r"(?<=\s)"),
    re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[\s_\-./:,])"),
)
"""Where a line may end: between words, else where a word has a joint."""
_SHORTEST = 0.6
"""A line that ends between words takes at least so much of the width."""
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
)
"""Characters without a shape: among them those that turn around what stands beside them."""
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What XML cannot carry, and controls that it can."""
_BLANKS = re.compile(r"\s+")

_GENEROUS = 1.08
_NARROW, _SLIM, _WIDE, _BROAD = 0.28, 0.39, 0.74, 0.9
_WIDTHS = {
    **dict.fromkeys("iljI.,:;'|! ", _NARROW),
    **dict.fromkeys('ftr()[]-"/\\', _SLIM),
    **dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZ&w{}<>=+~#$", _WIDE - 0.04),
    **dict.fromkeys("MW@%m", _BROAD),
}
_COMMON, _FULL, _PICTURE = 0.57, 1.0, 1.35
_PICTURES = 0x1F000
_BOLD = 1.12


def carried(text: str) -> str:
    """Return a text that XML can carry: what it cannot is the replacement character."""
    return _FORBIDDEN.sub("\ufffd", text)


def shown(text: str) -> str:
    """Return a text as it is shown, on one line: without what has no shape, blanks made one."""
    return _BLANKS.sub(" ", _FORBIDDEN.sub("\ufffd", _INVISIBLE.sub("", text))).strip()


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return about how wide a text is in letters of a size."""
    total = sum(_width(character) for character in text)
    return total * size * _GENEROUS * (_BOLD if bold else 1.0)


def _width(character: str) -> float:
    if character in _WIDTHS:
        return _WIDTHS[character]
    if character.isascii():
        return _COMMON
    if _joins(character):
        return 0.0
    if ord(character) >= _PICTURES:
        return _PICTURE
    return _FULL if unicodedata.east_asian_width(character) in "WFA" else _WIDE


def _joins(character: str) -> bool:
    """Tell whether a character belongs to the one before it."""
    return unicodedata.category(character) in ("Mn", "Me", "Cf") or character == "\ufe0f"


def fit(text: str, size: float, most: float, *, bold: bool = False) -> str:
    """Return a text, or as much of its beginning as fits, and an ellipsis."""
    if width(text, size, bold=bold) <= most:
        return text
    room = most - width(ELLIPSIS, size, bold=bold)
    end, used = 0, 0.0
    for character in text:
        used += width(character, size, bold=bold)
        if used > room:
            break
        end += 1
    while end and (text[end - 1] == "\u200d" or _joins(text[end])):
        end -= 1
    return text[:end].rstrip() + ELLIPSIS


def wrap(text: str, size: float, most: float, lines: int, *, bold: bool = False) -> tuple[str, ...]:
    """Return a text on at most so many lines, broken where words end; the last may be cut."""
    rest = text
    broken: list[str] = []
    while rest and len(broken) + 1 < lines and width(rest, size, bold=bold) > most:
        line = _line(rest, size, most, bold=bold)
        broken.append(line.rstrip())
        rest = rest[len(line) :].lstrip()
    return (*broken, fit(rest, size, most, bold=bold)) if rest or not broken else tuple(broken)


def _line(text: str, size: float, most: float, *, bold: bool) -> str:
    """Return the beginning of a text that is too wide for one line: as much as a line takes."""
    line = ""
    for breakable in _BREAKABLE:
        line = ""
        for piece in _pieces(text, breakable):
            if width((line + piece).rstrip(), size, bold=bold) > most:
                break
            line += piece
        if width(line, size, bold=bold) >= most * _SHORTEST:
            return line
    return line or fit(text, size, most, bold=bold).removesuffix(ELLIPSIS) or text[:1]


def _pieces(text: str, breakable: re.Pattern[str]) -> Iterator[str]:
    start = 0
    for found in breakable.finditer(text):
        if found.start() > start:
            yield text[start : found.start()]
            start = found.start()
    yield text[start:]
