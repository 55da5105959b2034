"""A JSON document that is read or written at most once, however often it is handed on."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from orchestrator.asl import document
from orchestrator.asl.document import DocumentError, Json
from orchestrator.asl.limits import Limits

_TRUSTED: Final = Limits(document_bytes=sys.maxsize, document_depth=sys.maxsize)
"""What was checked at the door is not checked again, and what we put together may be larger."""


_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|.)")


_SAVED = ((0x80, 0), (0x800, 4), (0xD800, 3), (0xE000, 4), (0x10000, 3))
"""Up to which code: bytes that UTF-8 saves against `\\uXXXX`; halves of pairs are D800 to DFFF."""


@lru_cache(maxsize=8)
def _for_escapes(limits: Limits) -> Limits:
    """Return limits that leave room for escapes: up to 6 bytes for 2, or 12 for 4."""
    return replace(limits, document_bytes=3 * limits.document_bytes)


def _saved(digits: str) -> int:
    """Return how many bytes UTF-8 saves against the escape of a character, or of half a pair."""
    code = int(digits or "0", 16)
    return next(saved for below, saved in _SAVED if code < below)


class _Unread:
    """Marks the half of a payload that nobody has asked for yet."""


_UNREAD: Final = _Unread()


class Payload:
    """One JSON document as a value and as text, each made from the other on first use.

    Never change `value` in place: several states may share it.
    """

    __slots__ = ("_text", "_value")

    def __init__(self, *, value: Json | _Unread = _UNREAD, text: str | None = None) -> None:
        self._value = value
        self._text = text

    @classmethod
    def of(cls, value: Json) -> Payload:
        """Return the payload of a value."""
        return cls(value=value)

    @classmethod
    def parse(cls, text: str) -> Payload:
        """The payload of text that our own store or `document.read` has checked before."""
        return cls(text=text)

    @classmethod
    def array(cls, payloads: Sequence[Payload]) -> Payload:
        """The payload of an array of documents, without reading any of them again."""
        text = f"[{','.join([payload.text for payload in payloads])}]"
        if not all(payload.is_read for payload in payloads):
            return cls(text=text)
        return cls(value=[payload.value for payload in payloads], text=text)

    @property
    def value(self) -> Json:
        """The document as a value."""
        if isinstance(self._value, _Unread):
            self._value = document.read(self._text or "", limits=_TRUSTED)
        return self._value

    @property
    def text(self) -> str:
        """The document as compact JSON text with ASCII escapes."""
        if self._text is None:
            self._text = document.write(self.value, limits=_TRUSTED)
        return self._text

    @property
    def is_read(self) -> bool:
        """Whether its value is at hand without reading text."""
        return not isinstance(self._value, _Unread)

    def fits(self, limits: Limits) -> bool:
        """Tell whether the document, as JSON text in UTF-8, has as many bytes as it may have.

        Raises DocumentError where it cannot be written at all, or is too deep.
        """
        if self._text is None:
            try:
                self._text = document.write(self.value, limits=_for_escapes(limits))
            except DocumentError as error:
                if error.too_large:
                    return False
                raise
        size = len(self._text)
        if size > limits.document_bytes:  # escapes are never shorter than what they stand for
            size -= sum(map(_saved, _ESCAPE.findall(self._text)))
        return size <= limits.document_bytes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Payload) and document.equal(self.value, other.value)

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Payload({self.text[:80]})"
