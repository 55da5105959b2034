"""One execution's row is locked, then several of its events are decided on what is there.

What is read is locked as well: claims pass it by, so that no decision can turn out to be stale.
The decisions are written together, as one transition, when the transaction ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, and_, select

from orchestrator.execution.call import Call
from orchestrator.execution.decision import Decision, Missing, View
from orchestrator.execution.frame import Scope, lineage
from orchestrator.store import statement, transition
from orchestrator.store.batch import Batch
from orchestrator.store.call import one
from orchestrator.store.database import Database
from orchestrator.store.errors import GroupBroken
from orchestrator.store.merge import calls_in, merged, overlaid
from orchestrator.store.tables import frames
from orchestrator.store.view import AFTER_DIGITS, extended, ranges_of, read_more, read_views
from orchestrator.store.wanted import INTEGER, TEXT, wanted, wanted_rows


@cache
def _lock_frames(dialect: str) -> Select[Any]:
    ranges = wanted(dialect, execution=INTEGER, low=TEXT, high=TEXT)
    return (
        select(frames.c.id)
        .select_from(ranges)
        .join(
            frames,
            and_(
                frames.c.execution == ranges.c.execution,
                frames.c.id >= ranges.c.low,
                frames.c.id <= ranges.c.high,
            ),
        )
        .with_for_update(of=frames)
    )


class Locked:
    """One execution, locked until the transaction ends."""

    def __init__(
        self,
        database: Database,
        connection: Connection,
        execution: int,
        version: int | None,
        scope: Scope,
    ) -> None:
        self._database = database
        self._connection = connection
        self._execution = execution
        self._scope = scope
        self._version = version
        self._views: dict[str, View] = {}
        self.decision: Decision | None = None
        """All that was written, as one decision."""

    def prepare(self, frame_ids: Sequence[str]) -> None:
        """Read the views of several frames at once, before they are asked for."""
        self._lock([(part, part) for frame in frame_ids for part in lineage(frame)])
        keys = [(self._execution, frame) for frame in frame_ids]
        views = read_views(self._connection, keys, self._scope)
        self._views |= {frame: view for (_, frame), view in views.items()}

    def read(self, frame: str) -> View | None:
        """Return the view of a frame after all that was written; None: no such execution."""
        if frame not in self._views:
            self.prepare([frame])
        view = self._views.get(frame)
        return None if view is None else self._overlaid(view)

    def read_more(self, view: View, missing: Missing) -> View | None:
        """Return the view with what the decision asks for.

        None: it can be told only once what was written is committed.
        """
        if (missing.waiting or missing.compensations) and self.decision is not None:
            return None
        self._lock(ranges_of(missing))
        for frame in missing.effects:
            self._lock([(f"{frame}!", f"{frame}!{AFTER_DIGITS}")])
        more = read_more(self._connection, view, missing)
        return self._overlaid(extended(view, missing, more))

    def call(self, call_id: str) -> Call | None:
        """Return a call of the execution as it is after all that was written."""
        written = {} if self.decision is None else calls_in(self.decision)
        found = written.get(call_id)
        return found or one(self._connection, self._execution, call_id)

    def write(self, decision: Decision) -> bool:
        """Take a decision in; False if it was decided on something else than what is there."""
        if decision.seen_version != self._version:
            return False
        self._version = decision.execution.version
        self.decision = merged(self.decision, decision) if self.decision else decision
        return True

    def _lock(self, ranges: Sequence[tuple[str, str]]) -> None:
        rows = [(self._execution, low, high) for low, high in ranges]
        parameters = wanted_rows(self._database.dialect, ("execution", "low", "high"), rows)
        self._connection.execute(_lock_frames(self._database.dialect), parameters)

    def _overlaid(self, view: View) -> View:
        return view if self.decision is None else overlaid(view, self.decision)


@contextmanager
def locked(
    database: Database, execution: int, frame_ids: Sequence[str], scope: Scope
) -> Iterator[Locked]:
    """Lock an execution; at the end, what was written is committed, at an exception nothing is.

    Raises StoreUnavailable, with `unknown` if the connection dies during COMMIT.
    """
    with database.writing() as connection:
        versions = transition.lock(database, connection, [execution])
        version = versions.get(execution)
        lock = Locked(database, connection, execution, version, scope)
        if frame_ids and version is not None:
            lock.prepare(frame_ids)
        yield lock
        if lock.decision is not None and not _write(database, connection, lock.decision):
            raise GroupBroken(f"execution {execution}: other rows than those that were locked")


def _write(database: Database, connection: Connection, decision: Decision) -> bool:
    batch = Batch.of([decision])
    if database.dialect == "postgresql" and statement.fits(batch, 1):
        return decision.execution.id in statement.write(database, connection, batch)
    return batch.write(connection)
