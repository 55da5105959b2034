"""A deployment on this machine: Celery workers and schedulers as processes that a test may kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import psutil

from orchestrator import main
from orchestrator.execution.frame import Execution
from orchestrator.service import Orchestrator
from orchestrator.store import StoreUnavailable
from tests.servers import start_process
from workers.ledger import Ledger, kept_at

ROOT = Path(__file__).resolve().parents[2]
QUEUES = "payments,inventory,shipping,reviews,notifications,fraud,warehouse,flights,hotels,cars"
SECONDS = 60.0


def until(
    condition: Callable[[], object], seconds: float = SECONDS, what: str = "", pause: float = 0.05
) -> None:
    """Wait until a condition holds; fail with what was waited for."""
    limit_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit_at, f"waited {seconds} s for {what or condition}"
        time.sleep(pause)


@dataclass
class Member:
    """One process of the deployment, started again whenever it is found dead."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    log_path: Path
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0

    @property
    def pid(self) -> int:
        """Its process id; 0 while it does not run."""
        return self.process.pid if self.runs and self.process is not None else 0

    @property
    def runs(self) -> bool:
        """Whether the process is there."""
        return self.process is not None and self.process.poll() is None

    @property
    def log(self) -> str:
        """All that it wrote, over all its lives."""
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def consumes(self) -> bool:
        """Whether a Celery worker has said that it is ready, in any of its lives."""
        assert self.runs, self.log
        return " ready." in self.log

    def ensure(self) -> None:
        """Start it if it does not run."""
        if self.runs:
            return
        self.starts += 1
        with self.log_path.open("ab") as log:
            self.process = start_process(
                self.command, log=log, cwd=ROOT, environment=self.environment
            )

    def children(self) -> list[psutil.Process]:
        """The processes of its pool."""
        with suppress(psutil.NoSuchProcess):
            if self.runs:
                return list(psutil.Process(self.pid).children(recursive=True))
        return []

    def kill(self) -> None:
        """SIGKILL to the main process; what it leaves behind goes with it."""
        left = self.children()
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.kill()
            self.process.wait()
        for child in left:
            with suppress(psutil.NoSuchProcess):
                child.kill()

    def stop(self, seconds: float = 20.0) -> int:
        """SIGTERM, and SIGKILL to what does not end; the exit code."""
        if self.process is None:
            return 0
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        self.kill()
        return self.process.returncode


@dataclass
class Cluster:
    """Workers and schedulers over one database and one broker, and a service to ask them."""

    folder: Path
    database_url: str
    broker_url: str | None
    settings: Mapping[str, str] = field(default_factory=dict)
    members: list[Member] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What every process is started with."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "ORCHESTRATOR_DATABASE_URL": self.database_url,
            "ORCHESTRATOR_BROKER_URL": self.broker_url or "",
            "ORCHESTRATOR_LEASE_SECONDS": "2",
            "ORCHESTRATOR_SWEEP_SECONDS": "0.5",
            **self.settings,
        }

    @cached_property
    def parts(self) -> main.Parts:
        """The parts of the test's own process, which starts executions and rings for them."""
        return main.build(main.settings(self.database_url, self.broker_url))

    @property
    def service(self) -> Orchestrator:
        """What starts and describes executions."""
        return self.parts.service

    @contextmanager
    def ledger(self) -> Iterator[Ledger]:
        """What the handlers noted: in the engine's database, unless the settings say elsewhere."""
        with kept_at(self.settings.get("ORCHESTRATOR_LEDGER_URL", self.database_url)) as ledger:
            yield ledger

    def worker(
        self,
        name: str,
        *,
        pool: str = "prefork",
        concurrency: int = 2,
        app: str = "workers.app",
        queues: str = QUEUES,
        more: Sequence[str] = (),
    ) -> Member:
        """Start a Celery worker; `more` are options of Celery's own."""
        command = (
            sys.executable, "-m", "celery", "-A", app, "worker", "-Q", queues,
            "--pool", pool, "--concurrency", str(concurrency), "-n", f"{name}@test",
            "--loglevel", "INFO", "--without-gossip", "--without-mingle", *more,
        )  # fmt: skip
        return self.add(name, *command)

    def scheduler(self, name: str) -> Member:
        """Start a scheduler."""
        return self.add(name, sys.executable, "-m", "orchestrator", "scheduler")

    def add(self, name: str, *command: str) -> Member:
        """Start a process as a member."""
        member = Member(name, command, self.environment, self.folder / f"{name}.log")
        self.members.append(member)
        member.ensure()
        return member

    def ready(self) -> None:
        """Wait until every worker consumes."""
        for member in self.members:
            if "celery" in member.command:
                until(member.consumes, what=f"{member.name} to be ready")

    def ensure(self) -> None:
        """Start again what has died."""
        for member in self.members:
            member.ensure()

    def executions(self, machine: str) -> list[Execution]:
        """All executions of a machine, newest first, up to 1,000; waits for the database."""
        for _ in range(100):
            with suppress(StoreUnavailable):
                return self.service.list_executions(machine, limit=1_000)
            time.sleep(0.1)
        return self.service.list_executions(machine, limit=1_000)

    def ended(self, machine: str, count: int, seconds: float = SECONDS) -> None:
        """Wait until so many executions of a machine have ended, and what has died goes on."""

        def all_ended() -> bool:
            self.ensure()
            return sum(run.ended_at is not None for run in self.executions(machine)) == count

        until(all_ended, seconds, f"{count} ends of {machine}", pause=0.2)

    def stop(self) -> None:
        """End everything, in order where it is possible, and close the connections."""
        for member in self.members:
            if member.process is not None:
                with suppress(ProcessLookupError):
                    member.process.send_signal(signal.SIGTERM)
        for member in self.members:
            member.stop()
        self.parts.store.dispose()

    def logs(self) -> str:
        """The ends of all logs, for a failing test."""
        return "\n".join(f"--- {member.name}\n{member.log[-3000:]}" for member in self.members)


@contextmanager
def cluster(
    folder: Path, database_url: str, broker_url: str | None, **settings: str
) -> Iterator[Cluster]:
    """A cluster without members; `settings` are environment variables of its processes.

    What fails inside the block fails with the ends of the logs.
    """
    made = Cluster(folder, database_url, broker_url, settings)
    try:
        yield made
    except BaseException as error:
        error.add_note(made.logs())
        raise
    finally:
        made.stop()
