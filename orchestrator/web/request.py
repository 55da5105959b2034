"""A request to the console as its pages read it, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from urllib.parse import parse_qsl

from fastapi import Request

FORM: Final = "application/x-www-form-urlencoded"
MOST_FIELDS: Final = 200


class Refused(Exception):
    """A request that changes nothing; `status` is that of HTTP."""

    def __init__(self, status: int, title: str, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.title = title
        self.text = text


@dataclass(frozen=True, slots=True)
class Ask:
    """What a page is asked: names from the path, the query, and a form's fields."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str]
    url: str
    """Path and query, to come back to."""
    token: str
    """What a form of this visitor must carry."""
    who: str
    """The name that the visitor gave last."""

    def given(self, name: str) -> str:
        """A field of the query without spaces around it; empty if it is not there."""
        return printable(self.query.get(name, "")).strip()

    def field(self, name: str) -> str:
        """A field of the form on one line; empty if it is not there."""
        return printable(self.form.get(name, ""))

    def document(self, name: str) -> str:
        """A field of the form as it is; empty if it is not there."""
        return self.form.get(name, "")


@dataclass(frozen=True, slots=True)
class Shown:
    """A page: a template and what it is made of."""

    template: str
    values: Mapping[str, object]
    status: int = 200


@dataclass(frozen=True, slots=True)
class Sent:
    """The visitor is sent elsewhere, after something was done."""

    to: str
    who: str | None = None


Answer: TypeAlias = "Shown | Sent"


def printable(text: str) -> str:
    """Return a text without what no line shows, and no database keeps."""
    return "".join(character for character in text if character.isprintable())


async def read_form(request: Request, most_bytes: int) -> dict[str, str]:
    """Read a form; raises Refused for one that is too large, or is none."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise Refused(415, "Not a form", "The console's acts are sent by its own forms.")
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > most_bytes:
            raise Refused(413, "Too large", f"A form holds at most {most_bytes} bytes.")
        parts.append(part)
    try:
        text = b"".join(parts).decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise Refused(400, "Not a form", "The form cannot be read.") from None
    return dict(pairs)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks, as far as a console without sign-in knows."""

    secret: str
    token: str
    who: str
    new: bool = field(default=False)
