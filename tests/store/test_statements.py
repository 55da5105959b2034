"""Statements are few, their texts constant, and none of them reads a whole table."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import psycopg
from sqlalchemy.engine import make_url

from orchestrator.execution.decision import Missing
from orchestrator.execution.frame import ExecutionStatus, Fork, RestsOn
from orchestrator.store import Announcement, Committed, Sought, Store, WorkerKind
from tests.store import samples
from tests.store.statements import recording


def test_a_task_costs_six_statements_and_two_transactions(store: Store) -> None:
    samples.started(store)
    with recording() as recorded:
        (claim,) = samples.claimed(store)
        claimed = len(recorded.statements)
        view = samples.view_of(store, claim.execution)
        assert len(recorded.statements) == claimed + 1
        assert store.commit([samples.moving(view)]) == [Committed()]
    assert len(recorded.statements) <= 6
    assert recorded.commits <= 2


def test_a_group_costs_as_many_statements_as_one(store: Store) -> None:
    counts = []
    store.check()
    for size in (1, 7, 50):
        begun = [samples.beginning() for _ in range(size)]
        with recording() as recorded:
            store.start(begun)
            views = store.read([(one.execution.id, "") for one in begun])
            claims = samples.claimed(store, limit=size)
            assert len(claims) == size
            store.renew("w1", claims)
            views = store.read([(one.execution.id, "") for one in begun])
            outcomes = store.commit([samples.moving(view) for view in views.values()])
        assert outcomes == [Committed()] * size
        counts.append(len(recorded.statements))
    assert len(set(counts)) == 1


def test_a_start_costs_one_statement_where_one_can_write_several_tables(
    database_url: str,
) -> None:
    store = Store(database_url)
    store.check()
    with recording() as recorded:
        store.start([samples.beginning() for _ in range(9)])
    assert len(recorded.statements) == (4 if database_url.startswith("sqlite") else 1)
    assert recorded.commits == 1
    store.dispose()


def test_a_transition_costs_one_statement_there_too_and_so_does_an_end(database_url: str) -> None:
    store = Store(database_url)
    for decide, on_sqlite in ((samples.moving, 4), (samples.ending, 7)):
        views = [samples.started(store) for _ in range(9)]
        with recording() as recorded:
            assert store.commit([decide(view) for view in views]) == [Committed()] * 9
        assert len(recorded.statements) == (on_sqlite if database_url.startswith("sqlite") else 1)
        assert recorded.commits == 1
    store.dispose()


def test_the_text_of_a_statement_depends_on_nothing_that_is_written(store: Store) -> None:
    texts = []
    store.check()
    for size in (3, 11):
        begun = [samples.beginning() for _ in range(size)]
        with recording() as recorded:
            store.start(begun)
            views = store.read([(one.execution.id, "") for one in begun])
            view = next(iter(views.values()))
            store.read_more(view, Missing(below=tuple(f"/{n}." for n in range(size))))
            samples.claimed(store, limit=size)
            views = store.read([(one.execution.id, "") for one in begun])
            store.commit([samples.moving(view) for view in views.values()])
        texts.append(recorded.texts)
    assert texts[0] == texts[1]


@dataclass
class _Operation:
    """Something that the store is asked often."""

    name: str
    work: Callable[[], object]


def _operations(store: Store, number: int, child: str) -> Iterator[_Operation]:
    key = (number, child)
    yield _Operation("read", lambda: store.read([key, (11, ""), (12, "/5.1")]))
    view = store.read([key])[key]
    missing = Missing(frames=("/5.1",), below=("/5.", "/6."))
    yield _Operation("read more", lambda: store.read_more(view, missing))
    yield _Operation("claim", lambda: samples.claimed(store, limit=16))
    claims = samples.claimed(store, limit=16)
    yield _Operation("renew", lambda: store.renew("w1", claims))
    yield _Operation("heartbeat", lambda: store.heartbeat(claims[0]))
    yield _Operation("release", lambda: store.release("w1", claims[1:]))
    yield _Operation("lapse", lambda: store.lapse(100))
    yield _Operation("due", lambda: store.due(100))
    yield _Operation("next moment", store.next_moment)
    yield _Operation("ready", store.ready)
    yield _Operation("assign queues", store.assign_queues)
    yield _Operation("unserved", store.unserved)
    served = [samples.QUEUE], [samples.RESOURCE]
    yield _Operation("waits alone", lambda: store.waits_alone(*served))
    yield _Operation("waits long", lambda: store.waits_long(*served, 30.0))
    yield _Operation("bury", store.bury)
    yield _Operation("living", lambda: store.living(WorkerKind.SCHEDULER))
    yield _Operation("undecided", lambda: store.undecided(number))
    yield _Operation("settle", lambda: store.settle(number))
    records = store.records
    yield _Operation("left to operators", lambda: records.left_to_operators(10))
    yield _Operation("waiting", records.waiting)
    yield _Operation("check up", lambda: records.check_up(77))
    yield _Operation("check-ups", lambda: records.check_ups(ExecutionStatus.RUNNING, 50, 10))
    yield _Operation("commit", lambda: _move(store, key))
    yield _Operation("locked", lambda: _move_locked(store, key))
    yield _Operation("find", lambda: store.find(samples.MACHINE, "n77"))
    yield _Operation("execution", lambda: store.execution(77))
    yield _Operation("input", lambda: store.read_input(77))
    yield _Operation("frames", lambda: store.frames(77))
    yield _Operation("history", lambda: store.history(77, 1, 10))
    yield _Operation("history, newest first", lambda: store.history(77, 0, 10, reverse=True))
    for machine in (None, samples.MACHINE):
        for status in (None, *ExecutionStatus):
            yield _Operation(
                f"list {machine} {status}",
                lambda m=machine, s=status: store.list_executions(m, s, 50),  # type: ignore[misc]
            )
    yield from _lists(store)
    yield _Operation("end", lambda: _end(store, key))


def _lists(store: Store) -> Iterator[_Operation]:
    lists, machine, running = store.lists, samples.MACHINE, ExecutionStatus.RUNNING
    for sought in (
        Sought(),
        Sought(machine=machine),
        Sought(status=running),
        Sought(machine=machine, status=running, first=40, last=99_000),
        Sought(machine=machine, status=ExecutionStatus.FAILED),
        Sought(state="A"),
        Sought(machine=machine, status=running, state="nowhere", before=90_000),
        Sought(after=77),
    ):
        yield _Operation(f"{sought}", lambda s=sought: lists.executions(s, 50))  # type: ignore[misc]
    yield _Operation("named", lambda: lists.named([machine], "n77", 50))
    yield _Operation("versions", lambda: lists.versions([77, 78]))
    yield _Operation("newest calls", lambda: lists.newest_calls(77, 50))
    yield _Operation("tallies", lambda: lists.forks(77, 50))
    yield _Operation("children", lambda: lists.children(77, Fork("", 5, 1, 1), 50))
    yield _Operation("before", lambda: lists.before(samples.QUEUE, store.now(), 50))
    yield _Operation("ageing", lambda: lists.ageing(50))
    yield _Operation("claimed", lambda: lists.claimed(50))
    yield _Operation("running", lambda: lists.running(machine, 50))


def _move(store: Store, key: tuple[int, str]) -> None:
    view = store.read([key])[key]
    fork = replace(view.forks[""], succeeded=1)
    child = replace(view.frames[key[1]], task=samples.task())
    assert store.commit(
        [samples.moving(view, child, forks_updated=(fork,), removed=("/6.",), forks_removed=())]
    ) == [Committed()]


def _move_locked(store: Store, key: tuple[int, str]) -> None:
    with store.locked(key[0], [key[1]]) as locked:
        view = locked.read(key[1])
        assert view is not None
        view = locked.read_more(view, Missing(below=("/5.",)))
        assert view is not None
        assert locked.write(samples.moving(view, replace(view.frames[key[1]], task=samples.task())))


def _end(store: Store, key: tuple[int, str]) -> None:
    assert store.commit([samples.ending(store.read([key])[key])]) == [Committed()]


def _fill(store: Store, execute: Callable[[str], object], numbers: str) -> tuple[int, str]:
    """Make as many executions as the tables are to have rows, of one that is like them."""
    root = samples.frame(rests_on=RestsOn.CHILDREN, task=None, fork=5)
    moment = store.now() + timedelta(days=1)
    child = samples.frame("/5.0", wake_at=moment, timeout_at=moment)
    begun = samples.beginning(None, root, child, deadline_at=moment)
    begun = replace(begun, forks_inserted=(Fork("", 5, 1, 1),))
    store.start([begun])
    store.announce("w", {samples.RESOURCE: Announcement(samples.QUEUE)})
    for table, columns, condition in (
        ("executions", "id, name", ""),
        ("documents", "execution", ""),
        ("frames", "execution", ""),
        ("forks", "execution", ""),
        ("history", "execution", ""),
    ):
        names = _columns(execute, table)
        values = {"id": "g", "name": "'n' || g"} if table == "executions" else {"execution": "g"}
        picked = ", ".join(values.get(name, name) for name in names)
        assert set(columns.split(", ")) == set(values)
        execute(
            f"INSERT INTO {table} ({', '.join(names)}) SELECT {picked} "  # noqa: S608
            f"FROM (SELECT * FROM {table}) t, {numbers} {condition}"
        )
    execute(
        "INSERT INTO calls (execution, call_id, number, arrived_at, call, digest, verdict, input) "
        "SELECT id, 'k', 1, started_at, 'go', 'd', 'accepted', '{}' FROM executions"
    )
    # One in ten is claimed, one in ten waits for a worker, and all are not ready at once.
    execute(
        "UPDATE frames SET claimed_by = 'w' || (execution % 7), lease_until = timeout_at, "
        "deliveries = 1 WHERE execution % 10 = 3 AND rests_on = 'task'"
    )
    execute("UPDATE frames SET queue = NULL WHERE execution % 10 = 4 AND rests_on = 'task'")
    return begun.execution.id, "/5.0"


def _columns(execute: Callable[[str], Any], table: str) -> list[str]:
    return [column[0] for column in execute(f"SELECT * FROM {table} LIMIT 0").description]  # noqa: S608


_SMALL = re.compile(" on (resources|revisions|workers|undecided|pg_database)")
"""Tables with a row per resource, revision, process, fault of ours or database."""


def test_no_statement_reads_a_whole_table_of_postgres(postgres_url: str) -> None:
    store = Store(postgres_url)
    host, name = make_url(postgres_url).query["host"], make_url(postgres_url).database
    assert isinstance(host, str)
    with psycopg.connect(host=host, dbname=name, user="postgres", autocommit=True) as connection:
        key = _fill(store, connection.execute, "generate_series(1, 100000) AS g")
        connection.execute("ANALYZE")  # and now by the planner's own choice, unlike the store
        for operation in _operations(store, *key):
            with recording() as recorded:
                operation.work()
            for text, values in recorded.statements:
                if text.startswith(("INSERT", "SELECT resources", "SELECT pg_catalog")):
                    continue
                one = values[0] if isinstance(values, list) else values
                plan = connection.execute(f"EXPLAIN {text}", one).fetchall()
                scans = [line for (line,) in plan if "Seq Scan" in line and not _SMALL.search(line)]
                assert not scans, (operation.name, text, plan)
    store.dispose()


def test_no_statement_reads_a_whole_table_of_sqlite(sqlite_url: str) -> None:
    store = Store(sqlite_url)
    connection = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    connection.create_function("current_moment", 0, lambda: 0)
    numbers = (
        "(WITH RECURSIVE c(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM c WHERE g < 100000) "
        "SELECT g FROM c)"
    )
    key = _fill(store, connection.execute, numbers)
    for operation in _operations(store, *key):
        with recording() as recorded:
            operation.work()
        for text, values in recorded.statements:
            one = values[0] if isinstance(values, list) else values
            for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {text}", one):
                scanned = step.startswith("SCAN") and "USING" not in step
                whole = {"executions", "frames", "forks", "history", "documents"}
                assert not (scanned and step.split()[1] in whole), (operation.name, text, step)
    connection.close()
    store.dispose()
