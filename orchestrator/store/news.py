"""What one process tells all others: topics, each a short text, whose hearers look for themselves.

PostgreSQL carries them (NOTIFY, one connection per process that listens); with SQLite they stay
inside the process. They may be lost or doubled: hearers look by themselves from time to time, too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final, TypeAlias

import structlog
from sqlalchemy import Text, bindparam, create_engine, func, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from orchestrator.store.database import Database

log = structlog.get_logger(__name__)

Hearer: TypeAlias = "Callable[[str | None], None]"
"""Is called in the listener's thread with a topic; with None when any may have been missed."""

CHANNEL: Final = "orchestrator"
LOOK_SECONDS: Final = 1.0
"""How soon a listener that is to stop does so, and how soon a lost one connects again."""

_topic = func.unnest(bindparam("topics", type_=ARRAY(Text()))).column_valued("topic")
_NOTIFY: Final = select(func.pg_notify(CHANNEL, _topic))

_hearers: Final[dict[Path, list[Hearer]]] = {}
"""Of SQLite's databases, in this process."""
_changing: Final = threading.Lock()


def tell(database: Database, topics: Collection[str]) -> None:
    """Let everybody hear who listens; each topic once."""
    if not topics:
        return
    if database.dialect == "sqlite":
        for hearer in list(_hearers.get(database.path, ())):
            for topic in topics:
                hearer(topic)
        return
    with database.reading() as connection:
        connection.execute(_NOTIFY, {"topics": list(topics)})


def listen(database: Database, hearer: Hearer) -> Callable[[], None]:
    """Hear of every topic until the function that is answered is called."""
    if database.dialect == "sqlite":
        return _listen_here(database.path, hearer)
    listener = _Listener(database.url, hearer)
    listener.start()
    return listener.stop


def _listen_here(path: Path, hearer: Hearer) -> Callable[[], None]:
    with _changing:
        _hearers.setdefault(path, []).append(hearer)

    def stop() -> None:
        with _changing:
            _hearers[path].remove(hearer)

    return stop


class _Listener:
    """A thread with a connection of its own."""

    def __init__(self, url: URL, hearer: Hearer) -> None:
        self._hearer = hearer
        self._stopping = threading.Event()
        self._lost = False
        # Nothing to take back: where the connection is lost that would be a traceback.
        self._engine = create_engine(
            url, poolclass=NullPool, isolation_level="AUTOCOMMIT", pool_reset_on_return=None
        )
        self._thread = threading.Thread(target=self._run, name="orchestrator news", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        self._engine.dispose()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except Exception as error:  # noqa: BLE001  # a message loop: it listens again
                if not self._lost:
                    log.warning("no news from the database, trying again", reason=str(error))
                self._lost = True
                self._stopping.wait(LOOK_SECONDS)

    def _listen(self) -> None:
        with self._engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            driver.execute(f"LISTEN {CHANNEL}")
            self._hearer(None)
            if self._lost:
                log.warning("there is news from the database again")
            self._lost = False
            while not self._stopping.is_set():
                for notice in driver.notifies(timeout=LOOK_SECONDS):
                    self._hearer(notice.payload)
