"""The pool of an engine's connections, which may be given up while some of them are in use."""

from __future__ import annotations

from sqlalchemy import QueuePool
from sqlalchemy.pool import ConnectionPoolEntry


class Pool(QueuePool):
    """A pool that closes what comes back to it after it was given up.

    An engine that disposes of its pool forgets it; a connection that a thread has in hand then
    would come back to a pool that nobody knows, and stay open until it is collected as garbage.
    """

    _given_up = False

    def dispose(self) -> None:
        """Close what is here now, and what comes back later as soon as it does."""
        self._given_up = True
        super().dispose()

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        # Behind the return: whoever gives the pool up in between finds the connection here.
        super()._do_return_conn(record)
        if self._given_up:
            super().dispose()
