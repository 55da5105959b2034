"""Embedded on SQLite: an order that is killed again and again ends as its input says."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from orchestrator import main
from tests.acceptance.checks import check_orders
from tests.acceptance.orders import DEFINITION, ROOT, Order, Way, orders
from workers.ledger import kept_at

SEED = 4_711
WAYS = (Way.REVIEWED, Way.HICCUP, Way.UNDELIVERABLE, Way.SILENT)
KILLS = (3, 3, 2, 2)


def _start(order: Order, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "orchestrator", "run", DEFINITION),
            *("--name", order.name, "--data", folder, "--input", json.dumps(order.input)),
        ],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "ORCHESTRATOR_LEASE_SECONDS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _killed(order: Order, folder: Path, draw: random.Random) -> bool:
    """Run and kill at a drawn moment after the execution is there; False if it ended before."""
    with _start(order, folder) as process:
        assert process.stderr is not None
        first = f"order-payment:{order.name} "
        assert any(line.startswith(first) for line in process.stderr)
        time.sleep(draw.uniform(0.05, 0.9))
        process.kill()
        return process.wait() == -9


def _survive(order: Order, folder: Path, kills: int, seed: int) -> int:
    """Kill so often, then let it end; how often it was killed."""
    draw = random.Random(seed)
    killed = sum(_killed(order, folder, draw) for _ in range(kills))
    with _start(order, folder) as process:
        output, story = process.communicate(timeout=60)
    assert process.returncode == (0 if order.expected.status == "SUCCEEDED" else 1), story
    assert (json.loads(output) if output else None) == order.expected.output
    assert "Traceback" not in story
    return killed


def test_an_embedded_order_survives_kills_and_goes_on_by_its_name(tmp_path: Path) -> None:
    placed = orders(len(WAYS), SEED, busy_seconds=0.2, ways=WAYS)
    folders = [tmp_path / order.name for order in placed]
    with ThreadPoolExecutor(2) as threads:
        killed = threads.map(_survive, placed, folders, KILLS, range(SEED, SEED + len(placed)))
    assert sum(killed) == 10

    repeated = 0
    for order, folder in zip(placed, folders, strict=True):
        with (
            main.embedded(folder, []) as reopened,
            kept_at(f"sqlite:///{folder / 'ledger.db'}") as ledger,
        ):
            check_orders(reopened.service, ledger, [order])
            runs = ledger.runs()
            repeated += len(runs) - len({run.key for run in runs})
    assert repeated > 0
