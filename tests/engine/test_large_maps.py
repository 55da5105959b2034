"""A Map's iterations cost the same, however many there are.

`python -m tests.engine.test_large_maps 100 10000` compares two sizes, with the memory, and fails as
the tests do; with one size it prints what that costs.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.execution.frame import ExecutionStatus
from orchestrator.store import migrate
from tests.engine.pump import RESOURCE, Pump, counting

MEBIBYTE = 1024 * 1024
MOST_MORE = 1.05
MOST_MORE_BYTES = 64 * MEBIBYTE


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

    assert large.statements <= MOST_MORE * small.statements
    assert large.rows <= MOST_MORE * small.rows


def _alone(items: int) -> dict[str, float]:
    """What one Map costs a process of its own."""
    command = [sys.executable, "-m", "tests.engine.test_large_maps", str(items)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(answer.stdout)
    return found


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
    assert _alone(1_000)["peak_bytes"] <= _alone(100)["peak_bytes"] + MOST_MORE_BYTES


def _main(sizes: Sequence[int]) -> int:
    found = [_run_alone(sizes[0])] if len(sizes) == 1 else [_alone(items) for items in sizes]
    for one in found:
        sys.stdout.write(json.dumps(one) + "\n")
    small, large = found[0], found[-1]
    return int(
        large["peak_bytes"] > small["peak_bytes"] + MOST_MORE_BYTES
        or any(large[kind] > MOST_MORE * small[kind] for kind in _PER_ITEM)
    )


_PER_ITEM = ("statements_per_item", "rows_per_item")

if __name__ == "__main__":
    sys.exit(_main([int(size) for size in sys.argv[1:]] or [100, 10_000]))
