"""W1: ten Tasks in a row that do nothing, each completion durable before the next begins."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import main
from orchestrator.handlers import handler, registered
from tests.benchmarks.ends import closed_loop, on_postgres, on_sqlite, run_through
from tests.benchmarks.meter import Cost, metered, percentile
from tests.benchmarks.stage import Plan, Stage

STEPS = 10
WARM_UP = 40
LOOK_SECONDS = 0.005
THREADS = (Plan(slots=32), Plan(slots=32))
PREFORK = (Plan("prefork", 2),)
EVEN = Plan(queues=tuple(f"bench{n}" for n in range(0, STEPS, 2)))
ODD = Plan(queues=tuple(f"bench{n}" for n in range(1, STEPS, 2)))

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to run W1."""

    handler: str = "noop"
    plans: Sequence[Plan] = THREADS
    executions: int = 200
    in_flight: int = 50
    look_seconds: float = LOOK_SECONDS
    database: str | None = None
    """One that is there already."""


SHAPES = {
    "W1": Shape(),
    "W1_single": Shape(executions=60, in_flight=1, look_seconds=0.002),
    "W1_queues": Shape(handler="noop%d", plans=(EVEN, ODD)),
    "W1_prefork": Shape(plans=PREFORK),
    "W1_witness": Shape(handler="witness"),
}


def ten(name: str) -> str:
    """The machine; `name` is the handler's, with `%d` for the number of its state."""
    states: dict[str, dict[str, object]] = {}
    for number in range(STEPS):
        resource = f"celery:{name % number if '%d' in name else name}"
        after = {"Next": f"S{number + 1}"} if number < STEPS - 1 else {"End": True}
        states[f"S{number}"] = {"Type": "Task", "Resource": resource, **after}
    return json.dumps({"StartAt": "S0", "States": states})


def run(stage: Stage, shape: Shape) -> Figures:
    """One turn, on a fresh database."""
    with stage.deployment(shape.plans, database=shape.database) as deployment:
        service = deployment.parts.service
        service.deploy("ten", ten(shape.handler))
        with on_postgres(deployment.libpq, shape.look_seconds) as ends:
            once = run_through(service, ends, "ten")
            closed_loop(once, WARM_UP, min(shape.in_flight, WARM_UP))
            with deployment.metered() as cost:
                seconds = closed_loop(once, shape.executions, shape.in_flight)
    return figures(cost, seconds)


def figures(cost: Cost, seconds: list[float]) -> Figures:
    """What a turn of W1 has cost, per step and per execution."""
    executions = len(seconds)
    steps = executions * STEPS
    return {
        "steps_per_s": steps / cost.wall_seconds,
        "executions_per_s": executions / cost.wall_seconds,
        "p50_ms": 1_000 * percentile(seconds, 50),
        "p99_ms": 1_000 * percentile(seconds, 99),
        "cpu_ms_per_step": 1_000 * cost.cpu_seconds / steps,
        **{f"cpu_ms_per_step.{name}": 1_000 * cpu / steps for name, cpu in cost.cpu.items()},
        "statements_per_step": cost.counts.statements / steps,
        "rows_per_step": cost.counts.rows / steps,
        "wal_bytes_per_step": cost.wal_bytes / steps,
        "commits_per_execution": cost.counts.commits / executions,
        "durable_commits_per_execution": cost.counts.durable / executions,
    }


def run_embedded(executions: int = 200, in_flight: int = 50) -> Figures:
    """One turn in this process alone: threads, SQLite, no broker."""
    if "noop" not in registered():
        handler("noop")(_hand_on)
    with tempfile.TemporaryDirectory() as folder:
        embedded = main.embedded(Path(folder), [])
        with embedded:
            embedded.service.deploy("ten", ten("noop"))
            with on_sqlite(Path(folder) / main.EMBEDDED_DATABASE, LOOK_SECONDS) as ends:
                once = run_through(embedded.service, ends, "ten")
                closed_loop(once, WARM_UP, in_flight)
                with metered({}) as cost:
                    seconds = closed_loop(once, executions, in_flight)
    return figures(cost, seconds)


def _hand_on(event: object) -> object:
    return event
