"""What a decision looks at, read in one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection, Select, and_, bindparam, select

from orchestrator.execution.call import Call
from orchestrator.execution.compensation import Compensation, Wanted
from orchestrator.execution.decision import Missing, View
from orchestrator.execution.frame import Execution, Fork, Frame, FrameKind, Scope, lineage
from orchestrator.store import compensation
from orchestrator.store.call import kept_calls
from orchestrator.store.frame_row import FRAME_COLUMNS, read_frame
from orchestrator.store.rows import (
    EXECUTION_COLUMNS,
    FORK_COLUMNS,
    Values,
    read_execution,
    read_fork,
)
from orchestrator.store.tables import CALLED, UNENDED, executions, forks, frames
from orchestrator.store.wanted import INTEGER, TEXT, wanted, wanted_rows

Key: TypeAlias = "tuple[int, str]"
"""An execution and one of its frames."""

_FRAME: Final = len(EXECUTION_COLUMNS)
_FORK: Final = len(FRAME_COLUMNS)
_FRAME_ID: Final = FRAME_COLUMNS.index(frames.c.id)

AFTER_DIGITS: Final = ":"
"""Follows the digits in ASCII: behind a prefix, it is greater than every id that begins so."""

FORK_OF_FRAME: Final = and_(
    forks.c.execution == frames.c.execution,
    forks.c.frame == frames.c.id,
    forks.c.entry == frames.c.fork,
)


@cache
def _read_statement(dialect: str) -> Select[Any]:
    keys = wanted(dialect, execution=INTEGER, frame=TEXT)
    return (
        select(*EXECUTION_COLUMNS, *FRAME_COLUMNS, *FORK_COLUMNS)
        .select_from(keys)
        .join(executions, executions.c.id == keys.c.execution)
        .outerjoin(
            frames,
            and_(frames.c.execution == keys.c.execution, frames.c.id == keys.c.frame),
        )
        .outerjoin(forks, FORK_OF_FRAME)
    )


@cache
def _more_statement(dialect: str) -> Select[Any]:
    ranges = wanted(dialect, execution=INTEGER, low=TEXT, high=TEXT)
    return (
        select(executions.c.version, *FRAME_COLUMNS, *FORK_COLUMNS)
        .select_from(ranges)
        .join(executions, executions.c.id == ranges.c.execution)
        .outerjoin(
            frames,
            and_(
                frames.c.execution == ranges.c.execution,
                frames.c.id >= ranges.c.low,
                frames.c.id <= ranges.c.high,
                frames.c.kind != FrameKind.EFFECT.value,
            ),
        )
        .outerjoin(forks, FORK_OF_FRAME)
    )


_between: Final = and_(
    frames.c.execution == bindparam("at_execution"),
    frames.c.id >= bindparam("low"),
    frames.c.id <= bindparam("high"),
)
EFFECTS: Final = select(*FRAME_COLUMNS).where(_between, UNENDED)
"""The effects of one frame that have not ended."""
WAITING: Final = select(frames.c.id).where(_between, CALLED).limit(1)
"""A frame under a prefix that rests on a call."""


@dataclass(frozen=True, slots=True)
class More:
    """What was read because a decision asked for it; `version` None: the execution is gone."""

    version: int | None
    frames: Mapping[str, Frame]
    forks: Mapping[str, Fork]
    calls: tuple[Call, ...] | None = None
    waiting: Mapping[str, bool] = field(default_factory=dict)
    compensations: Mapping[Wanted, tuple[Compensation, ...]] = field(default_factory=dict)


def read_views(connection: Connection, keys: Sequence[Key], scope: Scope) -> dict[Key, View]:
    """Return the views of frames; keys of executions that are not there are absent."""
    dialect = connection.dialect.name
    pairs = sorted({(execution, part) for execution, frame in keys for part in lineage(frame)})
    parameters = wanted_rows(dialect, ("execution", "frame"), pairs)
    rows = connection.execute(_read_statement(dialect), parameters)
    found = _Found()
    for row in rows:
        found.take(row)
    return {key: view for key in keys if (view := found.view(key, scope)) is not None}


def read_more(connection: Connection, view: View, missing: Missing) -> More:
    """Return what a decision asks for, and the execution's version once all of it was read."""
    execution = view.execution.id
    calls = kept_calls(connection, execution) if missing.calls else None
    more: dict[str, Frame] = {}
    for frame in missing.effects:
        parameters = _range(execution, f"{frame}!")
        for row in connection.execute(EFFECTS, parameters):
            more[row[_FRAME_ID]] = read_frame(row)
    waiting = {
        prefix: connection.execute(WAITING, _range(execution, prefix)).first() is not None
        for prefix in missing.waiting
    }
    undoable = compensation.found(connection, execution, missing.compensations)
    version, found, more_forks = _read_ranges(connection, view, missing)
    return More(version, {**more, **found}, more_forks, calls, waiting, undoable)


def _range(execution: int, prefix: str) -> dict[str, object]:
    return {"at_execution": execution, "low": prefix, "high": prefix + AFTER_DIGITS}


def _read_ranges(
    connection: Connection, view: View, missing: Missing
) -> tuple[int | None, dict[str, Frame], dict[str, Fork]]:
    dialect = connection.dialect.name
    ranges = [(view.execution.id, low, high) for low, high in ranges_of(missing)]
    parameters = wanted_rows(dialect, ("execution", "low", "high"), ranges)
    rows = connection.execute(_more_statement(dialect), parameters).all()
    more: dict[str, Frame] = {}
    more_forks: dict[str, Fork] = {}
    for row in rows:
        _take(row[1:], more, more_forks)
    return rows[0][0] if rows else None, more, more_forks


def _take(values: Values, there: dict[str, Frame], forked: dict[str, Fork]) -> None:
    """Take in the columns of a frame and its fork, which may be null."""
    number = values[_FRAME_ID]
    if number is not None:
        there[number] = read_frame(values[:_FORK])
        if values[_FORK] is not None:
            forked[number] = read_fork(values[_FORK:])


def ranges_of(missing: Missing) -> list[tuple[str, str]]:
    """Return the ranges of frame ids that a decision asks for, both ends included."""
    if missing.all_frames:
        return [("", AFTER_DIGITS)]
    single = [(frame, frame) for frame in missing.frames]
    ranges = [*single, *((prefix, prefix + AFTER_DIGITS) for prefix in missing.below)]
    return ranges or [("", "")]  # the version is wanted in any case


def extended(view: View, missing: Missing, more: More) -> View:
    """Return the view with what was missing; it may be asked for once more, and is then there."""
    below = {*view.below, *missing.below}
    if missing.all_frames:
        below |= {fork.prefix for fork in [*view.forks.values(), *more.forks.values()]}
    return replace(
        view,
        frames={**view.frames, **more.frames},
        forks={**view.forks, **more.forks},
        below=frozenset(below),
        calls=more.calls if missing.calls else view.calls,
        effects=view.effects | frozenset(missing.effects),
        waiting={**view.waiting, **more.waiting},
        compensations={**view.compensations, **more.compensations},
        looked_for=view.looked_for | frozenset(missing.frames),
    )


class _Found:
    """The rows of a statement, by execution."""

    def __init__(self) -> None:
        self.executions: dict[int, Execution] = {}
        self.frames: dict[int, dict[str, Frame]] = {}
        self.forks: dict[int, dict[str, Fork]] = {}

    def take(self, row: Values) -> None:
        execution: int = row[0]
        if execution not in self.executions:
            self.executions[execution] = read_execution(row[:_FRAME])
            self.frames[execution] = {}
            self.forks[execution] = {}
        _take(row[_FRAME:], self.frames[execution], self.forks[execution])

    def view(self, key: Key, scope: Scope) -> View | None:
        number, frame = key
        execution = self.executions.get(number)
        if execution is None:
            return None
        ids = lineage(frame)
        there = self.frames[number]
        forked = self.forks[number]
        return View(
            execution=execution,
            scope=scope,
            frames={part: there[part] for part in ids if part in there},
            forks={part: forked[part] for part in ids if part in forked},
        )
