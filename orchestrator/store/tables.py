"""The tables. Ids of frames are compared bytewise: an id's prefix bounds a range of the index."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Float,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    TextClause,
    UniqueConstraint,
    and_,
    text,
)

from orchestrator.store.moment import Moment

metadata: Final = MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s",
        "uq": "%(table_name)s_%(column_0_N_name)s",
        "pk": "%(table_name)s_pkey",
    }
)

SurrogateId: Final = BigInteger().with_variant(Integer(), "sqlite")
"""On SQLite only a column of type INTEGER is the row id itself."""
Bytewise: Final = Text().with_variant(Text(collation="C"), "postgresql")


def _partial_index(
    name: str, *columns: str | Column[Any], where: ColumnElement[bool] | TextClause
) -> Index:
    """Return an index of the rows for which a condition holds, in both kinds of database."""
    return Index(name, *columns, postgresql_where=where, sqlite_where=where)


machines: Final = Table(
    "machines",
    metadata,
    Column("name", Bytewise, primary_key=True),
    Column("revision", BigInteger),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("status", Bytewise, nullable=False, server_default="ACTIVE"),
    Column("type", Bytewise, nullable=False, server_default="STANDARD"),
)

revisions: Final = Table(
    "revisions",
    metadata,
    Column("id", SurrogateId, primary_key=True, autoincrement=True),
    Column("machine", Bytewise, nullable=False),
    Column("number", Integer, nullable=False),
    Column("level", SmallInteger, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("uid", Text),
    Column("settings", Text),
    UniqueConstraint("machine", "number"),
)

executions: Final = Table(
    "executions",
    metadata,
    Column("id", SurrogateId, primary_key=True, autoincrement=False),
    Column("revision", BigInteger, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("next_event_id", BigInteger, nullable=False),
    Column("frames", Integer, nullable=False),
    Column("kept", Integer, nullable=False, server_default="0"),
    Column("effects", Integer, nullable=False, server_default="0"),
    Column("strikes", Integer, nullable=False, server_default="0"),
    Column("started_at", Moment, nullable=False),
    Column("last_event_at", Moment, nullable=False),
    Column("deadline_at", Moment),
    Column("ended_at", Moment),
    Column("machine", Bytewise, nullable=False),
    Column("name", Bytewise, nullable=False),
    Column("status", Bytewise, nullable=False),
    Column("phase", Text, nullable=False),
    Column("final_state", Text),
    Column("error", Text),
    Column("cause", Text),
    Column("told", Boolean),
    Column("parent", Bytewise),
    Column("origin", Text),
    Column("outcome", Text),
    Column("undoing", Text),
    UniqueConstraint("machine", "name"),
    Index("executions_machine_id", "machine", "id"),
    Index("executions_status_id", "status", "id"),
    Index("executions_machine_status_id", "machine", "status", "id"),
    _partial_index("executions_deadline_at", "deadline_at", where=text("phase = 'open'")),
    _partial_index("executions_parent", "parent", where=text("parent IS NOT NULL")),
    postgresql_with={"fillfactor": 80},
)

UNTOLD: Final = and_(executions.c.told == text("false"), executions.c.ended_at.is_not(None))
"""Of an execution that another one waits for: it has ended, and that one has not heard of it."""

_partial_index("executions_untold", executions.c.id, where=UNTOLD)

documents: Final = Table(
    "documents",
    metadata,
    Column("execution", BigInteger, primary_key=True, autoincrement=False),
    Column("what", Bytewise, primary_key=True),
    Column("text", Text, nullable=False),
)

frames: Final = Table(
    "frames",
    metadata,
    Column("execution", BigInteger, primary_key=True, autoincrement=False),
    Column("entry", BigInteger, nullable=False),
    Column("last_event", BigInteger, nullable=False),
    Column("fork", BigInteger),
    Column("entered_at", Moment),
    Column("wake_at", Moment),
    Column("timeout_at", Moment),
    Column("ready_at", Moment),
    Column("lease_until", Moment),
    Column("heartbeat_seconds", Integer),
    Column("attempt", Integer),
    Column("deliveries", Integer),
    Column("level", SmallInteger, nullable=False),
    Column("at_most_once", Boolean),
    Column("id", Bytewise, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("status", Bytewise, nullable=False),
    Column("rests_on", Text),
    Column("state", Text),
    Column("retries", Text),
    Column("resource", Bytewise),
    Column("queue", Bytewise),
    Column("token", Text),
    Column("key", Text),
    Column("claimed_by", Bytewise),
    Column("data", Text, nullable=False),
    Column("arguments", Text),
    Column("item", Text),
    Column("variables", Text),
    Column("timers", Text),
    Column("effect", Text),
    Column("progress", Text),
    postgresql_with={"fillfactor": 80},
)

READY: Final = and_(
    frames.c.status == text("'resting'"),
    frames.c.rests_on == text("'task'"),
    frames.c.claimed_by.is_(None),
)
"""A task that waits to be claimed; written out, so that the planner sees the partial indexes."""

_partial_index("frames_ready", frames.c.queue, frames.c.ready_at, where=READY)
_partial_index(
    "frames_unserved",
    frames.c.resource,
    frames.c.ready_at,
    where=and_(READY, frames.c.queue.is_(None)),
)
LONELY: Final = and_(READY, frames.c.deliveries >= text("2"))
"""A task that was lost twice: whatever runs it may be what kills its process."""

_partial_index("frames_lonely", frames.c.queue, where=LONELY)
_partial_index("frames_claimed_by", frames.c.claimed_by, where=frames.c.claimed_by.is_not(None))
_partial_index("frames_wake_at", frames.c.wake_at, where=frames.c.wake_at.is_not(None))

CALLED: Final = frames.c.rests_on == text("'call'")
"""A frame that stands in an Await."""

_partial_index("frames_called", frames.c.execution, frames.c.id, where=CALLED)
AGEING: Final = text("rests_on IN ('call', 'callback', 'clock', 'execution')")
"""A frame that waits for something that no worker does."""

# Not by its time: a column that every step changes would make each of them write every index anew.
_partial_index("frames_ageing", frames.c.execution, frames.c.id, where=AGEING)
UNENDED: Final = and_(frames.c.kind == text("'effect'"), text("status IN ('pending', 'resting')"))
"""An effect that has not ended."""

_partial_index("frames_unended_effects", frames.c.execution, frames.c.id, where=UNENDED)
FAILED: Final = frames.c.status == text("'failed'")
"""An effect that has failed for good."""

_partial_index("frames_failed_effects", frames.c.execution, where=FAILED)

forks: Final = Table(
    "forks",
    metadata,
    Column("execution", BigInteger, autoincrement=False),
    Column("entry", BigInteger, autoincrement=False),
    Column("total", Integer, nullable=False),
    Column("admitted", Integer, nullable=False),
    Column("succeeded", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("max_concurrency", Integer, nullable=False),
    Column("tolerated_count", Integer, nullable=False),
    Column("tolerated_percentage", Float, nullable=False),
    Column("frame", Bytewise, nullable=False),
    PrimaryKeyConstraint("execution", "frame", "entry"),
    postgresql_with={"fillfactor": 80},
)

history: Final = Table(
    "history",
    metadata,
    Column("execution", BigInteger, primary_key=True, autoincrement=False),
    Column("first_id", BigInteger, primary_key=True, autoincrement=False),
    Column("last_id", BigInteger, nullable=False),
    Column("events", Text, nullable=False),
)

calls: Final = Table(
    "calls",
    metadata,
    Column("execution", BigInteger, primary_key=True, autoincrement=False),
    Column("call_id", Bytewise, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("arrived_at", Moment, nullable=False),
    Column("decided_at", Moment),
    Column("call", Text, nullable=False),
    Column("at", Bytewise),
    Column("digest", Text, nullable=False),
    Column("verdict", Bytewise, nullable=False),
    Column("input", Text, nullable=False),
    Column("answer", Text),
    Index("calls_number", "execution", "number", "call_id"),
)

compensations: Final = Table(
    "compensations",
    metadata,
    Column("execution", BigInteger, autoincrement=False),
    Column("event", BigInteger, autoincrement=False),
    Column("place", Integer, autoincrement=False),
    Column("scope", Bytewise, nullable=False),
    Column("status", Bytewise, nullable=False),
    Column("state", Text, nullable=False),
    Column("resource", Bytewise, nullable=False),
    Column("key", Text, nullable=False),
    Column("undoes", Text),
    Column("arguments", Text, nullable=False),
    Column("awaited_by", Bytewise),
    Column("terms", Text, nullable=False),
    PrimaryKeyConstraint("execution", "scope", "event", "place"),
)

OPEN_TO_UNDO: Final = text("status IN ('doubtful', 'pending', 'running', 'blocked')")
"""A compensation that is open: it is still to be run."""

NOT_OVER: Final = text("status NOT IN ('done', 'skipped', 'void')")
"""The same in words from which no index of open ones follows: for the few of a narrow scope."""

_partial_index(
    "compensations_open",
    compensations.c.execution,
    compensations.c.event,
    compensations.c.place,
    where=OPEN_TO_UNDO,
)

KEPT: Final = calls.c.verdict == text("'pending'")
"""A call that waits for its verdict."""

_partial_index("calls_kept", calls.c.execution, calls.c.number, where=KEPT)
_partial_index("calls_waiting", calls.c.arrived_at, where=KEPT)

resources: Final = Table(
    "resources",
    metadata,
    Column("name", Bytewise, primary_key=True),
    Column("queue", Bytewise, nullable=False),
    Column("at_most_once", Boolean, nullable=False),
    Column("announced_by", Text, nullable=False),
    Column("last_seen", Moment, nullable=False),
    Column("previous_queue", Bytewise),
)

workers: Final = Table(
    "workers",
    metadata,
    Column("id", Bytewise, primary_key=True),
    Column("lock_key", BigInteger),
    Column("failed_bells", BigInteger, nullable=False),
    Column("started_at", Moment, nullable=False),
    Column("beat_at", Moment, nullable=False),
    Column("died_at", Moment),
    Column("slots", Integer, nullable=False),
    Column("given_up", Integer, nullable=False),
    Column("level", SmallInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("serves", Text),
    Column("unhealthy", Text),
)

undecided: Final = Table(
    "undecided",
    metadata,
    Column("execution", BigInteger, autoincrement=False),
    Column("entry", BigInteger, autoincrement=False),
    Column("stored_at", Moment, nullable=False),
    Column("try_at", Moment),
    Column("strikes", Integer, nullable=False),
    Column("frame", Bytewise),
    Column("event", Text, nullable=False),
    Column("error", Text, nullable=False),
    PrimaryKeyConstraint("execution", "frame", "entry"),
)

trail: Final = Table(
    "trail",
    metadata,
    Column("id", SurrogateId, primary_key=True, autoincrement=True),
    Column("execution", BigInteger),
    Column("at", Moment, nullable=False),
    Column("who", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Index("trail_execution", "execution", "id"),
)

activities: Final = Table(
    "activities",
    metadata,
    Column("name", Bytewise, primary_key=True),
    Column("created_at", Moment, nullable=False),
)

secrets: Final = Table(
    "secrets",
    metadata,
    Column("name", Bytewise, primary_key=True),
    Column("value", Text, nullable=False),
)

orphans: Final = Table(
    "orphans",
    metadata,
    Column("parent", Bytewise, primary_key=True),
    Column("since", Moment, nullable=False),
)
