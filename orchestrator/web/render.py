"""Templates: everything that comes from outside is text, whatever it looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from orchestrator.web import words

HERE: Final = Path(__file__).parent
PAGES: Final = (
    ("/", "Executions"),
    ("/machines", "Machines"),
    ("/waits", "Waits"),
    ("/workers", "Workers"),
    ("/health", "Health"),
)


def environment() -> Environment:
    """Return the environment of all pages."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        moment=words.moment,
        iso=words.iso,
        seconds=words.seconds,
        away=words.away,
        pretty=words.pretty,
        short=words.short,
        number=words.number,
    )
    made.globals.update(pages=PAGES, between=words.between, plural=words.plural)
    return made


def encoded(text: str) -> bytes:
    """Return a page as bytes; what UTF-8 has no place for is shown by its code."""
    return text.encode("utf-8", "backslashreplace")
