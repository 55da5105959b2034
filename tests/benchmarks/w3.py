"""W3: ten thousand executions that wait for five seconds, begun evenly over five seconds."""

from __future__ import annotations

import json
import time

import psycopg

from orchestrator.engine import Start
from orchestrator.execution.payload import Payload
from tests.benchmarks.meter import percentile
from tests.benchmarks.stage import Deployment, Stage
from tests.benchmarks.w1 import Figures

EXECUTIONS = 10_000
OVER_SECONDS = 5.0
WAIT_SECONDS = 5
MACHINE = "soon"
BATCH = 20
END_SECONDS = 60.0


def machine(seconds: int) -> str:
    """The machine: it waits and ends."""
    wait = {"Type": "Wait", "Seconds": seconds, "End": True}
    return json.dumps({"StartAt": "Wait", "States": {"Wait": wait}})


def run(
    stage: Stage, executions: int = EXECUTIONS, schedulers: int = 2, database: str | None = None
) -> Figures:
    """One turn, with two schedulers, on a fresh database or one that is there."""
    with stage.deployment(schedulers=schedulers, database=database) as deployment:
        revision = deployment.parts.service.deploy(MACHINE, machine(WAIT_SECONDS))
        first = time.time_ns()
        with deployment.metered() as cost:
            begun = time.perf_counter()
            ids = _start_evenly(deployment, revision.id, executions, first)
            started = time.perf_counter() - begun
            _wait_for_all(deployment, ids)
        late = _lateness(deployment, ids)
    return {
        "p50_ms": percentile(late, 50),
        "p99_ms": percentile(late, 99),
        "max_ms": max(late),
        "early": float(sum(one < 0 for one in late)),
        "started_over_s": started,
        "cpu_ms_per_timer": 1_000 * cost.cpu_seconds / executions,
        **{f"cpu_ms_per_timer.{n}": 1_000 * cpu / executions for n, cpu in cost.cpu.items()},
        "commits_per_timer": cost.counts.commits / executions,
        "statements_per_timer": cost.counts.statements / executions,
    }


def _start_evenly(deployment: Deployment, revision: int, executions: int, first: int) -> list[int]:
    """Start executions in small groups, spread over five seconds; their ids."""
    begun = time.perf_counter()
    ids: list[int] = []
    for done in range(0, executions, BATCH):
        due = begun + OVER_SECONDS * done / executions
        time.sleep(max(0.0, due - time.perf_counter()))
        batch = [
            Start(MACHINE, revision, f"e{first + done + n}", Payload.of({})) for n in range(BATCH)
        ]
        ids += [started.id for started in deployment.parts.engine.start_many(batch)]
    return ids


def _wait_for_all(deployment: Deployment, ids: list[int]) -> None:
    limit_at = time.monotonic() + END_SECONDS
    with psycopg.connect(deployment.libpq, autocommit=True) as connection:
        left = len(ids)
        while left:
            if time.monotonic() > limit_at:
                raise RuntimeError(f"{left} timers have not fired")
            time.sleep(0.2)
            row = connection.execute(
                "SELECT count(*) FROM frames WHERE id = '' AND execution >= %s AND execution <= %s",
                (min(ids), max(ids)),
            ).fetchone()
            left = row[0] if row else 0


def _lateness(deployment: Deployment, ids: list[int]) -> list[float]:
    """Milliseconds from the moment at which each was due to the commit that ended it."""
    with psycopg.connect(deployment.libpq, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin) - started_at)::float8"
            " FROM executions WHERE status = 'SUCCEEDED' AND id = ANY(%s)",
            (ids,),
        ).fetchall()
    if len(rows) != len(ids):
        raise RuntimeError(f"{len(ids) - len(rows)} timers have not succeeded")
    return [1_000 * (after - WAIT_SECONDS) for (after,) in rows]
