"""What only SQLite needs: one writer at a time, four processes at most, and a disk."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, column, select, table, text, update

from orchestrator.store import (
    Committed,
    Connecting,
    Store,
    StoreUnavailable,
    TooManyWriters,
    UnsupportedDatabase,
    sqlite,
)
from orchestrator.store.database import Database
from tests.store import samples
from tests.store.processes import at_once, in_processes

_counter = table("counter", column("n"))


def test_the_log_is_written_ahead_and_every_commit_waits_for_the_disk(sqlite_url: str) -> None:
    ours = Database(sqlite_url, Connecting(), "")
    for open_one in (ours.reading, ours.writing):
        with open_one() as connection:
            assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
            assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
            assert connection.execute(text("PRAGMA busy_timeout")).scalar() == 10_000
    ours.dispose()


def _no_transaction(_connection: Connection) -> None:
    """Leave it to the driver to open transactions, as the mutant."""


def _count(url: str, meet: Any, immediate: bool) -> int:
    if not immediate:
        setattr(sqlite, sqlite.begin_immediate.__name__, _no_transaction)
    ours = Database(url, Connecting(), "")
    meet.wait()
    for _ in range(25):
        with ours.writing() as connection:
            number = connection.execute(select(_counter.c.n)).scalar_one()
            time.sleep(0.001)
            connection.execute(update(_counter).values(n=number + 1))
    ours.dispose()
    return 25


@pytest.mark.parametrize("immediate", [True, False])
def test_a_write_begins_as_the_only_one_and_without_that_updates_are_lost(
    sqlite_url: str, immediate: bool
) -> None:
    ours = Database(sqlite_url, Connecting(), "")
    with ours.writing() as connection:
        connection.execute(text("CREATE TABLE counter (n integer)"))
        connection.execute(text("INSERT INTO counter VALUES (0)"))
    ours.dispose()
    meet = at_once(4)
    assert sum(in_processes(_count, [(sqlite_url, meet, immediate)] * 4)) == 100
    with ours.reading() as connection:
        counted = connection.execute(select(_counter.c.n)).scalar_one()
    ours.dispose()
    assert (counted == 100) is immediate


def _write(url: str, written: Any, leave: Any) -> str:
    store = Store(url)
    try:
        samples.started(store)
    except TooManyWriters as refused:
        return str(refused)
    finally:
        written.wait()
        leave.wait()
        store.dispose()
    return ""


def test_a_fifth_writing_process_refuses_and_says_so(sqlite_url: str) -> None:
    written, leave = at_once(5), at_once(5)
    said = in_processes(_write, [(sqlite_url, written, leave)] * 5)
    (refusal,) = [each for each in said if each]
    assert "4 processes write to" in refusal
    assert "PostgreSQL" in refusal
    store = Store(sqlite_url)
    assert len(store.list_executions()) == 4
    samples.started(store)  # the slots are free again
    store.dispose()


def test_reading_needs_no_slot_and_stores_of_one_process_share_theirs(sqlite_url: str) -> None:
    stores = [Store(sqlite_url) for _ in range(6)]
    for store in stores:
        assert store.list_executions() == []
    assert not list(Path(sqlite_url.removeprefix("sqlite:///")).parent.glob("*.writer-*"))
    for store in stores:
        samples.started(store)
    assert len(list(Path(sqlite_url.removeprefix("sqlite:///")).parent.glob("*.writer-*"))) == 1
    for store in stores:
        store.dispose()


def test_threads_write_one_after_the_other(sqlite_url: str) -> None:
    store = Store(sqlite_url)
    view = samples.started(store)
    outcomes: list[object] = []

    def commit_again() -> None:
        for _ in range(10):
            seen = samples.view_of(store, view.execution.id)
            outcomes.extend(store.commit([samples.moving(seen)]))

    threads = [threading.Thread(target=commit_again) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    committed = outcomes.count(Committed())
    assert len(outcomes) == 80
    assert samples.view_of(store, view.execution.id).execution.version == 1 + committed
    store.dispose()


def test_a_database_that_somebody_keeps_locked_is_unavailable(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.1)
    store = Store(sqlite_url)
    view = samples.started(store)
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked") as raised:
        store.commit([samples.moving(view)])
    assert not raised.value.unknown
    other.execute("ROLLBACK")
    other.close()
    assert store.commit([samples.moving(view)]) == [Committed()]
    store.dispose()


def test_a_thread_that_writes_for_long_makes_the_others_say_so(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.1)
    store, other = Store(sqlite_url), Store(sqlite_url)
    view = samples.started(store)
    with (
        store.locked(view.execution.id),
        pytest.raises(StoreUnavailable, match="another thread"),
    ):
        other.commit([samples.moving(view)])
    store.dispose()
    other.dispose()


def test_reading_goes_on_while_somebody_writes(sqlite_url: str) -> None:
    store = Store(sqlite_url)
    view = samples.started(store)
    with store.locked(view.execution.id) as locked:
        seen = locked.read("")
        assert seen is not None
        assert locked.write(samples.moving(seen))
        assert samples.view_of(store, view.execution.id).execution.version == 1
    assert samples.view_of(store, view.execution.id).execution.version == 2
    store.dispose()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://x/y", "nonsense://"])
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(UnsupportedDatabase):
        Store(url)
