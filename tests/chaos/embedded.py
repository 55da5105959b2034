"""What may happen to the embedded mode: `orchestrator run` on SQLite, hurt and run again by name.

`python -m tests.chaos.embedded` plays every scenario.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator import crashpoint, main
from tests.acceptance.cluster import until
from tests.chaos.fulfilment import DEFINITION, ROOT, Order, check, orders
from workers.ledger import kept_at

SECONDS: Final = 60.0
MOST_RUNS: Final = 12


@dataclass
class Stage:
    """One order over a folder, run by as many processes as it takes."""

    folder: Path
    order: Order

    @property
    def database(self) -> Path:
        """The file that keeps everything."""
        return self.folder / "orchestrator.db"

    def begin(self, **settings: str) -> subprocess.Popen[str]:
        """Start the command."""
        given = json.dumps(self.order.input)
        command = [sys.executable, "-m", "orchestrator", "run", str(DEFINITION), "--input", given]
        return subprocess.Popen(
            [*command, "--name", self.order.name, "--data", str(self.folder)],
            cwd=ROOT,
            env={**os.environ, "ORCHESTRATOR_LEASE_SECONDS": "1", **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self) -> int:
        """Run the command again and again by name until it comes to an end; how often."""
        for number in range(1, MOST_RUNS + 1):
            process = self.begin()
            _, said = process.communicate(timeout=SECONDS)
            assert process.returncode in {0, 1}, said
            assert "Traceback" not in said, said
            if "(end)" in said:
                return number
        raise AssertionError(f"no end within {MOST_RUNS} runs")

    def check(self) -> None:
        """Check that the order ended as computed, each effect once."""
        parts = main.build(main.settings(f"sqlite:///{self.database}"))
        try:
            with kept_at(f"sqlite:///{self.folder / 'ledger.db'}") as ledger:
                check(parts.service, ledger, [self.order])
        finally:
            parts.store.dispose()

    def entered(self, state: str) -> None:
        """Wait until the history tells of a state."""

        def told() -> bool:
            if not self.database.exists():
                return False
            with closing(sqlite3.connect(self.database, timeout=10)) as connection:
                try:
                    rows = connection.execute("SELECT events FROM history").fetchall()
                except sqlite3.OperationalError:
                    return False
            return any(state in row[0] for row in rows)

        until(told, SECONDS, f"{state} to be entered", pause=0.01)


Scenario = Callable[[Stage], None]
SCENARIOS: dict[str, Scenario] = {}


def scenario(act: Scenario) -> Scenario:
    """Register a scenario under its function's name."""
    SCENARIOS[act.__name__.replace("_", " ")] = act
    return act


@scenario
def it_dies_at_every_named_place(stage: Stage) -> None:
    for point in crashpoint.POINTS:
        for number in (1, 2):
            process = stage.begin(ORCHESTRATOR_CRASH_AT=f"{point}@{number}")
            _, said = process.communicate(timeout=SECONDS)
            assert process.returncode == -signal.SIGKILL or "(end)" in said, said


@scenario
def it_stands_still_past_its_lease_and_wakes(stage: Stage) -> None:
    process = stage.begin()
    stage.entered("ReserveItem")
    process.send_signal(signal.SIGSTOP)
    time.sleep(3)
    process.send_signal(signal.SIGCONT)
    _, said = process.communicate(timeout=SECONDS)
    assert "Traceback" not in said, said


@scenario
def another_program_holds_the_database(stage: Stage) -> None:
    process = stage.begin()
    stage.entered("ReserveItem")
    with closing(sqlite3.connect(stage.database, timeout=10, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(4)
        connection.execute("ROLLBACK")
    _, said = process.communicate(timeout=SECONDS)
    assert "Traceback" not in said, said


@scenario
def two_run_the_same_order_at_once(stage: Stage) -> None:
    processes = [stage.begin() for _ in range(2)]
    said: list[str] = []
    threads = [
        threading.Thread(target=lambda one=one: said.append(one.communicate(timeout=SECONDS)[1]))
        for one in processes
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any("Traceback" in one for one in said), said


@scenario
def it_is_asked_to_end_and_killed_while_it_waits(stage: Stage) -> None:
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        process = stage.begin()
        stage.entered("ReserveItem")
        process.send_signal(kind)
        process.communicate(timeout=SECONDS)


def play(name: str, count: int = 6, seed: int = 1) -> int:
    """Play one scenario for so many orders; how many runs it took afterwards."""
    runs = 0
    for order in orders(count, seed, busy_seconds=0.1):
        with tempfile.TemporaryDirectory() as folder:
            stage = Stage(Path(folder), order)
            if order.expected.error == "InvalidOrder":
                continue  # it is over before anything can happen to it
            SCENARIOS[name](stage)
            runs += stage.finish()
            stage.check()
    return runs


if __name__ == "__main__":
    for NAME in SCENARIOS:
        sys.stdout.write(f"{NAME}: ended as computed, {play(NAME)} runs at the end\n")
        sys.stdout.flush()
