"""Counts the SQL statements of every process that takes part.

Each statement and each COMMIT is a line of JSON in the file that COUNTING_FILE names, written at
once, so that a killed process has written it too.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, event

FILE: Final = "COUNTING_FILE"
COMMIT: Final = "COMMIT"
LOOK_OUT: Final = "orchestrator "
"""So begin the names of our own threads, which announce, look for ready tasks, beat, renew leases:
what handles a Task runs in the threads of Celery's pools."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, or a COMMIT, as it was sent."""

    pid: int
    role: str
    """`worker` or `scheduler`."""
    thread: str
    text: str
    alone: bool
    """Whether it was a transaction of its own."""

    @property
    def kind(self) -> str:
        """Its beginning, which tells statements apart."""
        return self.text[:70]

    @property
    def ends_a_write(self) -> bool:
        """Whether it ends a transaction that writes."""
        return self.text == COMMIT or (self.alone and not self.text.startswith("SELECT"))


def count_into(path: str, role: str) -> None:
    """Write every statement and COMMIT of this process, and of its forks, to a file."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(text: str, *, alone: bool) -> None:
        words = " ".join(text.split())
        fields = [os.getpid(), role, threading.current_thread().name, words, alone]
        os.write(file, (json.dumps(fields) + "\n").encode())

    def on_statement(  # as SQLAlchemy calls it
        connection: Connection, _cursor: Any, text: str, _values: Any, _context: Any, _many: bool
    ) -> None:
        note(text, alone=bool(getattr(connection.connection.dbapi_connection, "autocommit", False)))

    def on_commit(_connection: Connection) -> None:
        note(COMMIT, alone=False)

    event.listen(Engine, "before_cursor_execute", on_statement)
    event.listen(Engine, "commit", on_commit)


def statements(path: Path) -> list[Statement]:
    """What was written to a file by now."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [Statement(*json.loads(line)) for line in lines]


def kinds(counted: Iterable[Statement]) -> Counter[tuple[str, str]]:
    """How many there were, by role and kind."""
    return Counter((statement.role, statement.kind) for statement in counted)
