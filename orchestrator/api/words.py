"""What is wrong with a JSON text in the words of AWS, which are those of its parser."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(r"[^\W\d][\w$]*")
_SHOWN_CHARACTERS: Final = 80
_FIELD_BEGINS: Final = re.compile(r"[{,]\s*\Z")


def words(text: str, position: int | None, otherwise: str) -> str:
    """Return what is said of a text that goes wrong at a position; `otherwise` if nothing fits."""
    if position is None or position >= len(text):
        return otherwise
    token = _TOKEN.match(text, position)
    if token is not None:
        return (
            f"Unrecognized token '{token[0][:_SHOWN_CHARACTERS]}': was expecting (JSON String, "
            "Number, Array, Object or token 'null', 'true' or 'false')"
        )
    character = text[position]
    expected = "a valid value"
    if _FIELD_BEGINS.search(text, 0, position) and "{" in text[:position]:
        expected = "double-quote to start field name"
    return f"Unexpected character ('{character}' (code {ord(character)})): was expecting {expected}"
