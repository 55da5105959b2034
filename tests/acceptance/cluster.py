"""A deployment on this machine: Celery workers and schedulers as processes that a test may kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.servers import start_process

QUEUES = "payments,inventory,shipping,reviews,notifications"


@dataclass
class Member:
    """One process of the deployment, started again whenever it is found dead."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0

    def ensure(self) -> None:
        """Start it if it does not run."""
        if self.process is not None and self.process.poll() is None:
            return
        self.starts += 1
        pairs = [f"{name}={value}" for name, value in self.environment.items()]
        with self.log.open("ab") as log:
            self.process = start_process(
                ["/usr/bin/env", *pairs, *self.command], log=log, cwd=Path.cwd()
            )

    def children(self) -> list[psutil.Process]:
        """The children of its pool that run now."""
        with suppress(psutil.NoSuchProcess):
            if self.process is not None:
                return psutil.Process(self.process.pid).children(recursive=True)
        return []

    def kill(self) -> None:
        """SIGKILL to the main process and to what it leaves behind."""
        left = self.children()
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.kill()
            self.process.wait()
        for child in left:
            with suppress(psutil.NoSuchProcess):
                child.kill()

    def stop(self, seconds: float = 20.0) -> None:
        """SIGTERM, and SIGKILL to what does not end."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        self.kill()


@dataclass
class Cluster:
    """Workers and schedulers over one database and one broker."""

    folder: Path
    database_url: str
    broker_url: str
    settings: Mapping[str, str] = field(default_factory=dict)
    members: list[Member] = field(default_factory=list)

    @property
    def ledger_url(self) -> str:
        """Where the handlers note what they did."""
        return f"sqlite:///{self.folder / 'ledger.db'}"

    @property
    def environment(self) -> dict[str, str]:
        """What every process is started with."""
        return {
            "ORCHESTRATOR_DATABASE_URL": self.database_url,
            "ORCHESTRATOR_BROKER_URL": self.broker_url,
            "ORCHESTRATOR_LEDGER_URL": self.ledger_url,
            "PYTHONPATH": str(Path.cwd()),
            **self.settings,
        }

    def worker(
        self,
        name: str,
        *,
        pool: str = "prefork",
        concurrency: int = 2,
        app: str = "workers.app",
        queues: str = QUEUES,
    ) -> Member:
        """Start a Celery worker."""
        command = (
            sys.executable, "-m", "celery", "-A", app, "worker", "-Q", queues,
            "--pool", pool, "--concurrency", str(concurrency), "-n", f"{name}@%h",
            "--loglevel", "WARNING",
        )  # fmt: skip
        return self._add(name, command)

    def scheduler(self, name: str) -> Member:
        """Start a scheduler."""
        return self._add(name, (sys.executable, "-m", "orchestrator", "scheduler"))

    def _add(self, name: str, command: tuple[str, ...]) -> Member:
        member = Member(name, command, self.environment, self.folder / f"{name}.log")
        self.members.append(member)
        member.ensure()
        return member

    def ensure(self) -> None:
        """Start again what has died."""
        for member in self.members:
            member.ensure()

    def kill_all(self) -> None:
        """End everything at once."""
        for member in self.members:
            member.kill()

    def logs(self) -> str:
        """The ends of all logs, for a failing test."""
        return "\n".join(
            f"--- {member.name}\n{member.log.read_text(errors='replace')[-3000:]}"
            for member in self.members
            if member.log.exists()
        )


def until(seconds: float, pause_seconds: float = 0.05) -> Iterator[float]:
    """Yield again and again until the time is over; then fail."""
    limit_at = time.monotonic() + seconds
    while (left := limit_at - time.monotonic()) > 0:
        yield left
        time.sleep(pause_seconds)
    raise AssertionError(f"it did not happen within {seconds} s (pid {os.getpid()})")
