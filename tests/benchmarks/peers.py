"""The peers' side: the scripts of the shared folder, on the same servers, one turn at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import psycopg

from tests.benchmarks.stage import ROOT, Stage
from tests.servers import libpq_url

TURN_SECONDS: Final = 300.0
DBOS_NEEDS: Final = ("dbos", "psycopg[binary]", "redis")


Report: TypeAlias = "dict[str, Any]"
"""What a script says of one turn, by its own names."""


class NoPeer(Exception):
    """A peer cannot run here; the text says why."""


@dataclass(frozen=True, slots=True)
class Peers:
    """The peers' scripts, and where their servers are."""

    scripts: Path
    stage: Stage
    home: Path

    def celery_chain(self, in_flight: int, executions: int) -> dict[str, float]:
        """W1 on chains of ten tasks: one worker with two processes."""
        arguments = ("celery_w1.py", "prefork", "2", "1", str(in_flight), str(executions))
        return _w1(self._run(sys.executable, *arguments, CHAINS="1")[-1])

    def dbos(self, in_flight: int, executions: int) -> dict[str, float]:
        """W1 on DBOS: a queue and two worker processes."""
        turns = self._run(
            str(_dbos_python()), "dbos_w1.py", "queue", str(executions), str(in_flight), "1"
        )
        return _w1(next(one for one in turns if one["bench"] == "dbos-queue-2workers"))

    def celery_chord(self) -> dict[str, float]:
        """W2 with 1,000 items on a chord: one worker with two processes."""
        turn = self._run(sys.executable, "fanout_w2.py", "celery", "1")[-1]
        return {"seconds": turn["wall"], "cpu_ms_per_item": turn["cpu_ms_per_step"]}

    def celery_timers(self, timers: int) -> dict[str, float]:
        """W3 on countdowns."""
        return _w3(self._run(sys.executable, "timers_w3.py", "celery", str(timers))[-1])

    def dbos_timers(self, timers: int) -> dict[str, float]:
        """W3 on durable sleeps."""
        return _w3(self._run(str(_dbos_python()), "timers_w3.py", "dbos", str(timers))[-1])

    def celery_crash(self) -> dict[str, float]:
        """W5 on tasks that call the next, acknowledged late."""
        return _w5(self._run(sys.executable, "crash_w5.py", "celery")[-1])

    def dbos_crash(self) -> dict[str, float]:
        """W5 on DBOS."""
        return _w5(self._run(str(_dbos_python()), "crash_w5.py", "dbos")[-1])

    def _run(self, python: str, *arguments: str, **extra: str) -> list[Report]:
        """Run a script and return what it has reported."""
        environment = {
            "PATH": f"{Path(python).parent}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PGHOST": str(self.stage.postgres.folder),
            "PERF_DSN": "postgresql://postgres@/perf",
            "PERF_REDIS": self.stage.redis_url(),
            "PERF_ROOT": str(self.home),
            **extra,
        }
        done = subprocess.run(
            [python, *arguments],
            cwd=self.scripts,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TURN_SECONDS,
            check=False,
        )
        reports = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if not reports:
            raise NoPeer(f"{' '.join(arguments)}: {(done.stderr or done.stdout).strip()[-500:]}")
        return reports


@contextmanager
def peers(stage: Stage) -> Iterator[Peers]:
    """The peers on these servers; raises NoPeer where their scripts are absent."""
    shared = Path(os.environ.get("SHARED") or ROOT.parent / "shared")
    scripts = shared / "peers"
    if not (scripts / "bench_common.py").exists():
        raise NoPeer(f"there are no scripts of peers in {scripts}")
    home = stage.folder / "peers"
    (home / "pg").mkdir(parents=True)
    (home / "pg" / "data").symlink_to(stage.postgres.folder / "data")
    (home / "run").mkdir()
    (home / "run" / "redis.pid").write_text(str(stage.redis.pid))
    with psycopg.connect(libpq_url(stage.postgres.admin_url), autocommit=True) as connection:
        connection.execute("CREATE DATABASE perf")
    yield Peers(scripts, stage, home)


def _dbos_python() -> Path:
    """The interpreter of DBOS's environment, which is made on first use."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "durable-orchestrator" / "dbos"
    python = folder / "bin" / "python"
    made, needs = folder / "made", " ".join(DBOS_NEEDS)
    if not made.exists() or made.read_text() != needs:
        venv.create(folder, with_pip=True, clear=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *DBOS_NEEDS],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise NoPeer(f"DBOS cannot be installed: {done.stderr.strip()[-500:]}")
        made.write_text(needs)
    return python


def _w1(turn: Report) -> dict[str, float]:
    return {
        "steps_per_s": turn["steps_s"],
        "cpu_ms_per_step": turn["cpu_ms_per_step"],
        "p50_ms": turn["p50_ms"],
        "p99_ms": turn["p99_ms"],
    }


def _w3(turn: Report) -> dict[str, float]:
    return {
        "p50_ms": turn["late_p50_ms"],
        "p99_ms": turn["late_p99_ms"],
        "max_ms": turn["late_max_ms"],
    }


def _w5(turn: Report) -> dict[str, float]:
    ended = turn["done_after_kill_s"]
    return {
        "seconds_to_the_last_end": turn["limit_s"] if ended is None else ended,
        "stuck": turn["stuck_after_limit"],
        "steps_run_twice": turn["steps_run_twice"],
    }
