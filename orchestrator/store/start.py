"""Executions are started: each machine and name once, whoever else tries at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Final

from sqlalchemy import Connection, and_, bindparam, outerjoin, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.dml import Insert

from orchestrator.asl.limits import Limits
from orchestrator.execution.decision import Decision
from orchestrator.execution.frame import ExecutionStatus, Parent
from orchestrator.execution.payload import Payload
from orchestrator.store import statement
from orchestrator.store.batch import Batch
from orchestrator.store.database import Database
from orchestrator.store.errors import GroupBroken, IdTaken, require
from orchestrator.store.rows import execution_row
from orchestrator.store.tables import documents, executions
from orchestrator.store.transition import groups, persistently
from orchestrator.store.values import Started

_INSERT: Final[dict[str, Insert]] = {
    "postgresql": postgresql.insert(executions)
    .on_conflict_do_nothing()
    .execution_options(preserve_rowcount=True),
    "sqlite": sqlite.insert(executions)
    .on_conflict_do_nothing()
    .execution_options(preserve_rowcount=True),
}

_EXISTING: Final = (
    select(
        executions.c.id,
        executions.c.status,
        executions.c.started_at,
        executions.c.parent,
        documents.c.text,
    )
    .select_from(
        outerjoin(
            executions,
            documents,
            and_(documents.c.execution == executions.c.id, documents.c.what == "input"),
        )
    )
    .where(
        executions.c.machine == bindparam("at_machine"), executions.c.name == bindparam("at_name")
    )
)


def start(database: Database, decisions: Sequence[Decision], limits: Limits) -> list[Started]:
    """Write new executions, in order of machine and name, and answer in the order given.

    Raises IdTaken if an execution of another name has one of the ids, and what the database says
    of a start that it refuses; starting all of them again is safe.
    """
    answers: dict[int, Started] = {}
    ordered = sorted(range(len(decisions)), key=lambda place: _name(decisions[place]))
    for group in groups([decisions[place] for place in ordered], limits):
        created = _start_group(database, [decision for _, decision in group])
        for place, decision in group:
            answers[ordered[place]] = (
                _created(decision)
                if decision.execution.id in created
                else persistently(partial(_start_alone, database, decision))
            )
    return [answers[place] for place in range(len(decisions))]


def _name(decision: Decision) -> tuple[str, str]:
    return decision.execution.machine, decision.execution.name


def _start_group(database: Database, group: Sequence[Decision]) -> AbstractSet[int]:
    """Write a group in one transaction; which of them are written now."""
    try:
        batch = Batch.of(group)
        if database.dialect == "postgresql" and statement.fits(batch, 0):
            with database.writing_at_once() as connection:
                begun = [execution_row(decision.execution) for decision in group]
                return statement.write(database, connection, batch, begun)
        with database.writing() as connection:
            require(_insert(database, connection, group))
    except (GroupBroken, DBAPIError, TypeError):  # one exists already, or cannot be written
        return frozenset()
    return {decision.execution.id for decision in group}


def _insert(database: Database, connection: Connection, group: Sequence[Decision]) -> bool:
    rows = [execution_row(decision.execution) for decision in group]
    if connection.execute(_INSERT[database.dialect], rows).rowcount != len(group):
        return False
    return Batch.of(group).write(connection)


def _created(decision: Decision) -> Started:
    execution = decision.execution
    return Started(
        execution.id,
        created=True,
        same_input=True,
        status=execution.status,
        started_at=execution.started_at,
        parent=execution.parent,
    )


def _start_alone(database: Database, decision: Decision) -> Started:
    with database.writing() as connection:
        if _insert(database, connection, [decision]):
            return _created(decision)
        machine, name = _name(decision)
        found = connection.execute(_EXISTING, {"at_machine": machine, "at_name": name}).first()
        if found is None:
            raise IdTaken(decision.execution.id)
        execution, status, started_at, parent, text = found
        return Started(
            execution,
            created=False,
            same_input=_same(text, decision.input),
            status=ExecutionStatus(status),
            started_at=started_at,
            parent=None if parent is None else Parent.parse(parent),
        )


def _same(text: str | None, payload: Payload | None) -> bool:
    if text is None or payload is None:
        return text is None and payload is None
    return text == payload.text or Payload.parse(text) == payload
