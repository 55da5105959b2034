"""The death of a worker is noticed within seconds, however long its leases are."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from orchestrator import scheduler
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.store import WorkerKind
from tests.workers.deployment import Deployment, Worker, deployment, one_task, until

LEASE_SECONDS = 60.0
"""So long that nothing in these tests could come from a lease that is over."""
NOTICED_SECONDS = 5.0
RUNS_SECONDS = 40.0


@pytest.fixture
def deployed(
    postgres_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployment]:
    monkeypatch.setattr(scheduler, "BEATS_TRUSTED_SECONDS", 0.0)  # it need not wait for anybody
    with deployment(postgres_url, redis_url, tmp_path, lease_seconds=LEASE_SECONDS) as started:
        yield started


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes"
    path.touch()
    return path


def begun(notes: Path) -> list[list[str]]:
    return [line.split() for line in notes.read_text().splitlines()]


def launch(
    deployed: Deployment, notes: Path, task: str, count: int = 1, **given: float
) -> list[str]:
    deployed.deploy(task, one_task(f"celery:shop.slow.{task}"))
    return [
        deployed.start(task, f"n{number}", {"notes": str(notes), **given})
        for number in range(count)
    ]


@pytest.mark.parametrize("pool", ["prefork", pytest.param("threads", marks=pytest.mark.chaos)])
def test_others_have_the_tasks_of_a_killed_worker_within_five_seconds(
    deployed: Deployment, joined: Callable[..., Worker], notes: Path, pool: str
) -> None:
    killed = joined(pool=pool, concurrency=2)
    launch(deployed, notes, "work", 2, seconds=RUNS_SECONDS)
    until(lambda: len(begun(notes)) == 2)
    joined(pool=pool, concurrency=2)
    os.kill(killed.process.pid, signal.SIGKILL)
    until(lambda: len(begun(notes)) == 4, NOTICED_SECONDS, "the tasks to run elsewhere")
    keys = [key for key, _ in begun(notes)]
    assert sorted(keys[:2]) == sorted(keys[2:])


def test_the_death_of_a_child_is_noticed_as_soon(
    deployed: Deployment, joined: Callable[..., Worker], notes: Path
) -> None:
    joined(pool="prefork", concurrency=1)
    launch(deployed, notes, "work", 1, seconds=RUNS_SECONDS)
    until(lambda: begun(notes))
    joined(pool="threads", concurrency=1)
    os.kill(int(begun(notes)[0][1]), signal.SIGKILL)
    until(lambda: len(begun(notes)) == 2, NOTICED_SECONDS, "the task to run again")


@pytest.mark.chaos
def test_a_worker_that_stands_still_keeps_its_lease(
    deployed: Deployment, joined: Callable[..., Worker], notes: Path
) -> None:
    joined(pool="prefork", concurrency=1)
    (address,) = launch(deployed, notes, "work", 1, seconds=1.0)
    until(lambda: begun(notes))
    child = int(begun(notes)[0][1])
    os.kill(child, signal.SIGSTOP)
    joined(pool="threads", concurrency=1)
    time.sleep(NOTICED_SECONDS)
    os.kill(child, signal.SIGCONT)
    deployed.output(address)
    assert len(begun(notes)) == 1


def test_a_handler_that_kills_its_process_runs_five_times_and_fails_by_a_name(
    deployed: Deployment, joined: Callable[..., Worker], notes: Path
) -> None:
    joined(pool="prefork", concurrency=2)
    (address,) = launch(deployed, notes, "murder")
    ended = deployed.ended(address)
    assert (ended.status, ended.error) == (ExecutionStatus.FAILED, "Task.DeliveriesSpent")
    assert len(begun(notes)) == 5
    assert len({pid for _, pid in begun(notes)}) == 5


def test_processes_that_end_in_order_leave_no_row_behind(
    deployed: Deployment, joined: Callable[..., Worker], notes: Path
) -> None:
    worker = joined(pool="prefork", concurrency=1)
    (address,) = launch(deployed, notes, "work", 1, seconds=0.0)
    deployed.output(address)

    def kinds() -> set[WorkerKind]:
        return {row.kind for row in deployed.store.records.workers()}

    until(lambda: kinds() == set(WorkerKind), what="a worker, its child and the scheduler")
    assert worker.terminate() == 0
    assert kinds() == {WorkerKind.SCHEDULER}


class TestHandlersThatHang:
    @pytest.fixture
    def patience(self) -> Mapping[str, str]:
        return {"ORCHESTRATOR_HUNG_SECONDS": "1", "ORCHESTRATOR_LEASE_SECONDS": "3"}

    def _worker(
        self, deployed: Deployment, home: Path, patience: Mapping[str, str], *arguments: str
    ) -> Worker:
        worker = deployed.worker(
            *("-Q", "celery", *arguments),
            app="shop.celery_app",
            cwd=home,
            environment={"SHOP_BROKER_URL": deployed.settings.broker_url or "", **patience},
        )
        worker.ready()
        return worker

    def test_a_child_whose_handler_hangs_ends_itself_and_frees_its_slot(
        self, deployed: Deployment, shop_home: Path, notes: Path, patience: Mapping[str, str]
    ) -> None:
        worker = self._worker(
            deployed, shop_home, patience, "--pool", "prefork", "--concurrency", "1"
        )
        hung = {**one_task("celery:shop.slow.work")}
        hung["States"]["Only"]["TimeoutSeconds"] = 1
        deployed.deploy("hung", hung)
        address = deployed.start("hung", "one", {"notes": str(notes), "seconds": RUNS_SECONDS})
        assert deployed.ended(address).error == "States.Timeout"
        (next_one,) = launch(deployed, notes, "work", 1, seconds=0.0)
        deployed.output(next_one)
        assert worker.process.poll() is None
        assert "a handler hangs" in worker.log

    def test_a_worker_half_of_whose_threads_hang_drains_and_ends_with_a_code(
        self, deployed: Deployment, shop_home: Path, notes: Path, patience: Mapping[str, str]
    ) -> None:
        worker = self._worker(
            deployed, shop_home, patience, "--pool", "threads", "--concurrency", "2"
        )
        deployed.deploy("fine", one_task("celery:shop.slow.work"))
        fine = deployed.start("fine", "one", {"notes": str(notes), "seconds": 6})
        hung = one_task("celery:shop.slow.work")
        hung["States"]["Only"]["TimeoutSeconds"] = 1
        deployed.deploy("hung", hung)
        deployed.start("hung", "one", {"notes": str(notes), "seconds": RUNS_SECONDS})
        assert worker.process.wait(30) == 70
        deployed.output(fine)  # what did not hang was finished
        assert "half of the slots hang" in worker.log
