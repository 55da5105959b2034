"""A proxy in front of PostgreSQL that cuts connections while a COMMIT is under way."""

from __future__ import annotations

import itertools
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

CHUNK: Final = 65_536
COMMIT: Final = b"COMMIT"


class CommitCutter:
    """Listens on a Unix socket of its own; cuts every `every`-th COMMIT, before or after it."""

    def __init__(self, folder: Path, target: Path, every: int) -> None:
        """`folder` gets the socket under PostgreSQL's name; `target` is PostgreSQL's own."""
        self._target = str(target)
        self._every = every
        self._numbers = itertools.count(1)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(folder / target.name))
        self._server.listen(64)
        self.cut = {"before": 0, "after": 0}
        """Connections cut before the COMMIT reached the server, and after."""
        threading.Thread(target=self._accept, daemon=True).start()

    def heal(self) -> None:
        """Cut no more."""
        self._every = 0

    def close(self) -> None:
        """Accept no more connections."""
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                for ends, is_client in (((client, server), True), ((server, client), False)):
                    threading.Thread(
                        target=self._pump, args=(*ends, is_client), daemon=True
                    ).start()

    def _pump(self, source: socket.socket, sink: socket.socket, is_client: bool) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                if is_client and COMMIT in data and self._cuts(data, sink):
                    break
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _cuts(self, data: bytes, sink: socket.socket) -> bool:
        number = next(self._numbers)
        if not self._every or number % self._every:
            return False
        side = "after" if number // self._every % 2 else "before"
        if side == "after":
            sink.sendall(data)
        self.cut[side] += 1
        return True
