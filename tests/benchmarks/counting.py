"""Counts of what a process sends to the database, in a file that others may read at any time."""

from __future__ import annotations

import mmap
import os
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, event

FOLDER: Final = "BENCHMARK_COUNTS"
"""The environment variable that names the folder of the files; without it nothing is counted."""

_LAYOUT: Final = struct.Struct("4q")


@dataclass(frozen=True, slots=True)
class Counts:
    """What was sent: statements, the rows that they were bound to or changed, commits."""

    statements: int = 0
    """Round trips, but for COMMIT; one that is bound to many rows is one."""
    rows: int = 0
    """Rows inserted, updated or deleted."""
    commits: int = 0
    """Transactions, those of a single statement included."""
    durable: int = 0
    """Transactions that wait for the disk."""

    def __sub__(self, other: Counts) -> Counts:
        return Counts(
            self.statements - other.statements,
            self.rows - other.rows,
            self.commits - other.commits,
            self.durable - other.durable,
        )

    def __add__(self, other: Counts) -> Counts:
        return self - (Counts() - other)


class Counter:
    """Listens to all engines of this process, and of those that it forks; the folder may change.

    What it costs is the benchmark's, not the engine's: so it does little.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._folder = ""
        self._file: mmap.mmap | None = None
        self._counts = [0, 0, 0, 0]
        self._durable: dict[int, bool] = {}
        self.heard: dict[str, Callable[..., Any]] = {
            "before_cursor_execute": self._sent,
            "after_cursor_execute": self._answered,
            "commit": self._committed,
        }
        for name, listener in self.heard.items():
            event.listen(Engine, name, listener)
        os.register_at_fork(after_in_child=self.count_into)
        self.count_into()

    def count_into(self, folder: str | None = None) -> None:
        """Count into a folder from now on; in a file of this process's own."""
        self._lock = threading.Lock()
        self._folder = folder or self._folder or os.environ[FOLDER]
        self._counts = [0, 0, 0, 0]
        path = Path(self._folder) / str(os.getpid())
        path.write_bytes(bytes(_LAYOUT.size))
        with path.open("r+b") as file:
            self._file = mmap.mmap(file.fileno(), _LAYOUT.size)

    def _sent(
        self, _connection: Connection, cursor: Any, _text: str, values: Any, *_: object
    ) -> None:
        if getattr(cursor.connection, "autocommit", None) is not True:
            self._add(1, 0, 0, 0)
        elif not self._waits_for_the_disk(cursor.connection):
            self._add(1, 0, 1, 0)
        else:
            # The store hands over rows as JSON texts, in which what is inside of them is escaped.
            rows = sum(value.count('{"') for value in values.values() if isinstance(value, str))
            self._add(1, rows, 1, 1)

    def _waits_for_the_disk(self, connection: Any) -> bool:
        known = self._durable.get(id(connection))
        if known is None:
            options = connection.info.get_parameters().get("options", "")
            known = self._durable[id(connection)] = "synchronous_commit=off" not in options
        return known

    def _answered(self, _connection: Connection, cursor: Any, text: str, *_: object) -> None:
        if not text.startswith(("SELECT", "WITH kept", "WITH moved")):
            self._add(0, max(0, cursor.rowcount), 0, 0)

    def _committed(self, _connection: Connection) -> None:
        self._add(0, 0, 1, 1)

    def _add(self, statements: int, rows: int, commits: int, durable: int) -> None:
        counts = self._counts
        with self._lock:
            counts[0] += statements
            counts[1] += rows
            counts[2] += commits
            counts[3] += durable
            if self._file is not None:
                _LAYOUT.pack_into(self._file, 0, *counts)


_counters: Final[list[Counter]] = []


def count_into(folder: Path) -> None:
    """Let what this process counts go to another folder, and what it starts count there, too."""
    os.environ[FOLDER] = str(folder)
    for counter in _counters:
        counter.count_into(str(folder))


@contextmanager
def counting(folder: Path) -> Iterator[None]:
    """Count in this process while the block runs."""
    before = os.environ.get(FOLDER)
    os.environ[FOLDER] = str(folder)
    install()
    yield
    for counter in _counters:
        for name, listener in counter.heard.items():
            event.remove(Engine, name, listener)
    _counters.clear()
    if before is None:
        del os.environ[FOLDER]


def install() -> None:
    """Count in this process, if it is asked to."""
    if os.environ.get(FOLDER):
        _counters.append(Counter())


def read(folder: Path) -> Counts:
    """The sum over all processes that have counted into a folder."""
    total = Counts()
    for path in folder.iterdir():
        total += Counts(*_LAYOUT.unpack(path.read_bytes()))
    return total
