"""A JSON document that is read or written at most once, however often it is handed on."""

from __future__ import annotations

from typing import Final

from orchestrator.asl import document
from orchestrator.asl.document import Json


class _Unread:
    """Marks the half of a payload that nobody has asked for yet."""


_UNREAD: Final = _Unread()


class Payload:
    """One JSON document as a value and as text (ASCII escapes), each made from the other on first use.

    Never change `value` in place: several states may share it.
    """

    __slots__ = ("_text", "_value")

    def __init__(self, *, value: Json | _Unread = _UNREAD, text: str | None = None) -> None:
        self._value = value
        self._text = text

    @classmethod
    def of(cls, value: Json) -> Payload:
        """The payload of a value."""
        return cls(value=value)

    @classmethod
    def parse(cls, text: str) -> Payload:
        """The payload of text that our own store or `document.read` has checked before."""
        return cls(text=text)

    @property
    def value(self) -> Json:
        """The document as a value."""
        if isinstance(self._value, _Unread):
            assert self._text is not None
            self._value = document.read(self._text)
        return self._value

    @property
    def text(self) -> str:
        """The document as compact JSON text with ASCII escapes."""
        if self._text is None:
            assert not isinstance(self._value, _Unread)
            self._text = document.write(self._value)
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Payload) and document.equal(self.value, other.value)

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Payload({self.text[:80]})"
