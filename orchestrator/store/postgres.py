"""PostgreSQL's connections: what holds for each of their statements, and when they are given up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import Final, Literal

from sqlalchemy import Connection, Engine, NullPool, create_engine, event
from sqlalchemy.engine import URL, ExceptionContext

from orchestrator.store.address import Connecting
from orchestrator.store.pool import Pool

APART_SECONDS: Final = 5.0
"""How long a statement of a connection apart may take."""

_NOTICED_SOON: Final = "".join(
    f" -c tcp_keepalives_{name}" for name in ("idle=2", "interval=1", "count=3")
)
"""The session of a machine that is gone ends soon, and with it the locks that it held."""


@dataclass(frozen=True, slots=True)
class Postgres:
    """A PostgreSQL database, and how a process of a name connects to it."""

    url: URL
    connecting: Connecting
    application_name: str

    def engines(self) -> tuple[Engine, Engine, Engine]:
        """Return connections for single statements, transactions, and single statements on disk."""
        singles = self._engine(synchronous_commit=False, isolation_level="AUTOCOMMIT")
        writes = self._engine(synchronous_commit=True, isolation_level="READ COMMITTED")
        at_once = self._engine(synchronous_commit=True, isolation_level="AUTOCOMMIT")
        for engine, other in permutations((singles, writes, at_once), 2):
            event.listen(engine, "handle_error", partial(_lose_together, other))
        return singles, writes, at_once

    def connect_apart(self) -> Connection:
        """Open a connection that is in no pool; each statement is a transaction."""
        connecting = replace(self.connecting, statement_seconds=APART_SECONDS)
        options = _session_options(self.url, connecting, synchronous_commit=False) + _NOTICED_SOON
        engine = create_engine(
            self.url,
            isolation_level="AUTOCOMMIT",
            poolclass=NullPool,
            connect_args=self._arguments(options),
        )
        return engine.connect()

    def _engine(
        self,
        *,
        synchronous_commit: bool,
        isolation_level: Literal["AUTOCOMMIT", "READ COMMITTED"],
    ) -> Engine:
        connecting = self.connecting
        return create_engine(
            self.url,
            isolation_level=isolation_level,
            poolclass=Pool,
            pool_size=connecting.pool_size,
            max_overflow=connecting.pool_overflow,
            pool_timeout=connecting.pool_wait_seconds,
            pool_use_lifo=True,
            connect_args=self._arguments(
                _session_options(self.url, connecting, synchronous_commit=synchronous_commit)
            ),
        )

    def _arguments(self, options: str) -> Mapping[str, object]:
        return {
            "application_name": self.application_name or "orchestrator",
            "connect_timeout": self.connecting.connect_seconds,
            "options": options,
        }


def _session_options(url: URL, connecting: Connecting, *, synchronous_commit: bool) -> str:
    """Return what holds for every statement of a connection.

    Every statement of ours finds its rows by an index. Right after a start the planner has no
    statistics and would keep plans that read whole tables; it is told not to look for them.
    """
    given = url.query.get("options", ())
    settings = {
        "timezone": "UTC",
        "statement_timeout": int(connecting.statement_seconds * 1_000),
        "lock_timeout": int(connecting.lock_seconds * 1_000),
        "idle_in_transaction_session_timeout": int(connecting.idle_in_transaction_seconds * 1_000),
        "enable_seqscan": "off",
        "enable_hashjoin": "off",
        "enable_mergejoin": "off",
        "jit": "off",
    }
    if not synchronous_commit:
        settings["synchronous_commit"] = "off"
    ours = [f"-c {name}={value}" for name, value in settings.items()]
    return " ".join([*ours, *((given,) if isinstance(given, str) else given)])


def _lose_together(other: Engine, context: ExceptionContext) -> None:
    """Close what idles elsewhere once a connection is lost: each would be found dead in its turn.

    SQLAlchemy does so among the connections of one engine.
    """
    if context.is_disconnect:
        other.dispose()
