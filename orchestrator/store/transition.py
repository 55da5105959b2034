"""Decisions are committed: each as a whole or not at all, in groups, none sinking another.

Lock rule: the rows of executions first, in order of id, then anything that belongs to them.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar

from sqlalchemy import Connection, Select, select
from sqlalchemy.exc import DBAPIError

from orchestrator.asl.limits import Limits
from orchestrator.execution.decision import Decision, Stale
from orchestrator.store import statement
from orchestrator.store.batch import Batch, size
from orchestrator.store.database import Database
from orchestrator.store.errors import GroupBroken, StoreUnavailable, require
from orchestrator.store.fault import RETRYABLE_STATES, sqlstate
from orchestrator.store.moment import current_moment
from orchestrator.store.tables import executions
from orchestrator.store.values import Committed, Failed
from orchestrator.store.wanted import INTEGER, listed, one_of

Outcome: TypeAlias = "Committed | Stale | Failed"
"""What became of a decision."""

Answer = TypeVar("Answer")

MOST_TRIES: Final = 10
"""How often one decision is written again after a deadlock, a serialization failure or a wait."""
LONGEST_PAUSE_SECONDS: Final = 0.05

_MOVED_ON: Final = Stale("the execution has moved on")
_CLAIMED: Final = Stale("a frame was claimed, given back or heard of meanwhile")
_COMMITTED: Final = Committed()


@cache
def lock_statement(dialect: str) -> Select[Any]:
    """Return the statement that locks executions in order of id and reads their versions."""
    return (
        select(executions.c.id, executions.c.version, current_moment())
        .where(one_of(dialect, executions.c.id, "ids", INTEGER))
        .order_by(executions.c.id)
        .with_for_update()
    )


def commit(database: Database, decisions: Sequence[Decision], limits: Limits) -> list[Outcome]:
    """Write decisions in groups and answer for each, in their order.

    Raises StoreUnavailable if none of them was answered; otherwise those that are left have Failed
    with it.
    """
    outcomes: dict[int, Outcome] = {}
    try:
        for group in groups(decisions, limits):
            _commit_group(database, group, outcomes)
    except StoreUnavailable as error:
        if not outcomes:
            raise
        for place in range(len(decisions)):
            outcomes.setdefault(place, Failed(error))
    return [outcomes[place] for place in range(len(decisions))]


def groups(decisions: Sequence[Decision], limits: Limits) -> Iterator[list[tuple[int, Decision]]]:
    """Part decisions into groups within the limits, none with an execution twice."""
    waiting = list(enumerate(decisions))
    while waiting:
        group: list[tuple[int, Decision]] = []
        left: list[tuple[int, Decision]] = []
        taken: set[int] = set()
        written = 0
        for place, decision in waiting:
            written += size(decision)
            full = len(group) >= limits.group_transitions or written > limits.group_bytes
            if decision.execution.id in taken or (group and full):
                left.append((place, decision))
            else:
                group.append((place, decision))
            taken.add(decision.execution.id)
        yield group
        waiting = left


def _commit_group(
    database: Database, group: Sequence[tuple[int, Decision]], outcomes: dict[int, Outcome]
) -> None:
    if len(group) > 1:
        try:
            outcomes |= _write(database, group)
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001, S110  # whose fault it is shows when each stands alone
            pass
        else:
            return
    for place, decision in group:
        outcomes[place] = _commit_alone(database, decision)


def _write(database: Database, group: Sequence[tuple[int, Decision]]) -> dict[int, Outcome]:
    """Write a group in one transaction; raises GroupBroken if its rows do not add up."""
    if database.dialect == "postgresql":
        batch = Batch.of(decision for _, decision in group)
        if statement.fits(batch, len(group)):
            with database.writing_at_once() as connection:
                kept = statement.write(database, connection, batch)
            return _outcomes(group, kept)
    with database.writing() as connection:
        versions = lock(database, connection, [decision.execution.id for _, decision in group])
        current = [
            decision
            for _, decision in group
            if versions.get(decision.execution.id) == decision.seen_version
        ]
        require(Batch.of(current).write(connection))
    return _outcomes(group, {decision.execution.id for decision in current})


def _outcomes(group: Sequence[tuple[int, Decision]], kept: AbstractSet[int]) -> dict[int, Outcome]:
    return {
        place: _COMMITTED if decision.execution.id in kept else _MOVED_ON
        for place, decision in group
    }


def lock(database: Database, connection: Connection, ids: Iterable[int]) -> dict[int, int]:
    """Lock executions and return their versions; those that are not there are absent."""
    sent = database.surroundings.monotonic()
    parameters = {"ids": listed(database.dialect, sorted(ids))}
    rows = connection.execute(lock_statement(database.dialect), parameters).all()
    if rows:
        database.clock.note(rows[0][2], sent)
    return {execution: version for execution, version, _ in rows}


def _commit_alone(database: Database, decision: Decision) -> Outcome:
    try:
        return persistently(lambda: _write(database, [(0, decision)])[0])
    except StoreUnavailable:
        raise
    except GroupBroken:
        return _CLAIMED
    except Exception as error:  # noqa: BLE001  # a value that cannot be written fails alone
        return Failed(error)


def persistently(work: Callable[[], Answer]) -> Answer:
    """Do something again, a few times, if it met a deadlock or waited for too long."""
    for _ in range(MOST_TRIES - 1):
        try:
            return work()
        except DBAPIError as error:
            if sqlstate(error) not in RETRYABLE_STATES:
                raise
            time.sleep(random.uniform(0, LONGEST_PAUSE_SECONDS))  # noqa: S311  # jitter
    return work()
