"""What becomes of tasks when workers, the broker or the database go away."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator import main
from orchestrator.asl.document import Json
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.settings import Settings
from orchestrator.store import migrate
from tests.servers import PostgresServer, RedisServer, connect_redis, create_database
from tests.workers.deployment import Deployment, Worker, deployment, one_task, until

LEASE_SECONDS = 2.0


@pytest.fixture
def redis(redis_server: RedisServer) -> RedisServer:
    return redis_server


@pytest.fixture
def deployed(postgres_url: str, redis: RedisServer, tmp_path: Path) -> Iterator[Deployment]:
    """With a Redis of its own, and short leases."""
    with deployment(postgres_url, redis.url(), tmp_path, lease_seconds=LEASE_SECONDS) as started:
        yield started


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes"
    path.touch()
    return path


def begun(notes: Path) -> list[list[str]]:
    return [line.split() for line in notes.read_text().splitlines()]


def slow(deployed: Deployment, notes: Path, task: str, count: int, seconds: float) -> list[str]:
    deployed.deploy(task, one_task(f"celery:shop.slow.{task}"))
    given: Json = {"seconds": seconds, "notes": str(notes)}
    return [deployed.start(task, f"n{number}", given) for number in range(count)]


def test_a_killed_child_is_replaced_and_its_task_delivered_again_with_the_same_key(
    deployed: Deployment, joined: Callable[..., Worker], notes: Path
) -> None:
    joined(pool="prefork", concurrency=1)
    (address,) = slow(deployed, notes, "work", 1, 1.5)
    until(lambda: begun(notes))
    os.kill(int(begun(notes)[0][1]), signal.SIGKILL)
    output = deployed.output(address)
    (first, second) = begun(notes)
    assert first[0] == second[0] == output
    assert first[1] != second[1]


def test_a_lost_at_most_once_task_is_an_error_and_never_a_second_run(
    deployed: Deployment, joined: Callable[..., Worker], notes: Path
) -> None:
    joined(pool="prefork", concurrency=1)
    (address,) = slow(deployed, notes, "launch", 1, 30)
    until(lambda: begun(notes))
    os.kill(int(begun(notes)[0][1]), signal.SIGKILL)
    ended = deployed.ended(address)
    assert (ended.status, ended.error) == (ExecutionStatus.FAILED, "Task.WorkerLost")
    assert len(begun(notes)) == 1


@pytest.mark.parametrize("pool", ["prefork", "threads", "solo"])
def test_a_worker_that_is_asked_to_end_finishes_what_runs_and_claims_nothing_new(
    deployed: Deployment, joined: Callable[..., Worker], notes: Path, pool: str
) -> None:
    worker = joined(pool=pool, concurrency=1)
    addresses = slow(deployed, notes, "work", 4, 1.0)
    until(lambda: begun(notes))
    assert worker.terminate() == 0
    at_the_end = len(begun(notes))
    assert 1 <= at_the_end <= 2
    joined(pool="threads", concurrency=4)
    keys = {str(deployed.output(address)) for address in addresses}
    assert len(keys) == 4
    assert len(begun(notes)) == 4


def test_a_handler_longer_than_the_lease_is_renewed_and_runs_once(
    deployed: Deployment, joined: Callable[..., Worker], notes: Path
) -> None:
    joined(pool="threads", concurrency=1)
    joined(pool="prefork", concurrency=1)
    addresses = slow(deployed, notes, "work", 2, 3 * LEASE_SECONDS)
    for address in addresses:
        deployed.output(address)
    assert len(begun(notes)) == 2


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_flushed_broker_costs_time_only(
    deployed: Deployment,
    joined: Callable[..., Worker],
    redis: RedisServer,
    notes: Path,
    pool: str,
) -> None:
    joined(pool=pool, concurrency=2)
    addresses = slow(deployed, notes, "work", 20, 0.1)
    redis.flush()
    for address in addresses:
        deployed.output(address)
    assert len(begun(notes)) == 20


@pytest.mark.parametrize("pool", ["prefork", "threads", "solo"])
def test_a_broker_that_comes_back_is_used_without_a_restart(
    deployed: Deployment,
    joined: Callable[..., Worker],
    redis: RedisServer,
    notes: Path,
    pool: str,
) -> None:
    worker = joined(pool=pool, concurrency=1)
    (first,) = slow(deployed, notes, "work", 1, 1.0)
    until(lambda: begun(notes))
    redis.kill()
    deployed.output(first)  # the result needs no broker
    second = deployed.start("work", "second", {"seconds": 0, "notes": str(notes)})
    redis.start()
    deployed.output(second)
    assert worker.process.poll() is None


def test_a_result_is_kept_while_the_database_is_away(
    start_postgres: Callable[..., PostgresServer],
    redis: RedisServer,
    tmp_path: Path,
    notes: Path,
    shop_home: Path,
) -> None:
    postgres = start_postgres()
    url = create_database(postgres.admin_url).render_as_string(hide_password=False)
    migrate(url)
    with deployment(url, redis.url(), tmp_path, lease_seconds=10) as deployed:
        worker = deployed.shop_worker(shop_home, pool="prefork", concurrency=1)
        (address,) = slow(deployed, notes, "work", 1, 1.5)
        until(lambda: begun(notes))
        postgres.stop_immediate()
        time.sleep(3)
        postgres.start()
        deployed.output(address)
        assert len(begun(notes)) == 1
        # Once per process, and once more if a pooled connection turns out to be dead later.
        assert 1 <= worker.log.count("the database is away") <= 4
        assert "Traceback" not in worker.log


def test_a_worker_refuses_a_database_without_tables_and_says_what_to_do(
    empty_postgres_url: str, redis: RedisServer, tmp_path: Path
) -> None:
    settings = Settings(database_url=empty_postgres_url, broker_url=redis.url())
    parts = main.build(settings)
    worker = Deployment(settings, tmp_path, parts).worker("--pool", "solo")
    try:
        assert worker.process.wait(30) != 0
        assert "db upgrade" in worker.log
    finally:
        worker.kill()
        parts.store.dispose()


def test_nothing_waits_in_the_broker_in_the_end(
    deployed: Deployment, joined: Callable[..., Worker], redis: RedisServer, notes: Path
) -> None:
    joined(pool="threads", concurrency=4)
    for address in slow(deployed, notes, "work", 30, 0.01):
        deployed.output(address)
    until(lambda: deployed.queued("celery", "mail") == 0)
    with connect_redis(redis.url()) as client:
        assert not [key for key in client.keys("*") if b"unacked" in key]
