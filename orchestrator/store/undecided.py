"""Events that could not be decided: kept, tried again later, left to an operator in the end.

Each has a transaction of its own. The frame keeps its claim without a lease, so that nobody runs
its task again, and wakes when the event is to be tried again. A row counts while its frame waits
for just that moment; whatever else becomes of the frame, the row is over.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Text,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from orchestrator.execution.events import (
    CallArrived,
    CompensationRetried,
    CompensationSkipped,
    DeadlinePassed,
    EffectRetried,
    Event,
    MomentDue,
    StopRequested,
    frame_of,
)
from orchestrator.store import event as events
from orchestrator.store import transition
from orchestrator.store.database import Database
from orchestrator.store.moment import Moment, current_moment
from orchestrator.store.rows import Values
from orchestrator.store.tables import executions, frames, trail, undecided
from orchestrator.store.values import TrailRow, Undecided

MOST_STRIKES: Final = 5
"""How often an event is tried before it is left to an operator."""
LONGEST_ERROR: Final = 4_096
NEVER: Final = datetime(9999, 12, 31, tzinfo=UTC)
"""When what is left to an operator wakes by itself."""
DEADLINE_ENTRY: Final = 0
"""The entry of a row that holds an execution's deadline and no frame's event."""
_STORED: Final = "(stored)"
"""Who claims a task whose result came from nobody who had claimed it."""

# -- what is still so ----------------------------------------------------------------------------

_frame_waits: Final = exists().where(
    frames.c.execution == undecided.c.execution,
    frames.c.id == undecided.c.frame,
    frames.c.entry == undecided.c.entry,
    frames.c.wake_at == undecided.c.try_at,
)
_timed: Final = executions.alias("timed")
_deadline_waits: Final = and_(
    undecided.c.entry == DEADLINE_ENTRY,
    exists().where(
        _timed.c.id == undecided.c.execution,
        _timed.c.phase == "open",
        _timed.c.deadline_at == undecided.c.try_at,
    ),
)
_waits: Final[ColumnElement[bool]] = or_(_frame_waits, _deadline_waits)
_here: Final = undecided.c.execution == bindparam("at_execution", type_=BigInteger())

# -- a strike ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pauses:
    """How long an event is left alone after its strikes: each pause is a multiple of the last."""

    first_seconds: float = 1.0
    factor: float = 4.0

    def after(self, strikes: int) -> timedelta | None:
        """Return the pause after so many strikes; None: it is left to an operator."""
        if strikes >= MOST_STRIKES:
            return None
        return timedelta(seconds=self.first_seconds * self.factor ** (strikes - 1))


_COUNTED: Final = select(undecided.c.strikes).where(
    _here,
    undecided.c.frame == bindparam("at_frame", type_=Text()),
    undecided.c.entry == bindparam("at_entry", type_=BigInteger()),
)
_ENTRY: Final = select(frames.c.entry).where(
    frames.c.execution == bindparam("at_execution"), frames.c.id == bindparam("at_frame")
)
_BUMP: Final = (
    update(executions)
    .where(executions.c.id == bindparam("at_execution"))
    .values(strikes=executions.c.strikes + 1, version=executions.c.version + 1)
)
_PUT_OFF_DEADLINE: Final = (
    update(executions)
    .where(
        executions.c.id == bindparam("at_execution"),
        executions.c.deadline_at == bindparam("seen_at", type_=Moment()),
    )
    .values(deadline_at=bindparam("until", type_=Moment()))
)
_PUT_OFF_MOMENT: Final = (
    update(frames)
    .where(
        frames.c.execution == bindparam("at_execution"),
        frames.c.id == bindparam("at_frame"),
        frames.c.entry == bindparam("seen_entry"),
        frames.c.wake_at == bindparam("seen_at", type_=Moment()),
    )
    .values(wake_at=bindparam("until", type_=Moment()))
)
_asked: Final = and_(
    frames.c.execution == bindparam("at_execution"),
    frames.c.id == bindparam("at_frame"),
    frames.c.token == bindparam("seen_token", type_=Text()),
)
_kept: Final = {
    "wake_at": bindparam("until", type_=Moment()),
    "lease_until": None,
    "claimed_by": func.coalesce(frames.c.claimed_by, _STORED),
}
_KEEP: Final = update(frames).where(_asked).values(_kept)
_KEEP_DELIVERED: Final = (
    update(frames).where(_asked, frames.c.deliveries == bindparam("seen_delivery")).values(_kept)
)


@cache
def _store_statement(dialect: str) -> Insert:
    made: type[postgresql.Insert | sqlite.Insert] = (
        sqlite.Insert if dialect == "sqlite" else postgresql.Insert
    )
    statement = made(undecided).values(stored_at=current_moment())
    new = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=["execution", "frame", "entry"],
        set_={
            "event": new.event,
            "error": new.error,
            "strikes": new.strikes,
            "try_at": new.try_at,
        },
    )


def strike(database: Database, event: Event, error: str, pauses: Pauses) -> int | None:
    """Keep an event that could not be decided, for its next try.

    Returns how often that was so by now; None: nobody asks for it any more.
    """
    if isinstance(event, StopRequested):
        return None
    with database.writing() as connection:
        if not transition.lock(database, connection, [event.execution]):
            return None
        entry = _entry(connection, event)
        if entry is None:
            return None
        key = {
            "at_execution": event.execution,
            "at_frame": frame_of(event),
            "at_entry": entry,
        }
        strikes = (connection.execute(_COUNTED, key).scalar() or 0) + 1
        pause = pauses.after(strikes)
        until = NEVER if pause is None else database.clock.now() + pause
        if not _put_off(connection, event, until):
            return None
        row = {
            "execution": event.execution,
            "frame": frame_of(event),
            "entry": entry,
            "event": events.write(event),
            "error": json.dumps(error[:LONGEST_ERROR]),
            "strikes": strikes,
            "try_at": until,
        }
        connection.execute(_store_statement(database.dialect), row)
        connection.execute(_BUMP, {"at_execution": event.execution})
    return strikes


def _entry(connection: Connection, event: Event) -> int | None:
    if isinstance(event, DeadlinePassed):
        return DEADLINE_ENTRY
    where = {"at_execution": event.execution, "at_frame": frame_of(event)}
    entry: int | None = connection.execute(_ENTRY, where).scalar()
    return entry


def _put_off(connection: Connection, event: Event, until: datetime) -> bool:
    """Have the event's frame wake at another moment, if it still asks for the event."""
    values: dict[str, object] = {
        "at_execution": event.execution,
        "at_frame": frame_of(event),
        "until": until,
    }
    match event:
        case DeadlinePassed():
            statement = _PUT_OFF_DEADLINE
            values["seen_at"] = event.deadline_at
        case MomentDue():
            statement = _PUT_OFF_MOMENT
            values |= {"seen_entry": event.entry, "seen_at": event.wake_at}
        case StopRequested() | CallArrived() | EffectRetried():
            return False
        case CompensationRetried() | CompensationSkipped():
            return False
        case _:
            delivery: int | None = getattr(event, "delivery", None)
            statement = _KEEP if delivery is None else _KEEP_DELIVERED
            values |= {"seen_token": event.token, "seen_delivery": delivery}
    return connection.execute(statement, values).rowcount == 1


# -- what waits ----------------------------------------------------------------------------------

_COLUMNS: Final = (
    undecided.c.execution,
    undecided.c.frame,
    undecided.c.entry,
    undecided.c.event,
    undecided.c.error,
    undecided.c.strikes,
    undecided.c.stored_at,
    undecided.c.try_at,
)
_OF_EXECUTION: Final = select(*_COLUMNS).where(_here, _waits)


def undecided_of(database: Database, execution: int) -> list[Undecided]:
    """Return the events of an execution that wait to be decided again."""
    with database.reading() as connection:
        rows = connection.execute(_OF_EXECUTION, {"at_execution": execution}).all()
    return [_undecided(row) for row in rows]


_LEFT: Final = (
    select(*_COLUMNS)
    .where(undecided.c.strikes >= MOST_STRIKES, _waits)
    .order_by(undecided.c.stored_at)
    .limit(bindparam("most"))
)


def left_to_operators(database: Database, limit: int) -> list[Undecided]:
    """Return the events that were tried as often as may be, oldest first."""
    with database.reading() as connection:
        return [_undecided(row) for row in connection.execute(_LEFT, {"most": limit})]


def _undecided(row: Values) -> Undecided:
    execution, frame, entry, event, error, strikes, stored_at, try_at = row
    return Undecided(
        execution=execution,
        frame=frame,
        entry=entry,
        event=events.read(event),
        error=str(json.loads(error)),
        strikes=strikes,
        stored_at=stored_at,
        try_at=try_at,
    )


# -- what is over --------------------------------------------------------------------------------

_OVER: Final = delete(undecided).where(_here, ~_waits)
_COUNT_ANEW: Final = (
    update(executions)
    .where(executions.c.id == bindparam("at_execution"))
    .values(
        strikes=func.coalesce(
            select(func.sum(undecided.c.strikes)).where(_here).scalar_subquery(), 0
        )
    )
)


def settle(database: Database, execution: int) -> None:
    """Forget the events of an execution that nobody waits for any more."""
    with database.writing() as connection:
        transition.lock(database, connection, [execution])
        connection.execute(_OVER, {"at_execution": execution})
        connection.execute(_COUNT_ANEW, {"at_execution": execution})


# -- an operator's retry -------------------------------------------------------------------------

_AGAIN: Final = (
    update(undecided).where(_here).values(strikes=0, try_at=bindparam("until", type_=Moment()))
)
_FLAG: Final = (
    update(executions)
    .where(executions.c.id == bindparam("at_execution"))
    .values(strikes=1, version=executions.c.version + 1)
)
_TRAIL: Final = insert(trail).values(at=current_moment())


def retry(
    database: Database, execution: int, who: str, reason: str
) -> list[MomentDue | DeadlinePassed]:
    """Let what is kept of an execution be tried at once; the moments that wake it.

    Who wants that and why is noted in the same transaction. Empty: nothing is kept.
    """
    with database.writing() as connection:
        transition.lock(database, connection, [execution])
        where = {"at_execution": execution}
        rows = [_undecided(row) for row in connection.execute(_OF_EXECUTION, where)]
        if not rows:
            return []
        now = database.clock.now()
        moments = [_moment(row, now) for row in rows]
        for row in rows:
            _put_off(connection, _moment(row, row.try_at), now)
        connection.execute(_AGAIN, {**where, "until": now})
        connection.execute(_FLAG, where)
        note(connection, execution, who, "retry", reason)
    return moments


def _moment(row: Undecided, at: datetime) -> MomentDue | DeadlinePassed:
    if row.entry == DEADLINE_ENTRY:
        return DeadlinePassed(row.execution, at)
    return MomentDue(row.execution, row.frame, row.entry, at)


_ACTS: Final = (
    select(trail.c.at, trail.c.who, trail.c.what, trail.c.execution, trail.c.reason)
    .where(trail.c.execution == bindparam("at_execution"))
    .order_by(trail.c.id)
)


def trail_of(database: Database, execution: int) -> list[TrailRow]:
    """Return what operators did to an execution, in order."""
    with database.reading() as connection:
        return [TrailRow(*row) for row in connection.execute(_ACTS, {"at_execution": execution})]


def note(connection: Connection, execution: int | None, who: str, what: str, reason: str) -> None:
    """Note an operator's act in the trail, in the transaction that carries it out."""
    connection.execute(_TRAIL, {"execution": execution, "who": who, "what": what, "reason": reason})


def add_to_trail(
    database: Database, execution: int | None, who: str, what: str, reason: str
) -> None:
    """Note an operator's act that other transactions carry out, before they do."""
    with database.writing() as connection:
        note(connection, execution, who, what, reason)
