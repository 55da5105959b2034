"""Where the benchmark plays: servers of its own, and deployments that come and go on them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen, TimeoutExpired

from sqlalchemy.engine import URL

from orchestrator import main
from orchestrator.store import migrate
from tests.benchmarks import counting
from tests.benchmarks.meter import Cost, metered
from tests.servers import (
    PostgresServer,
    RedisServer,
    create_database,
    drop_database,
    libpq_url,
    start_process,
)

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 60.0
STOP_SECONDS = 45.0


@dataclass(frozen=True, slots=True)
class Plan:
    """A Celery worker: its pool, how many slots it has, and the queues that it consumes."""

    pool: str = "threads"
    slots: int = 16
    queues: tuple[str, ...] = ("bench",)


@dataclass
class Stage:
    """PostgreSQL with durable settings, and Redis."""

    postgres: PostgresServer
    redis: RedisServer
    folder: Path
    deployed: int = 0

    @property
    def pids(self) -> dict[str, int]:
        """The processes of the servers."""
        return {"postgres": self.postgres.pid, "redis": self.redis.pid}

    def redis_url(self) -> str:
        """A logical database that nobody has used."""
        self.deployed += 1
        return self.redis.url(self.deployed)

    @contextmanager
    def deployment(
        self,
        plans: Sequence[Plan] = (),
        *,
        schedulers: int = 1,
        database: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Iterator[Deployment]:
        """Start workers and schedulers on a fresh database, or one that is there, and end them."""
        url = None if database else create_database(self.postgres.admin_url)
        text = database or _text(url)
        if database is None:
            migrate(text)
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        deployment = Deployment(self, text, self.redis_url(), folder, dict(environment or {}))
        try:
            for plan in plans:
                deployment.start_worker(plan)
            for _ in range(schedulers):
                deployment.start_scheduler()
            deployment.wait_until_ready()
            yield deployment
        finally:
            deployment.stop()
            if url is not None:
                drop_database(self.postgres.admin_url, url)


def _text(url: URL | None) -> str:
    return "" if url is None else url.render_as_string(hide_password=False)


@contextmanager
def stage() -> Iterator[Stage]:
    """Start the servers, and end them."""
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    postgres, redis = (
        PostgresServer(settings=["max_wal_size=4GB", "track_commit_timestamp=on"]),
        RedisServer(),
    )
    try:
        postgres.start()
        redis.start()
        yield Stage(postgres, redis, folder)
    finally:
        postgres.remove()
        redis.remove()
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Deployment:
    """Workers and schedulers on one database, and the parts of this process."""

    stage: Stage
    database_url: str
    broker_url: str
    folder: Path
    environment: dict[str, str]
    processes: dict[str, Popen[bytes]] = field(default_factory=dict)
    workers: list[Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.counts = self.folder / "counts"
        self.counts.mkdir()
        counting.count_into(self.counts)
        settings = main.settings(self.database_url, self.broker_url)
        self.parts = main.build(settings)

    @property
    def libpq(self) -> str:
        """The database, as psycopg takes it."""
        return libpq_url(self.database_url)

    @contextmanager
    def metered(self) -> Iterator[Cost]:
        """Measure a block of work on this deployment."""
        pids = {**self.stage.pids, **{name: one.pid for name, one in self.processes.items()}}
        with metered(pids, self.libpq, self.counts) as cost:
            yield cost

    def start_worker(self, plan: Plan) -> None:
        """Start `celery worker`."""
        name = f"worker{len(self.workers)}"
        arguments = ("--pool", plan.pool, "--concurrency", str(plan.slots))
        quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat")
        self._start(
            name,
            *("-m", "celery", "-A", "tests.benchmarks.app", "worker", "-Q", ",".join(plan.queues)),
            *("-n", f"{name}@bench", "--loglevel", "INFO", *arguments, *quiet),
        )
        self.workers.append(self.processes[name])

    def start_scheduler(self) -> None:
        """Start a scheduler."""
        self._start(f"scheduler{len(self.processes)}", "-m", "tests.benchmarks.clock")

    def start_door(self, port: int) -> None:
        """Start the API, and wait until it answers."""
        self._start("api", "-m", "tests.benchmarks.door", str(port))
        limit_at = time.monotonic() + READY_SECONDS
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
                return
            if time.monotonic() > limit_at:
                raise RuntimeError("the API did not start:\n" + self.log("api")[-2000:])
            time.sleep(0.05)

    def wait_until_ready(self) -> None:
        """Wait until the workers consume and have announced what they serve."""
        limit_at = time.monotonic() + READY_SECONDS
        while not all(" ready." in self.log(f"worker{n}") for n in range(len(self.workers))):
            if time.monotonic() > limit_at or any(w.poll() is not None for w in self.workers):
                raise RuntimeError("a worker did not start:\n" + self.log("worker0")[-2000:])
            time.sleep(0.05)
        while self.workers and not self.parts.store.routes():
            time.sleep(0.05)

    def log(self, name: str) -> str:
        """What a process has written."""
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def kill(self, name: str) -> None:
        """End a process as a crash does."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def stop(self) -> None:
        """End what runs."""
        self.parts.store.dispose()
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        late = []
        for name, process in self.processes.items():
            try:
                process.wait(STOP_SECONDS)
            except TimeoutExpired:
                process.kill()
                late.append(name)
        if late:
            sys.stderr.write(f"killed after {STOP_SECONDS} s: {', '.join(late)}\n")

    def _start(self, name: str, *arguments: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = start_process(
                [Path(sys.executable), *arguments],
                log=log,
                cwd=ROOT,
                environment={
                    "PATH": os.environ["PATH"],
                    "HOME": str(self.folder),
                    "PYTHONPATH": str(ROOT),
                    "ORCHESTRATOR_DATABASE_URL": self.database_url,
                    "ORCHESTRATOR_BROKER_URL": self.broker_url,
                    counting.FOLDER: str(self.counts),
                    **self.environment,
                },
            )
