"""A whole deployment for a test: PostgreSQL, Redis, a scheduler, and worker processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator import main
from orchestrator.asl.document import Json
from orchestrator.engine import Bell
from orchestrator.execution.frame import Execution, ExecutionStatus
from orchestrator.service import Orchestrator
from orchestrator.settings import Settings
from orchestrator.store import Store
from tests.servers import connect_redis, start_process

PROGRAMS = Path(sys.executable).parent
ROOT = Path(__file__).resolve().parents[2]
STOCK = Path(__file__).parent / "stock_app"
QUEUES = ("celery", "mail")
"""The queues of the stock application."""
END_SECONDS = 40.0


def one_task(resource: str, **fields: Any) -> dict[str, Any]:
    """A machine of one Task state."""
    state = {"Type": "Task", "Resource": resource, "End": True, **fields}
    return {"StartAt": "Only", "States": {"Only": state}}


def until(condition: Callable[[], object], seconds: float = END_SECONDS, what: str = "") -> None:
    """Wait for a condition; fail with its name."""
    limit_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit_at, f"waited {seconds} s for {what or condition}"
        time.sleep(0.05)


@dataclass
class Worker:
    """A `celery worker` process."""

    process: subprocess.Popen[bytes]
    log_path: Path

    @property
    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def ready(self) -> None:
        until(lambda: " ready." in self.log or self.process.poll() is not None, what="the worker")
        assert self.process.poll() is None, self.log

    def children(self) -> list[int]:
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in path.read_text().split()]

    def terminate(self) -> int:
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@dataclass
class Deployment:
    """The servers, the parts of this process, and the workers that a test has started."""

    settings: Settings
    folder: Path
    parts: main.Parts
    workers: list[Worker] = field(default_factory=list)

    @property
    def service(self) -> Orchestrator:
        return self.parts.service

    @property
    def store(self) -> Store:
        return self.parts.store

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "ORCHESTRATOR_DATABASE_URL": self.settings.database_url,
            "ORCHESTRATOR_BROKER_URL": self.settings.broker_url or "",
            "ORCHESTRATOR_LEASE_SECONDS": str(self.settings.lease_seconds),
        }

    def worker(
        self,
        *arguments: str,
        app: str = "workers.app",
        cwd: Path = ROOT,
        environment: Mapping[str, str] | None = None,
    ) -> Worker:
        """Start `celery -A APP worker ARGUMENTS`; it is not ready yet."""
        number = len(self.workers)
        log_path = self.folder / f"worker-{number}.log"
        with log_path.open("wb") as log:
            process = start_process(
                [
                    PROGRAMS / "celery",
                    *("-A", app, "worker", "--loglevel", "INFO", "--without-mingle"),
                    *("--hostname", f"w{number}@test", *arguments),
                ],
                log=log,
                cwd=cwd,
                environment={**self.environment, **(environment or {})},
            )
        started = Worker(process, log_path)
        self.workers.append(started)
        return started

    def shop_worker(
        self,
        home: Path,
        *arguments: str,
        pool: str = "threads",
        concurrency: int = 2,
        queues: str = ",".join(QUEUES),
    ) -> Worker:
        """Start a worker of the stock application in `home`, and wait until it is ready."""
        worker = self.worker(
            *("-Q", queues, "--pool", pool, "--concurrency", str(concurrency), *arguments),
            app="shop.celery_app",
            cwd=home,
            environment={"SHOP_BROKER_URL": self.settings.broker_url or ""},
        )
        worker.ready()
        return worker

    def deploy(self, name: str, definition: Mapping[str, Any] | str) -> None:
        text = definition if isinstance(definition, str) else json.dumps(definition)
        self.service.deploy(name, text)

    def start(self, machine: str, name: str, given: Json = None) -> str:
        return self.service.start_execution(machine, name, json.dumps(given)).address

    def ended(self, address: str, seconds: float = END_SECONDS) -> Execution:
        """Wait for the end of an execution."""

        def now() -> Execution:
            return self.service.describe_execution(address).execution

        until(lambda: now().status is not ExecutionStatus.RUNNING, seconds, f"the end of {address}")
        return now()

    def output(self, address: str) -> Json:
        execution = self.ended(address)
        assert execution.status is ExecutionStatus.SUCCEEDED, execution
        output = self.service.describe_execution(address).output
        assert output is not None
        return output.value

    def queued(self, *queues: str) -> int:
        """Messages that wait in the broker."""
        assert self.settings.broker_url is not None
        with connect_redis(self.settings.broker_url) as client:
            return sum(int(client.llen(queue)) for queue in queues)


@contextmanager
def deployment(
    database_url: str,
    broker_url: str,
    folder: Path,
    bell: Bell | None = None,
    lease_seconds: float = 5.0,
) -> Iterator[Deployment]:
    """A deployment with a scheduler in this process; workers end with the block."""
    settings = Settings(
        database_url=database_url, broker_url=broker_url, lease_seconds=lease_seconds
    )
    parts, scheduler = main.scheduler(settings, bell)
    deployed = Deployment(settings, folder, parts)
    scheduler.start()
    try:
        yield deployed
    finally:
        for worker in deployed.workers:
            worker.kill()
        scheduler.stop()
        parts.store.dispose()
