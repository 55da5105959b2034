"""What a stretch of work costs: CPU by process, WAL, statements, rows and commits."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg

from tests.benchmarks import counting
from tests.benchmarks.counting import Counts


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process and its descendants, those that have ended included."""
    total = 0.0
    try:
        root = psutil.Process(pid)
        processes = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return total
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def memory_bytes(pid: int) -> int:
    """The memory of a process that is its own, and that of its descendants."""
    root = psutil.Process(pid)
    return sum(one.memory_full_info().uss for one in [root, *root.children(recursive=True)])


def percentile(values: list[float], percent: float) -> float:
    """The value below which so many per cent lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


@dataclass
class Cost:
    """What was measured; complete once the stretch has ended."""

    wall_seconds: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict)
    """CPU seconds by process."""
    wal_bytes: int = 0
    counts: Counts = field(default_factory=Counts)

    @property
    def cpu_seconds(self) -> float:
        """All processes together."""
        return sum(self.cpu.values())


@contextmanager
def metered(
    pids: Mapping[str, int], database: str | None = None, counted: Path | None = None
) -> Iterator[Cost]:
    """Measure a block: the CPU of these processes and of this one, without their children here."""
    cost = Cost()
    own = time.process_time()
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    counts = counting.read(counted) if counted else Counts()
    wal = _wal(database)
    begun = time.perf_counter()
    yield cost
    cost.wall_seconds = time.perf_counter() - begun
    cost.wal_bytes = _wal(database) - wal
    cost.counts = (counting.read(counted) if counted else Counts()) - counts
    cost.cpu = {name: cpu_seconds(pid) - before[name] for name, pid in pids.items()}
    cost.cpu["client"] = time.process_time() - own


def _wal(database: str | None) -> int:
    if database is None:
        return 0
    with psycopg.connect(database, autocommit=True) as connection:
        row = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'").fetchone()
    return int(row[0]) if row else 0


def load() -> float:
    """The machine's load over the last minute."""
    return os.getloadavg()[0]
