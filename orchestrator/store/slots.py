"""At most four processes write to one SQLite database: each holds a lock on a file beside it."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path
from typing import IO, Final

from orchestrator.store.errors import TooManyWriters

MOST_WRITING_PROCESSES: Final = 4

_held: dict[Path, tuple[IO[bytes], int]] = {}
_turns: dict[Path, threading.Lock] = {}
_lock = threading.Lock()


def turn(database: Path) -> threading.Lock:
    """Return the lock for which the threads of this process stand in line before they write."""
    return _turns.setdefault(database, threading.Lock())


def take(database: Path) -> None:
    """Take one of the slots for this process, once more if it has one; raises TooManyWriters."""
    with _lock:
        if database in _held:
            file, users = _held[database]
            _held[database] = (file, users + 1)
            return
        _held[database] = (_free_slot(database), 1)


def give_back(database: Path) -> None:
    """Give the slot back when the last user in this process does so."""
    with _lock:
        if database not in _held:
            return
        file, users = _held.pop(database)
        if users > 1:
            _held[database] = (file, users - 1)
        else:
            file.close()


def _free_slot(database: Path) -> IO[bytes]:
    for number in range(1, MOST_WRITING_PROCESSES + 1):
        file = database.with_name(f"{database.name}.writer-{number}").open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
        else:
            return file
    raise TooManyWriters(
        f"{MOST_WRITING_PROCESSES} processes write to {database} already: stop one of them, "
        "or use PostgreSQL, which takes any number"
    )


def _forget() -> None:
    """Leave the parent's slots to the parent, whose locks a child would keep alive."""
    global _lock  # noqa: PLW0603  # the parent may have held it when it forked
    _lock = threading.Lock()
    for file, _users in _held.values():
        file.close()
    _held.clear()
    _turns.clear()


os.register_at_fork(after_in_child=_forget)
