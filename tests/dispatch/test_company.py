"""A task that was lost twice runs alone, wherever it runs; others wait, and are woken after it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping

import pytest
import sqlalchemy as sa

from orchestrator.dispatch import company
from orchestrator.dispatch.company import ANY, LONELY, OTHERS, Company
from orchestrator.store import LONELY_FROM, Claim, Store
from tests.dispatch.test_local_worker import House
from tests.store import samples
from tests.store.samples import claimed


class Rung:
    """What a company has rung for."""

    def __init__(self) -> None:
        self.queues: list[dict[str, int]] = []

    def ring(self, queues: Mapping[str, int]) -> None:
        self.queues.append(dict(queues))


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = Store(database_url)
    yield made
    made.dispose()


@pytest.fixture
def rung() -> Rung:
    return Rung()


@pytest.fixture
def crew(rung: Rung) -> Company:
    return Company(rung.ring)


def _claim(store: Store, lost: int) -> Claim:
    task = samples.task(deliveries=lost)
    samples.started(store, samples.frame(task=task))
    (claim,) = claimed(store)
    return claim


def _no() -> bool:
    return False


def test_what_was_lost_twice_is_claimed_only_where_nothing_runs(store: Store) -> None:
    for lost in range(LONELY_FROM + 1):
        task = samples.task(deliveries=lost)
        samples.started(store, samples.frame(task=task))
    beside = claimed(store, limit=10, lost_to=OTHERS.lost_to)
    assert {claim.delivery for claim in beside} == {1, 2}
    assert store.waits_alone([samples.QUEUE], [samples.RESOURCE])
    (alone,) = claimed(store, limit=10, lost_from=LONELY.lost_from)
    assert company.is_lonely(alone)
    assert not any(company.is_lonely(claim) for claim in beside)
    assert not store.waits_alone([samples.QUEUE], [samples.RESOURCE])


def test_a_process_in_which_nothing_runs_takes_anything_for_one_slot(crew: Company) -> None:
    assert crew.welcome(1, _no) is ANY
    assert crew.welcome(2, _no) is OTHERS


def test_nobody_claims_beside_what_runs_alone_and_all_are_woken_after_it(
    store: Store, crew: Company, rung: Rung
) -> None:
    fragile = _claim(store, LONELY_FROM)
    crew.took(fragile)
    assert crew.welcome(1, _no) is None
    crew.refuse("a")
    crew.refuse("a")
    crew.refuse("b")
    assert rung.queues == []
    crew.left(fragile)
    assert rung.queues == [{"a": 2, "b": 1}]
    assert crew.welcome(1, _no) is ANY


def test_a_busy_process_lets_what_runs_end_when_something_must_run_alone(
    store: Store, crew: Company, rung: Rung, monkeypatch: pytest.MonkeyPatch
) -> None:
    sturdy = _claim(store, 0)
    crew.took(sturdy)
    assert crew.welcome(1, lambda: True) is OTHERS  # it has asked just now
    monkeypatch.setattr(company, "ASK_SECONDS", 0.0)
    assert crew.welcome(1, lambda: True) is None
    assert crew.closing
    crew.refuse("a")
    crew.left(sturdy)
    assert rung.queues == [{"a": 1}]
    assert crew.welcome(1, _no) is LONELY
    crew.open()
    assert crew.welcome(1, _no) is ANY


def test_a_task_that_was_lost_twice_waits_for_its_neighbours_and_they_for_it(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(company, "ASK_SECONDS", 0.0)
    spans: dict[str, list[tuple[float, float]]] = {"sturdy": [], "fragile": []}
    lock = threading.Lock()

    def spent(kind: str) -> Callable[[], None]:
        def run() -> None:
            began = time.monotonic()
            time.sleep(0.15)
            with lock:
                spans[kind].append((began, time.monotonic()))

        return run

    house = House(database_url)
    sturdy, fragile = house.serve(spent("sturdy")), house.serve(spent("fragile"))
    house.worker.start()
    house.worker.stop()  # announced, and nobody claims yet
    house.close()
    house = House(database_url)
    addresses = [house.start(sturdy) for _ in range(8)]
    lonely = house.start(fragile)
    engine = sa.create_engine(database_url)
    with engine.begin() as connection:
        change = sa.text("UPDATE frames SET deliveries = 2 WHERE resource = :resource")
        connection.execute(change, {"resource": f"celery:{fragile}"})
    engine.dispose()
    house.worker.start()
    for address in (*addresses, lonely):
        house.output(address)
    house.close()
    ((began, ended),) = spans["fragile"]
    assert len(spans["sturdy"]) == 8
    assert all(until <= began or since >= ended for since, until in spans["sturdy"])
