"""W4: a hundred thousand executions that wait for a day, or for a call."""

from __future__ import annotations

import json
import time

import psycopg

from orchestrator.engine import Start
from orchestrator.execution.payload import Payload
from tests.benchmarks.ends import PAYLOAD
from tests.benchmarks.meter import memory_bytes
from tests.benchmarks.stage import Deployment, Stage
from tests.benchmarks.w1 import THREADS, Figures
from tests.benchmarks.w3 import machine

EXECUTIONS = 100_000
BATCH = 200
DAY_SECONDS = 86_400
IDLE_SECONDS = 10.0


WAIT = machine(DAY_SECONDS)
AWAIT = json.dumps(
    {
        "Calls": {"go": {}},
        "StartAt": "A",
        "States": {
            "A": {"Type": "Await", "On": {"go": {"Next": "B"}}},
            "B": {"Type": "Succeed"},
        },
    }
)


def run(stage: Stage, executions: int = EXECUTIONS, definition: str = WAIT) -> Figures:
    """One turn: park them, then look at what stays."""
    with stage.deployment(THREADS, schedulers=1) as deployment:
        revision = deployment.parts.service.deploy("wait", definition).id
        before, memory = _database_bytes(deployment), _memory(deployment)
        begun = time.perf_counter()
        for first in range(0, executions, BATCH):
            names = range(first, min(first + BATCH, executions))
            deployment.parts.engine.start_many(
                [Start("wait", revision, f"e{n}", Payload.parse(PAYLOAD)) for n in names]
            )
        seconds = time.perf_counter() - begun
        with psycopg.connect(deployment.libpq, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
        after = _database_bytes(deployment)
        time.sleep(2.0)
        with deployment.metered() as cost:
            time.sleep(IDLE_SECONDS)
        grown = _memory(deployment) - memory
    idle = {name: 100 * cpu / cost.wall_seconds for name, cpu in cost.cpu.items()}
    return {
        "bytes_per_execution": (after - before) / executions,
        "memory_bytes_per_execution": grown / executions,
        "starts_per_s": executions / seconds,
        **{f"idle_percent.{name}": percent for name, percent in idle.items()},
        "idle_percent": max(p for name, p in idle.items() if name != "client"),
        "idle_percent.together": sum(idle.values()),
    }


def _memory(deployment: Deployment) -> int:
    return sum(memory_bytes(process.pid) for process in deployment.processes.values())


def _database_bytes(deployment: Deployment) -> int:
    with psycopg.connect(deployment.libpq, autocommit=True) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0
