"""Locks that die with the process that holds them: files beside a SQLite database."""

from __future__ import annotations

import fcntl
import hashlib
import os
from pathlib import Path
from typing import IO, Final, Protocol


class Locks(Protocol):
    """Where processes hold locks that are free once they are dead."""

    def take(self, worker: str) -> bool:
        """Hold the lock of a worker of this process; False where locks do not work."""
        ...

    def is_free(self, worker: str) -> bool:
        """Tell whether nobody holds the lock of a worker."""
        ...

    def drop(self, worker: str) -> None:
        """Let the lock of a worker go, and what is left of it."""
        ...


_held: Final[dict[Path, IO[bytes]]] = {}


class FileLocks:
    """One file per worker; a child that is forked holds none of its parent's."""

    def __init__(self, database: Path) -> None:
        self._database = database

    def take(self, worker: str) -> bool:
        """Hold the lock of a worker of this process; False where locks do not work."""
        path = self._path(worker)
        if path in _held:
            return True
        file = path.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return False
        _held[path] = file
        return True

    def is_free(self, worker: str) -> bool:
        """Tell whether nobody holds the lock of a worker."""
        path = self._path(worker)
        if path in _held:
            return False
        try:
            with path.open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def drop(self, worker: str) -> None:
        """Let the lock of a worker go, and its file."""
        path = self._path(worker)
        file = _held.pop(path, None)
        path.unlink(missing_ok=True)
        if file is not None:
            file.close()

    def _path(self, worker: str) -> Path:
        name = hashlib.sha256(worker.encode()).hexdigest()[:16]
        return self._database.with_name(f"{self._database.name}.alive-{name}")


def _forget() -> None:
    """Leave the parent's locks to the parent, which a child would keep alive."""
    for file in _held.values():
        file.close()
    _held.clear()


os.register_at_fork(after_in_child=_forget)
