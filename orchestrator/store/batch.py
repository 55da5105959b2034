"""The rows of a group of decisions, and the statements that write them.

Statements stand in an order that never changes; each is sent once for the whole group, and how
many rows it has met decides whether the group may be committed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from orchestrator.execution.decision import Decision, FrameUpdate
from orchestrator.execution.frame import Fork, FrameKind, FrameStatus, RestsOn, is_effect
from orchestrator.execution.history import encode
from orchestrator.execution.served import START
from orchestrator.store.call import DECIDE_CALLS, INSERT_CALLS, call_row, decided_row
from orchestrator.store.compensation import (
    DROP,
    MARK,
    REGISTER,
    compensation_row,
    mark_row,
    stretch_row,
)
from orchestrator.store.frame_row import frame_row, seen_row
from orchestrator.store.moment import current_moment
from orchestrator.store.rows import Row, execution_row, fork_row
from orchestrator.store.tables import documents, executions, forks, frames, history, orphans
from orchestrator.store.view import AFTER_DIGITS

_EXECUTION_CHANGES: Final = (
    "version",
    "next_event_id",
    "frames",
    "kept",
    "effects",
    "last_event_at",
    "deadline_at",
    "ended_at",
    "status",
    "phase",
    "outcome",
    "undoing",
    "final_state",
    "error",
    "cause",
    "revision",
)
_FRAME_KEY: Final = {"execution", "id"}
_FORK_CHANGES: Final = ("admitted", "succeeded", "failed")

_seen: Final[ColumnElement[bool]] = and_(
    frames.c.execution == bindparam("at_execution"),
    frames.c.id == bindparam("at_id"),
    frames.c.token.is_not_distinct_from(bindparam("seen_token", type_=frames.c.token.type)),
    frames.c.wake_at.is_not_distinct_from(bindparam("seen_wake_at", type_=frames.c.wake_at.type)),
    frames.c.deliveries.is_not_distinct_from(
        bindparam("seen_deliveries", type_=frames.c.deliveries.type)
    ),
)

UPDATE_EXECUTIONS: Final = (
    update(executions)
    .where(
        executions.c.id == bindparam("at_id"),
        executions.c.version == bindparam("seen_version"),
    )
    .values({name: bindparam(name) for name in _EXECUTION_CHANGES})
)
_in_the_tree: Final = frames.c.kind != FrameKind.EFFECT.value
_not_kept: Final = frames.c.status != FrameStatus.CANCELLED.value
DELETE_FRAMES_BELOW: Final = delete(frames).where(
    frames.c.execution == bindparam("at_execution"),
    frames.c.id >= bindparam("low"),
    frames.c.id <= bindparam("high"),
    _in_the_tree,
    _not_kept,
)
DELETE_FORKS_BELOW: Final = delete(forks).where(
    forks.c.execution == bindparam("at_execution"),
    forks.c.frame >= bindparam("low"),
    forks.c.frame <= bindparam("high"),
)
DELETE_FORK: Final = delete(forks).where(
    forks.c.execution == bindparam("at_execution"),
    forks.c.frame == bindparam("at_frame"),
    forks.c.entry == bindparam("at_entry"),
)
DELETE_SEEN_FRAME: Final = delete(frames).where(_seen)
DELETE_FRAMES: Final = delete(frames).where(
    frames.c.execution == bindparam("at_execution"), _in_the_tree
)
DELETE_FORKS: Final = delete(forks).where(forks.c.execution == bindparam("at_execution"))
UPDATE_FRAMES: Final = (
    update(frames)
    .where(_seen)
    .values({c.name: bindparam(c.name) for c in frames.c if c.name not in _FRAME_KEY})
)
UPDATE_FORKS: Final = (
    update(forks)
    .where(
        forks.c.execution == bindparam("at_execution"),
        forks.c.frame == bindparam("at_frame"),
        forks.c.entry == bindparam("at_entry"),
    )
    .values({name: bindparam(name) for name in _FORK_CHANGES})
)
INSERT_FRAMES: Final = insert(frames)
INSERT_FORKS: Final = insert(forks)
INSERT_HISTORY: Final = insert(history)
INSERT_DOCUMENTS: Final = insert(documents)

_parent: Final = cast(frames.c.execution, Text()) + ":" + frames.c.token + ":" + frames.c.id
_may_have_children: Final = and_(
    frames.c.execution == bindparam("at_execution"),
    frames.c.id >= bindparam("low"),
    frames.c.id <= bindparam("high"),
    or_(
        frames.c.rests_on == RestsOn.EXECUTION.value,
        and_(frames.c.resource == START, frames.c.deliveries > 0),
    ),
)
_ORPHANED: Final = select(_parent, current_moment()).where(_may_have_children)
_ON: Final[dict[str, type[postgresql.Insert | sqlite.Insert]]] = {
    "postgresql": postgresql.Insert,
    "sqlite": sqlite.Insert,
}
INSERT_ORPHANS_BELOW: Final[dict[str, Insert]] = {
    dialect: of(orphans).from_select(["parent", "since"], _ORPHANED).on_conflict_do_nothing()
    for dialect, of in _ON.items()
}
INSERT_ORPHANS: Final[dict[str, Insert]] = {
    dialect: of(orphans).values(since=current_moment()).on_conflict_do_nothing()
    for dialect, of in _ON.items()
}


def _rows() -> list[Row]:
    return []


@dataclass(slots=True)
class Batch:
    """What a group of decisions writes, table by table."""

    held: list[Row] = field(default_factory=_rows)
    """Where some execution stays as it is: all of them, to be locked at the version seen."""
    executions: list[Row] = field(default_factory=_rows)
    frames_kept: list[Row] = field(default_factory=_rows)
    below: list[Row] = field(default_factory=_rows)
    forks_removed: list[Row] = field(default_factory=_rows)
    frames_gone: list[Row] = field(default_factory=_rows)
    ended: list[Row] = field(default_factory=_rows)
    frames_updated: list[Row] = field(default_factory=_rows)
    frames_inserted: list[Row] = field(default_factory=_rows)
    forks_inserted: list[Row] = field(default_factory=_rows)
    forks_updated: list[Row] = field(default_factory=_rows)
    history: list[Row] = field(default_factory=_rows)
    documents: list[Row] = field(default_factory=_rows)
    calls_inserted: list[Row] = field(default_factory=_rows)
    calls_decided: list[Row] = field(default_factory=_rows)
    dropped: list[Row] = field(default_factory=_rows)
    registered: list[Row] = field(default_factory=_rows)
    marked: list[Row] = field(default_factory=_rows)
    orphans: list[Row] = field(default_factory=_rows)
    orphans_below: list[Row] = field(default_factory=_rows)

    @classmethod
    def of(cls, decisions: Iterable[Decision]) -> Batch:
        """Return what these decisions write; each is of another execution."""
        batch = cls()
        for decision in decisions:
            batch._add(decision)
        if batch.held:
            batch.held += [
                {"at_id": row["at_id"], "seen_version": row["seen_version"]}
                for row in batch.executions
            ]
        return batch

    def _add(self, decision: Decision) -> None:
        execution = decision.execution.id
        if decision.seen_version and decision.moves:
            row = execution_row(decision.execution)
            changes: Row = {name: row[name] for name in _EXECUTION_CHANGES}
            self.executions.append(
                {**changes, "at_id": execution, "seen_version": decision.seen_version}
            )
        elif decision.seen_version:
            self.held.append({"at_id": execution, "seen_version": decision.seen_version})
        if decision.ends and decision.seen_version and decision.moves:
            self._add_end(decision)
        else:
            self._add_frames(decision)
        self.calls_inserted += [call_row(execution, call) for call in decision.calls_inserted]
        self.calls_decided += [decided_row(execution, call) for call in decision.calls_decided]
        self._add_orphans(decision)
        self.dropped += [stretch_row(execution, one) for one in decision.dropped]
        self.registered += [compensation_row(execution, one) for one in decision.registered]
        self.marked += [mark_row(execution, one) for one in decision.marked]
        if decision.history:
            self.history.append(_history_row(decision))
        for what, payload in (("input", decision.input), ("output", decision.output)):
            if payload is not None:
                self.documents.append({"execution": execution, "what": what, "text": payload.text})

    def _add_orphans(self, decision: Decision) -> None:
        self.orphans += [{"parent": parent} for parent in decision.orphans]
        if decision.leaves_children and decision.seen_version:
            ranges = [("", AFTER_DIGITS)] if decision.ends else _ranges(decision.removed)
            self.orphans_below += [
                {"at_execution": decision.execution.id, "low": low, "high": high}
                for low, high in ranges
            ]

    def _add_end(self, decision: Decision) -> None:
        execution = decision.execution.id
        self.frames_gone += [
            seen_row(execution, change.frame.id, change.seen)
            for change in decision.updated
            if not is_effect(change.frame.id)
        ]
        self.frames_gone += _gone_rows(decision)
        self._add_updates(
            execution, [change for change in decision.updated if is_effect(change.frame.id)]
        )
        self.frames_inserted += [
            frame_row(execution, frame) for frame in decision.inserted if is_effect(frame.id)
        ]
        self.ended.append({"at_execution": execution})

    def _add_frames(self, decision: Decision) -> None:
        execution = decision.execution.id
        self.frames_kept += _update_rows(execution, decision.kept)
        self.frames_gone += _gone_rows(decision)
        self.below += [
            {"at_execution": execution, "low": prefix, "high": prefix + AFTER_DIGITS}
            for prefix in decision.removed
        ]
        self.forks_removed += [
            {"at_execution": execution, "at_frame": frame, "at_entry": entry}
            for frame, entry in decision.forks_removed
        ]
        self._add_updates(execution, decision.updated)
        self.frames_inserted += [frame_row(execution, frame) for frame in decision.inserted]
        self.forks_inserted += [fork_row(execution, fork) for fork in decision.forks_inserted]
        self.forks_updated += [_fork_change(execution, fork) for fork in decision.forks_updated]

    def _add_updates(self, execution: int, updated: Iterable[FrameUpdate]) -> None:
        self.frames_updated += _update_rows(execution, updated)

    def write(self, connection: Connection) -> bool:
        """Send the statements; whether each has met all the rows that it names."""
        _send(connection, INSERT_ORPHANS_BELOW[connection.dialect.name], self.orphans_below)
        _send(connection, INSERT_ORPHANS[connection.dialect.name], self.orphans)
        if not _meets_all(connection, UPDATE_FRAMES, self.frames_kept):
            return False
        if not _meets_all(connection, DELETE_SEEN_FRAME, self.frames_gone):
            return False
        _send(connection, DELETE_FRAMES_BELOW, self.below)
        _send(connection, DELETE_FORKS_BELOW, self.below)
        _send(connection, DELETE_FORK, self.forks_removed)
        whole = (
            _meets_all(connection, UPDATE_EXECUTIONS, self.executions)
            and _meets_all(connection, UPDATE_FRAMES, self.frames_updated)
            and _meets_all(connection, UPDATE_FORKS, self.forks_updated)
            and _meets_all(connection, INSERT_CALLS[connection.dialect.name], self.calls_inserted)
            and _meets_all(connection, DECIDE_CALLS, self.calls_decided)
        )
        if whole:
            _send(connection, DELETE_FRAMES, self.ended)
            _send(connection, DELETE_FORKS, self.ended)
            _send(connection, INSERT_FRAMES, self.frames_inserted)
            _send(connection, INSERT_FORKS, self.forks_inserted)
            _send(connection, MARK, self.marked)
            _send(connection, DROP, self.dropped)  # what has just been done stays on record
            _send(connection, REGISTER[connection.dialect.name], self.registered)
            _send(connection, INSERT_HISTORY, self.history)
            _send(connection, INSERT_DOCUMENTS, self.documents)
        return whole


def size(decision: Decision) -> int:
    """Return how many characters of documents a decision writes, about."""
    payloads = [decision.input, decision.output]
    for frame in [*decision.inserted, *(change.frame for change in decision.updated)]:
        payloads += [frame.input, frame.item, frame.variables]
        payloads.append(frame.task.arguments if frame.task else None)
    payloads += [call.input for call in decision.calls_inserted]
    payloads += [one.arguments for one in decision.registered]
    written = sum(len(payload.text) for payload in payloads if payload is not None)
    return 2 * written  # the history holds about as much once more


def _update_rows(execution: int, updated: Iterable[FrameUpdate]) -> list[Row]:
    rows: list[Row] = []
    for change in updated:
        row = frame_row(execution, change.frame)
        del row["execution"], row["id"]
        rows.append({**row, **seen_row(execution, change.frame.id, change.seen)})
    return rows


def _gone_rows(decision: Decision) -> list[Row]:
    return [seen_row(decision.execution.id, frame, seen) for frame, seen in decision.gone]


def _ranges(prefixes: Iterable[str]) -> list[tuple[str, str]]:
    return [(prefix, prefix + AFTER_DIGITS) for prefix in prefixes]


def _send(connection: Connection, statement: Executable, rows: Sequence[Row]) -> None:
    if rows:
        connection.execute(statement, rows)


def _meets_all(connection: Connection, statement: Executable, rows: Sequence[Row]) -> bool:
    return not rows or connection.execute(statement, rows).rowcount == len(rows)


def _fork_change(execution: int, fork: Fork) -> Row:
    return {
        "at_execution": execution,
        "at_frame": fork.frame,
        "at_entry": fork.entry,
        "admitted": fork.admitted,
        "succeeded": fork.succeeded,
        "failed": fork.failed,
    }


def _history_row(decision: Decision) -> Row:
    return {
        "execution": decision.execution.id,
        "first_id": decision.history[0].id,
        "last_id": decision.history[-1].id,
        "events": encode(decision.history),
    }
