"""A batch as one statement of PostgreSQL: one round trip, one transaction, however many decisions.

Rows come as JSON texts. Executions are locked in order of id, and those fall out whose version is
another; what belongs to the rest is written. A row that is not as it was seen (a frame that was
claimed in between) breaks the whole statement: then each decision is written alone.
"""

# ruff: noqa: S608  # statements are put together from the names of our own tables and columns

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from typing import Final, TypeAlias

import orjson
from sqlalchemy import Connection, Integer, Table, TextualSelect, column, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError

from orchestrator.execution.frame import FrameKind, FrameStatus
from orchestrator.store.batch import Batch
from orchestrator.store.database import Database
from orchestrator.store.errors import GroupBroken
from orchestrator.store.fault import sqlstate
from orchestrator.store.rows import Row
from orchestrator.store.tables import (
    NOT_OVER,
    calls,
    compensations,
    documents,
    executions,
    forks,
    frames,
    history,
)

Part: TypeAlias = "tuple[str, tuple[str, ...]]"
"""What is done with rows, and the names of their values."""

_ANSWER: Final = (
    column("id", executions.c.id.type),
    column("at", executions.c.started_at.type),
    column("whole", Integer()),
)
"""All of them, in their order: so SQLAlchemy need not look them up at every execution."""
_NAMES: Final = tuple(one.name for one in fields(Batch))
BROKEN: Final = "22012"
"""Division by zero: what the statement does on purpose if it has not met all its rows."""


def fits(batch: Batch, decisions: int) -> bool:
    """Whether a statement can take a batch of so many decisions.

    In one statement nothing is gone yet for what is inserted.
    """
    known = not any(getattr(batch, name) for name in _ONLY_ALONE)
    inserted = batch.frames_inserted or batch.forks_inserted
    registered = batch.registered or batch.marked
    locked = len(batch.held or batch.executions)
    gone = (batch.below and inserted) or (batch.dropped and registered)
    return known and locked == decisions and not gone


def _parts(batch: Batch, begun: Sequence[Row]) -> dict[str, Sequence[Row]]:
    """The rows that there are, by what is done with them."""
    parts = {name: getattr(batch, name) for name in _NAMES}
    held, moved = parts.pop("held"), parts.pop("executions")
    first = {"held": held, "moved_of_held": moved} if held else {"begun": begun, "moved": moved}
    return {name: rows for name, rows in {**first, **parts}.items() if rows}


def write(
    database: Database, connection: Connection, batch: Batch, begun: Sequence[Row] = ()
) -> set[int]:
    """Write a batch, and the rows of executions that begin with it.

    Returns the executions that were at the version seen, or are new.

    Raises GroupBroken if a row that belongs to them was not as seen; nothing is written then.
    """
    parts = _parts(batch, begun)
    statement = writing(tuple((part, tuple(rows[0])) for part, rows in parts.items()))
    values = {part: orjson.dumps(rows).decode() for part, rows in parts.items()}
    sent = database.surroundings.monotonic()
    try:
        kept = connection.execute(statement, values).all()
    except DBAPIError as error:
        if sqlstate(error) == BROKEN:
            raise GroupBroken from error
        raise
    if kept:
        database.clock.note(kept[0].at, sent)
    return {row.id for row in kept}


@cache
def writing(parts: tuple[Part, ...]) -> TextualSelect:
    """Return the statement for a batch with these parts; the first makes `kept`."""
    steps = [_step(part, names) for part, names in parts]
    whole = " AND ".join(
        f"(SELECT count(*) FROM {part}) = (SELECT count(*) FROM {part}_met)"
        for part, _ in parts
        if part in _GUARDED
    )
    answer = f"1 / ({whole})::int" if whole else "1"
    return text(
        f"WITH {', '.join(steps)}"
        f" SELECT kept.id, statement_timestamp() AS at, {answer} AS whole FROM kept"
    ).columns(*_ANSWER)


def _step(part: str, names: tuple[str, ...]) -> str:
    table = _TABLES.get(part, frames)
    typed = ", ".join(f"{name} {_type(table, name)}" for name in names)
    rows = f"json_to_recordset(CAST(:{part} AS json)) AS rows ({typed})"
    key = "execution" if "execution" in names else "at_execution"
    changed = [name for name in names if name in table.c]
    return STEPS[part].format(
        rows=rows,
        these=f"{part} AS (SELECT rows.* FROM {rows} JOIN kept ON kept.id = rows.{key})",
        names=", ".join(names),
        picked=", ".join(f"rows.{name}" for name in names),
        change=", ".join(f"{name} = {part}.{name}" for name in changed),
    )


def _type(table: Table, name: str) -> str:
    """The type of a value: that of its column, or of the one to which it is compared."""
    bound = "scope" if table is compensations else "id"
    column = bound if name in ("low", "high") else name.removeprefix("at_").removeprefix("seen_")
    return table.c[name if name in table.c else column].type.compile(_DIALECT)


# -- parts -----------------------------------------------------------------------------------------

_DIALECT: Final = postgresql.dialect()  # type: ignore[no-untyped-call]
_TABLES: Final = {
    "begun": executions,
    "held": executions,
    "moved": executions,
    "moved_of_held": executions,
    "calls_inserted": calls,
    "calls_decided": calls,
    "forks_removed": forks,
    "forks_inserted": forks,
    "forks_updated": forks,
    "history": history,
    "documents": documents,
    "dropped": compensations,
    "registered": compensations,
    "marked": compensations,
}
"""Where the types of values come from; from `frames` if not from these."""
_GUARDED: Final = (
    "frames_gone",
    "frames_updated",
    "forks_updated",
    "calls_inserted",
    "calls_decided",
)
"""What must meet as many rows as it names."""


def _as_seen(part: str) -> str:
    return (
        f"frames.execution = {part}.at_execution AND frames.id = {part}.at_id"
        f" AND frames.token IS NOT DISTINCT FROM {part}.seen_token"
        f" AND frames.wake_at IS NOT DISTINCT FROM {part}.seen_wake_at"
        f" AND frames.deliveries IS NOT DISTINCT FROM {part}.seen_deliveries"
    )


def _is_fork(part: str) -> str:
    return (
        f"forks.execution = {part}.at_execution AND forks.frame = {part}.at_frame"
        f" AND forks.entry = {part}.at_entry"
    )


def _insert(part: str, table: str) -> str:
    return (
        f"{part} AS (INSERT INTO {table} ({{names}}) SELECT {{picked}} FROM {{rows}}"
        " JOIN kept ON kept.id = rows.execution)"
    )


_NOT_KEPT: Final = f"frames.status <> '{FrameStatus.CANCELLED.value}'"
_IN_THE_TREE: Final = f"frames.kind <> '{FrameKind.EFFECT.value}'"

_EXCLUDED: Final = ", ".join(
    f"{c.name} = EXCLUDED.{c.name}" for c in compensations.c if not c.primary_key
)

STEPS: Final[dict[str, str]] = {
    "begun": (
        "kept AS (INSERT INTO executions ({names}) SELECT {picked} FROM {rows}"
        " ORDER BY rows.machine, rows.name ON CONFLICT DO NOTHING RETURNING id)"
    ),
    "moved": (
        "moved AS (SELECT rows.* FROM {rows}"
        " JOIN executions ON executions.id = rows.at_id AND executions.version = rows.seen_version"
        " ORDER BY executions.id FOR UPDATE OF executions),"
        " kept AS (SELECT at_id AS id FROM moved),"
        " moved_met AS (UPDATE executions SET {change} FROM moved"
        " WHERE executions.id = moved.at_id)"
    ),
    "held": (
        "held AS (SELECT rows.* FROM {rows}"
        " JOIN executions ON executions.id = rows.at_id AND executions.version = rows.seen_version"
        " ORDER BY executions.id FOR UPDATE OF executions),"
        " kept AS (SELECT at_id AS id FROM held)"
    ),
    "moved_of_held": (
        "moved_of_held AS (SELECT rows.* FROM {rows} JOIN kept ON kept.id = rows.at_id),"
        " moved_met AS (UPDATE executions SET {change} FROM moved_of_held"
        " WHERE executions.id = moved_of_held.at_id)"
    ),
    "calls_inserted": (
        "{these}, calls_inserted_met AS (INSERT INTO calls ({names})"
        " SELECT {names} FROM calls_inserted ON CONFLICT DO NOTHING RETURNING 1)"
    ),
    "calls_decided": (
        "{these}, calls_decided_met AS (UPDATE calls SET {change} FROM calls_decided"
        " WHERE calls.execution = calls_decided.at_execution"
        " AND calls.call_id = calls_decided.at_call_id AND calls.verdict = 'pending' RETURNING 1)"
    ),
    "below": (
        "{these}, frames_below AS (DELETE FROM frames USING below WHERE"
        " frames.execution = below.at_execution AND frames.id >= low AND frames.id <= high"
        f" AND {_IN_THE_TREE} AND {_NOT_KEPT}),"
        " forks_below AS (DELETE FROM forks USING below WHERE"
        " forks.execution = below.at_execution AND forks.frame >= low AND forks.frame <= high)"
    ),
    "forks_removed": (
        "{these}, forks_removed_met AS"
        f" (DELETE FROM forks USING forks_removed WHERE {_is_fork('forks_removed')})"
    ),
    "frames_gone": (
        "{these}, frames_gone_met AS (DELETE FROM frames USING frames_gone"
        f" WHERE {_as_seen('frames_gone')} RETURNING 1)"
    ),
    "ended": (
        "{these}, no_frames AS"
        " (DELETE FROM frames USING ended WHERE frames.execution = ended.at_execution"
        f" AND {_IN_THE_TREE}),"
        " no_forks AS (DELETE FROM forks USING ended WHERE forks.execution = ended.at_execution)"
    ),
    "frames_updated": (
        "{these}, frames_updated_met AS (UPDATE frames SET {change} FROM frames_updated"
        f" WHERE {_as_seen('frames_updated')} RETURNING 1)"
    ),
    "frames_inserted": _insert("frames_inserted", "frames"),
    "forks_inserted": _insert("forks_inserted", "forks"),
    "forks_updated": (
        "{these}, forks_updated_met AS (UPDATE forks SET {change} FROM forks_updated"
        f" WHERE {_is_fork('forks_updated')} RETURNING 1)"
    ),
    "dropped": (
        "{these}, dropped_met AS (DELETE FROM compensations USING dropped WHERE"
        " compensations.execution = dropped.at_execution AND compensations.scope >= low"
        " AND compensations.scope <= high AND compensations.event >= dropped.at_event"
        f" AND compensations.{NOT_OVER.text})"
    ),
    "registered": (
        "registered AS (INSERT INTO compensations ({names}) SELECT {picked} FROM {rows}"
        " JOIN kept ON kept.id = rows.execution"
        " ON CONFLICT (execution, scope, event, place) DO UPDATE SET"
        f" {_EXCLUDED})"
    ),
    "marked": (
        "{these}, marked_met AS (UPDATE compensations SET {change} FROM marked"
        " WHERE compensations.execution = marked.at_execution"
        " AND compensations.scope = marked.at_scope AND compensations.event = marked.at_event"
        " AND compensations.place = marked.at_place)"
    ),
    "history": _insert("history", "history"),
    "documents": _insert("documents", "documents"),
}
"""What is done with the rows of each part of a batch; first those that make `kept`."""
_ONLY_ALONE: Final = tuple(
    name for name in _NAMES if name not in STEPS and name not in ("held", "executions")
)
"""The parts of a batch that need statements of their own."""
