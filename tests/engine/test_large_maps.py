"""A Map's iterations cost the same, however many there are.

`python -m tests.engine.test_large_maps` prints the same for 10,000 items, with the memory.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.execution.frame import ExecutionStatus
from orchestrator.store import migrate
from tests.engine.pump import RESOURCE, Pump, counting

MEBIBYTE = 1024 * 1024


def _definition(max_concurrency: int) -> str:
    task = {"Type": "Task", "Resource": RESOURCE, "End": True}
    processor = {"StartAt": "Do", "States": {"Do": task}}
    each = {
        "Type": "Map",
        "ItemProcessor": processor,
        "MaxConcurrency": max_concurrency,
        "End": True,
    }
    return json.dumps({"StartAt": "Each", "States": {"Each": each}})


@dataclass(frozen=True)
class Cost:
    statements: float
    rows: float


def _cost_per_item(url: str, items: int, max_concurrency: int) -> Cost:
    documents = [{"n": number} for number in range(items)]
    with Pump(url) as pump, counting() as counted:
        address = pump.start(_definition(max_concurrency), json.dumps(documents), f"map-{items}")
        pump.run(address)
        found = pump.service.describe_execution(address)
    assert found.execution.status is ExecutionStatus.SUCCEEDED
    assert found.output is not None
    assert found.output.value == documents
    return Cost(counted.statements / items, counted.rows / items)


@pytest.mark.parametrize("max_concurrency", [0, 16])
def test_an_iteration_costs_the_same_among_a_thousand_as_among_a_hundred(
    database_url: str, max_concurrency: int
) -> None:
    small = _cost_per_item(database_url, 100, max_concurrency)
    large = _cost_per_item(database_url, 1_000, max_concurrency)

    assert large.statements <= 1.05 * small.statements
    assert large.rows <= 1.05 * small.rows


def _peak_bytes(items: int) -> int:
    command = [sys.executable, "-m", "tests.engine.test_large_maps", str(items)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(json.loads(answer.stdout)["peak_bytes"])


def _run_alone(items: int) -> dict[str, float]:
    """What one Map costs this process."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'map.db'}"
        migrate(url)
        cost = _cost_per_item(url, items, 0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "items": items,
        "statements_per_item": round(cost.statements, 3),
        "rows_per_item": round(cost.rows, 3),
        "peak_bytes": peak,
    }


def test_a_thousand_items_need_little_more_memory_than_a_hundred() -> None:
    assert _peak_bytes(1_000) <= _peak_bytes(100) + 64 * MEBIBYTE


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_run_alone(int((sys.argv[1:] or ["10000"])[0]))) + "\n")
