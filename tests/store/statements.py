"""Statements that a piece of code sends, as the databases see them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, event


@dataclass
class Recorded:
    """What was sent, in order."""

    statements: list[tuple[str, Any]] = field(default_factory=list)
    commits: int = 0

    @property
    def texts(self) -> list[str]:
        return [text for text, _ in self.statements]


@contextmanager
def recording() -> Iterator[Recorded]:
    """Record every statement of this process, and every transaction that changes something."""
    recorded = Recorded()

    def on_statement(  # as SQLAlchemy calls it
        _connection: Connection, cursor: Any, text: str, values: Any, _context: Any, _many: bool
    ) -> None:
        recorded.statements.append((text, values))
        alone = getattr(cursor.connection, "autocommit", None) is True
        recorded.commits += alone and not text.startswith("SELECT")

    def on_commit(_connection: Connection) -> None:
        recorded.commits += 1

    event.listen(Engine, "before_cursor_execute", on_statement)
    event.listen(Engine, "commit", on_commit)
    try:
        yield recorded
    finally:
        event.remove(Engine, "before_cursor_execute", on_statement)
        event.remove(Engine, "commit", on_commit)
