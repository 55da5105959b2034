"""A scheduler calls nobody lost who may have been away together with it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from orchestrator import liveness, scheduler
from orchestrator.engine import Silence
from orchestrator.scheduler import LostWorkers, Scheduler
from orchestrator.store import Report, StoreUnavailable, WorkerKind
from tests.engine.pump import QUEUE, RESOURCE, WORKER, Pump
from tests.store.test_liveness import make_silent

ASKS = json.dumps(
    {"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": RESOURCE, "End": True}}}
)


@pytest.fixture
def pump(sqlite_url: str) -> Iterator[Pump]:
    with Pump(sqlite_url) as pump:
        pump.start(ASKS)
        yield pump


def _ready(pump: Pump) -> int:
    return sum(one.rows for one in pump.store.ready())


def test_no_lease_lapses_within_one_lease_of_a_start_or_of_trouble(pump: Pump) -> None:
    pump.store.lease_seconds = 0.3
    pump.store.claim(WORKER, [QUEUE], {RESOURCE}, limit=1, lease_seconds=0.0)
    life = pump.store.lifeline("s")
    life.beat(Report(WorkerKind.SCHEDULER))
    lost = LostWorkers(pump.store, pump.engine, Silence(), "s")
    lost.tick()
    assert _ready(pump) == 0
    time.sleep(0.35)
    lost.patience.renew()
    lost.tick()
    assert _ready(pump) == 0
    time.sleep(0.35)
    lost.tick()
    assert _ready(pump) == 1
    life.end()


def test_the_dead_keep_their_claims_until_all_others_could_be_heard_of_again(
    pump: Pump, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "BEATS_TRUSTED_SECONDS", 0.3)
    worker, life = pump.store.lifeline(WORKER), pump.store.lifeline("s")
    worker.beat(Report(WorkerKind.WORKER))
    life.beat(Report(WorkerKind.SCHEDULER))
    pump.store.claim(WORKER, [QUEUE], {RESOURCE}, limit=1)
    worker.let_go()
    engine = sa.create_engine(sqlite_url)
    make_silent(engine, WORKER)
    engine.dispose()
    lost = LostWorkers(pump.store, pump.engine, Silence(), "s")
    lost.tick()
    assert _ready(pump) == 0
    time.sleep(0.35)
    lost.tick()
    assert _ready(pump) == 1
    life.end()


def test_a_tick_that_asked_nothing_does_not_tell_that_the_database_is_back(pump: Pump) -> None:
    ticks = Scheduler(pump.store, pump.engine, Silence(), 0.1, 0.1)
    said: list[list[str]] = []
    for _ in range(2):  # the first announcement asks the database, the second has nothing to say
        with capture_logs() as logs:
            ticks._guard.failed(StoreUnavailable("away"))  # noqa: SLF001 - what no one else shows
            time.sleep(0.001)
            ticks._guard.run("announcement", ticks._announce)  # noqa: SLF001
        said.append([log["event"] for log in logs])
    away = "the database is away; trying again until it is back"
    assert said == [[away, "the database is back"], [away]]


def test_trouble_in_any_tick_or_beat_makes_a_scheduler_patient_again(pump: Pump) -> None:
    ticks = Scheduler(pump.store, pump.engine, Silence(), 0.1, 0.1)
    time.sleep(0.2)
    assert not ticks._lost.patience.lasts(0.1)  # noqa: SLF001 - what no one else shows
    with capture_logs() as logs:
        for _ in range(3):
            ticks._guard.failed(StoreUnavailable("away"))  # noqa: SLF001
    assert ticks._lost.patience.lasts(0.1)  # noqa: SLF001
    assert [log["event"] for log in logs] == ["the database is away; trying again until it is back"]


def test_a_process_that_cannot_say_that_it_lives_goes_on_and_says_it_later(
    pump: Pump, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liveness, "BEAT_SECONDS", 0.05)
    failed: list[Exception] = []
    away = [True]
    lifeline = pump.store.lifeline

    def unreliable(name: str) -> object:
        if away[0]:
            raise StoreUnavailable("away")
        return lifeline(name)

    monkeypatch.setattr(pump.store, "lifeline", unreliable)
    pulse = liveness.Pulse(pump.store, "w", lambda: Report(WorkerKind.WORKER), failed.append)
    pulse.start()
    until = time.monotonic() + 5
    while len(failed) < 2:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert pump.store.records.workers() == []
    away[0] = False
    while not pump.store.records.workers():
        assert time.monotonic() < until
        time.sleep(0.01)
    pulse.stop()
    assert pump.store.records.workers() == []


def test_a_scheduler_that_starts_while_the_database_is_away_announces_itself_later(
    pump: Pump, monkeypatch: pytest.MonkeyPatch
) -> None:
    announced: list[int] = []
    ticks = Scheduler(pump.store, pump.engine, Silence(), 0.1, 0.05)

    def announce() -> None:
        announced.append(1)
        if len(announced) < 3:
            raise StoreUnavailable("away")

    monkeypatch.setattr(ticks._starts, "announce", announce)  # noqa: SLF001 - the one that fails
    ticks.start()
    until = time.monotonic() + 10
    while len(announced) < 3:
        assert time.monotonic() < until
        time.sleep(0.02)
    time.sleep(0.2)
    ticks.stop()
    assert len(announced) == 3
