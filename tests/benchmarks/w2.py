"""W2: one Map over many items, a Task that does nothing for each, one join."""

from __future__ import annotations

import json
import time

from tests.benchmarks.ends import Ends, on_postgres
from tests.benchmarks.stage import Deployment, Stage
from tests.benchmarks.w1 import LOOK_SECONDS, THREADS, Figures

FEW, MANY = 1_000, 10_000
WARM_UP = 50


def machine() -> str:
    """The machine: its input is the list of items."""
    item = {
        "StartAt": "Each",
        "States": {"Each": {"Type": "Task", "Resource": "celery:noop", "End": True}},
    }
    every = {"Type": "Map", "ItemProcessor": item, "End": True}
    return json.dumps({"StartAt": "Every", "States": {"Every": every}})


def run(stage: Stage) -> Figures:
    """One turn: 1,000 items, then 10,000."""
    with stage.deployment(THREADS) as deployment:
        deployment.parts.service.deploy("fan", machine())
        with on_postgres(deployment.libpq, LOOK_SECONDS) as ends:
            _fan_out(deployment, ends, WARM_UP)
            figures = measured(deployment, ends, FEW)
            many = measured(deployment, ends, MANY)
    figures |= {f"{name}.{MANY}": value for name, value in many.items()}
    return figures | {"growth": many["seconds"] / figures["seconds"]}


def measured(deployment: Deployment, ends: Ends, items: int) -> Figures:
    """One fan-out of so many items."""
    with deployment.metered() as cost:
        seconds = _fan_out(deployment, ends, items)
    return {
        "seconds": seconds,
        "cpu_ms_per_item": 1_000 * cost.cpu_seconds / items,
        **{f"cpu_ms_per_item.{name}": 1_000 * cpu / items for name, cpu in cost.cpu.items()},
        "statements_per_item": cost.counts.statements / items,
        "rows_per_item": cost.counts.rows / items,
        "commits_per_item": cost.counts.commits / items,
        "wal_bytes_per_item": cost.wal_bytes / items,
    }


def _fan_out(deployment: Deployment, ends: Ends, items: int) -> float:
    given = json.dumps([{"n": number} for number in range(items)])
    begun = time.perf_counter()
    ends.wait(deployment.parts.service.start_execution("fan", input=given).id)
    return time.perf_counter() - begun
