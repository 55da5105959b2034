"""Who is dead is noticed by a beat that is old and a lock that is free, and by nothing else."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text

from orchestrator.execution.events import TaskLost
from orchestrator.store import Report, Store, StoreUnavailable, WorkerKind
from orchestrator.store.lifeline import lock_key
from tests.store import samples
from tests.store.processes import JOIN_SECONDS, at_once, in_background
from tests.store.samples import QUEUE, RESOURCE, claimed
from tests.store.statements import recording

WORKER = Report(WorkerKind.WORKER, slots=2, serves={RESOURCE: QUEUE})
SCHEDULER = Report(WorkerKind.SCHEDULER)


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    made = create_engine(database_url)
    yield made
    made.dispose()


def shift_beats(engine: Engine, seconds: int, worker: str = "%") -> None:
    """Make last beats look later, or earlier."""
    later = f"beat_at + {seconds} * interval '1 second'"
    if engine.name == "sqlite":
        later = f"beat_at + {seconds} * 1000000"
    with engine.begin() as connection:
        connection.execute(
            text(f"UPDATE workers SET beat_at = {later} WHERE id LIKE :id"),  # noqa: S608
            {"id": worker},
        )


def make_silent(engine: Engine, worker: str) -> None:
    """Make the last beat of a process look old."""
    shift_beats(engine, -10, worker)


@pytest.fixture
def silence(engine: Engine) -> Callable[[str], None]:
    """Makes the last beat of a process look old."""
    return partial(make_silent, engine)


Silence = Callable[[str], None]


def test_a_process_says_that_it_lives_by_one_statement(store: Store) -> None:
    life = store.lifeline("w1")
    life.beat(WORKER)
    with recording() as recorded:
        life.beat(WORKER)
    assert len(recorded.statements) == 1
    (row,) = store.records.workers()
    assert (row.id, row.kind, row.slots, row.serves) == (
        "w1",
        WorkerKind.WORKER,
        2,
        {RESOURCE: QUEUE},
    )
    assert row.lives
    assert row.locked
    assert store.living(WorkerKind.WORKER) == ["w1"]
    assert store.living(WorkerKind.SCHEDULER) == []
    life.end()
    assert store.records.workers() == []


def test_who_is_silent_but_holds_its_lock_is_not_dead(
    store: Store, other: Store, silence: Silence
) -> None:
    life = store.lifeline("w1")
    life.beat(WORKER)
    silence("w1")
    assert other.bury() == []
    assert not store.records.workers()[0].lives
    life.end()


def test_who_has_let_its_lock_go_is_not_dead_before_it_is_silent(
    store: Store, other: Store, silence: Silence
) -> None:
    life = store.lifeline("w1")
    life.beat(WORKER)
    life.let_go()
    assert other.bury() == []
    silence("w1")
    assert other.bury() == ["w1"]
    assert other.bury() == []


def test_the_claims_of_the_dead_lapse_at_once(store: Store, other: Store, silence: Silence) -> None:
    for _ in range(2):
        samples.started(store)
    life = store.lifeline("w1")
    life.beat(WORKER)
    claimed(store, "w1")
    (at_most_once,) = claimed(store, "w1", at_most_once={RESOURCE})
    life.let_go()
    silence("w1")
    assert other.lapse(10).given_back == {}
    assert other.bury() == ["w1"]
    lapses = other.lapse(10, leases=False)
    assert lapses.given_back == {QUEUE: 1}
    assert lapses.lost == (TaskLost(at_most_once.execution, "", at_most_once.token, 1),)
    (again,) = claimed(other, "w2")
    assert again.delivery == 2


def test_who_was_only_cut_off_lives_again_with_its_next_beat(
    store: Store, silence: Silence
) -> None:
    samples.started(store)
    life = store.lifeline("w1")
    life.beat(WORKER)
    life.let_go()
    silence("w1")
    assert store.bury() == ["w1"]
    life.beat(WORKER)
    assert store.records.workers()[0].lives
    claimed(store, "w1")
    assert store.lapse(10).given_back == {}
    life.end()


def test_leases_do_not_lapse_when_only_the_dead_are_asked_for(store: Store) -> None:
    samples.started(store)
    claimed(store, lease_seconds=0.0)
    assert store.lapse(10, leases=False).given_back == {}
    assert store.lapse(10).given_back == {QUEUE: 1}


def test_who_was_not_heard_of_itself_calls_nobody_lost(
    store: Store, other: Store, silence: Silence
) -> None:
    samples.started(store)
    claimed(store, "w2", lease_seconds=0.0)
    life, scheduler = store.lifeline("w1"), other.lifeline("s1")
    life.beat(WORKER)
    scheduler.beat(SCHEDULER)
    life.let_go()
    silence("w1")
    silence("s1")
    assert other.bury("s1") == []
    assert other.lapse(10, by="s1").given_back == {}
    scheduler.beat(SCHEDULER)
    assert other.bury("s1") == ["w1"]
    assert other.lapse(10, by="s1").given_back == {QUEUE: 1}
    scheduler.end()


def test_the_rows_of_those_long_dead_go_and_leave_nothing_behind(
    store: Store, silence: Silence, tmp_path: Any
) -> None:
    for name in ("w1", "w2"):
        life = store.lifeline(name)
        life.beat(WORKER)
        life.let_go()
    silence("w1")
    assert store.forget_workers() == []
    assert store.forget_workers(5.0) == ["w1"]
    assert [row.id for row in store.records.workers()] == ["w2"]
    assert not [path for path in tmp_path.iterdir() if "alive" in path.name]


def test_a_claim_that_has_handed_in_its_result_lapses_for_nobody(
    store: Store, engine: Engine, silence: Silence
) -> None:
    samples.started(store)
    life = store.lifeline("w1")
    life.beat(WORKER)
    (claim,) = claimed(store, "w1")
    with engine.begin() as connection:
        connection.execute(text("UPDATE frames SET lease_until = NULL"))
    assert store.renew("w1", [claim]) == []
    life.let_go()
    silence("w1")
    assert store.bury() == ["w1"]
    lapses = store.lapse(10)
    assert (lapses.given_back, lapses.lost) == ({}, ())


def _live(url: str, meet: Any) -> None:
    store = Store(url)
    life = store.lifeline("w1")
    life.beat(WORKER)
    claimed(store, "w1")
    meet.wait()
    while True:
        life.beat(WORKER)
        time.sleep(0.2)


def test_a_killed_process_is_dead_within_three_seconds_and_a_stopped_one_lives(
    database_url: str,
) -> None:
    store = Store(database_url)
    samples.started(store)
    meet = at_once(2)
    process = in_background(_live, (database_url, meet))
    meet.wait()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(2.5)
    assert store.bury() == []
    os.kill(process.pid, signal.SIGKILL)
    killed = time.monotonic()
    while store.bury() != ["w1"]:
        assert time.monotonic() - killed < 3.0
        time.sleep(0.05)
    assert store.lapse(10, leases=False).given_back == {QUEUE: 1}
    process.join(JOIN_SECONDS)
    store.dispose()


def test_a_forked_child_neither_holds_nor_breaks_the_lock_of_its_parent(
    store: Store, other: Store, silence: Silence
) -> None:
    life = store.lifeline("w1")
    life.beat(WORKER)
    ready, leave = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.write(ready[1], b".")
        os.read(leave[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    silence("w1")
    assert other.bury() == []
    os.write(leave[1], b".")
    os.waitpid(child, 0)
    life.beat(WORKER)
    silence("w1")
    assert other.bury() == []
    life.end()


def test_a_session_that_is_cut_takes_its_lock_again(postgres_url: str) -> None:
    store = Store(postgres_url)
    life = store.lifeline("w1")
    life.beat(WORKER)
    engine = create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    cut = text("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    with engine.connect() as connection:
        connection.execute(cut)
        with pytest.raises(StoreUnavailable):
            life.beat(WORKER)
        life.beat(WORKER)
        if not store.records.workers()[0].locked:  # the old session was still there
            life.beat(WORKER)
        assert store.records.workers()[0].locked
    life.end()
    engine.dispose()
    store.dispose()


def test_a_lock_that_another_session_holds_says_nothing(postgres_url: str) -> None:
    """As behind a pooler that hands sessions on: then the lease alone counts."""
    store = Store(postgres_url)
    engine = create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as another:
        key = {"key": lock_key("w1")}
        another.execute(text("SELECT pg_advisory_lock(:key)"), key)
        life = store.lifeline("w1")
        life.beat(WORKER)
        assert not store.records.workers()[0].locked
        another.execute(text("SELECT pg_advisory_unlock(:key)"), key)
        make_silent(engine, "w1")
        assert store.bury() == []
        life.beat(WORKER)
        assert store.records.workers()[0].locked
    life.end()
    engine.dispose()
    store.dispose()
