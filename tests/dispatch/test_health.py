"""Handlers that hang are counted and given up; a worker that is idle for no reason says so."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from orchestrator.dispatch import watch
from orchestrator.dispatch.local import QUEUE
from orchestrator.dispatch.serving import Served, Serving
from orchestrator.dispatch.watch import Watch
from orchestrator.engine import Silence
from orchestrator.execution.payload import Payload
from orchestrator.handlers import Returned, TaskContext
from orchestrator.outage import Outage
from orchestrator.store import Announcement, Store
from tests.dispatch.test_local_worker import House
from tests.store import samples
from tests.workers.deployment import until


@pytest.fixture
def house(database_url: str) -> Iterator[House]:
    opened = House(database_url, lease_seconds=0.6, hung_seconds=0.2)
    yield opened
    opened.close()


def test_half_of_the_slots_hanging_ends_a_worker_and_what_hangs_is_counted(house: House) -> None:
    release = threading.Event()
    ended: list[bool] = []

    def hang(task: TaskContext) -> None:
        release.wait(20)
        ended.append(task.cancelled)

    machine = house.serve(hang)
    house.deploy(f"{machine}-limited", machine, TimeoutSeconds=1)
    house.scheduler.start()
    house.worker.start()
    addresses = [house.start(f"{machine}-limited") for _ in range(2)]
    for address in addresses:
        assert house.ended(address).error == "States.Timeout"

    def given_up() -> int:
        return sum(row.given_up for row in house.parts.store.records.workers())

    until(lambda: given_up() == 2, 10, "two slots to be given up")
    late = house.start(house.serve(dict))
    time.sleep(0.5)
    assert house.parts.service.describe_execution(late).execution.ended_at is None
    release.set()
    until(lambda: ended == [True, True], 10)
    house.scheduler.stop()


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = Store(database_url)
    yield made
    made.dispose()


def _serving() -> Serving:
    served = Served(
        samples.RESOURCE.partition(":")[2], QUEUE, False, lambda *_: Returned(Payload.of(None))
    )
    return Serving([served])


def test_an_idle_worker_whose_tasks_wait_for_long_says_so_once_and_recovers(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "IDLE_SECONDS", 0.0)
    store.announce("w", {samples.RESOURCE: Announcement(QUEUE)})
    free = 2
    look_out = Watch(store, "w", Silence(), _serving, lambda: free, Outage(), lambda: 2)
    wells: list[bool] = []

    def look() -> None:
        look_out.look()
        wells.append(look_out.unhealthy is None)

    ready = store.now() - timedelta(seconds=40)
    with capture_logs() as logs:
        look()
        samples.started(store, samples.frame(task=samples.task(queue=QUEUE, ready_at=ready)))
        free = 1  # it works
        look()
        free = 2
        look()
        look()
        store.claim("w", [QUEUE], [samples.RESOURCE], limit=1)
        look()
    assert wells == [True, True, False, False, True]
    said = [log["event"] for log in logs if "worker" in log["event"]]
    assert said == ["this worker is unhealthy", "this worker is well again"]


def test_tasks_of_others_in_the_same_queue_make_nobody_ill(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "IDLE_SECONDS", 0.0)
    store.announce("w", {samples.RESOURCE: Announcement(QUEUE)})
    ready = store.now() - timedelta(seconds=40)
    task = samples.task(queue=QUEUE, ready_at=ready, resource="celery:another")
    samples.started(store, samples.frame(task=task))
    look_out = Watch(store, "w", Silence(), _serving, lambda: 2, Outage(), lambda: 2)
    look_out.look()
    assert look_out.unhealthy is None
