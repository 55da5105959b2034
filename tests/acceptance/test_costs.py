"""What a Task costs in statements, and what resting executions cost: counted in every process."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.engine import Start
from orchestrator.execution.payload import Payload
from tests.acceptance.cluster import Cluster, until
from tests.acceptance.counting import COMMIT, FILE, LOOK_OUT, kinds, statements

WINDOW_SECONDS = 10.0
RESTING = 1_000
SWEEPS = ("UPDATE workers SET died_at", "lease_until <=")
"""The last that a scheduler begins with."""
SIDES = ("left", "right")
"""Each Task is served by the worker that did not serve the one before: none is gone on with."""


def _chain(tasks: int) -> str:
    states = {
        f"T{n}": {
            "Type": "Task",
            "Resource": f"celery:{SIDES[n % 2]}.echo",
            **({"Next": f"T{n + 1}"} if n < tasks else {"End": True}),
        }
        for n in range(1, tasks + 1)
    }
    return json.dumps({"StartAt": "T1", "States": states})


@pytest.fixture
def counted(deployed: Cluster, tmp_path: Path) -> Path:
    """Two workers, each of a queue, and a scheduler, all of which count into this file."""
    path = tmp_path / "statements"
    deployed.settings = {FILE: str(path)}
    for side in SIDES:
        deployed.worker(side, app="tests.acceptance.trial_worker", queues=side, concurrency=1)
    deployed.add("s", sys.executable, "-m", "tests.acceptance.counted_scheduler")
    deployed.ready()
    return path


@dataclass(frozen=True, slots=True)
class Cost:
    """What so many Tasks cost their workers, look-outs apart."""

    tasks: int
    statements: int
    transactions: int
    claims: int

    def __sub__(self, other: Cost) -> Cost:
        return Cost(
            self.tasks - other.tasks,
            self.statements - other.statements,
            self.transactions - other.transactions,
            self.claims - other.claims,
        )


def _cost(deployed: Cluster, path: Path, tasks: int, executions: int) -> Cost:
    """Run so many executions of a chain of Tasks, one after the other."""
    machine = f"chain-{tasks}"
    deployed.service.deploy(machine, _chain(tasks))
    before, there = len(statements(path)), len(deployed.executions(machine))
    for number in range(there, there + executions):
        deployed.service.start_execution(machine, f"e{number}")
        deployed.ended(machine, number + 1)
    counted = [one for one in statements(path)[before:] if not one.thread.startswith(LOOK_OUT)]
    assert not any("INTO history" in one.text for one in counted if one.role == "scheduler")
    sent = [one for one in counted if one.role == "worker"]
    return Cost(
        tasks * executions,
        sum(one.text != COMMIT for one in sent),
        sum(one.ends_a_write for one in sent),
        sum(one.alone and one.text.startswith("WITH ready") for one in sent),
    )


def test_a_task_by_way_of_the_broker_costs_at_most_six_statements_and_two_transactions(
    deployed: Cluster, counted: Path
) -> None:
    _cost(deployed, counted, 1, 2)  # what is read once per process
    costs = []
    for _ in range(4):  # a slot that was woken late looks once more: not the Task's cost
        start_and_end = _cost(deployed, counted, 5, 3)
        whole = _cost(deployed, counted, 25, 3)
        assert whole.claims >= whole.tasks
        costs.append(whole - start_and_end)
        if costs[-1].statements <= 6 * costs[-1].tasks:
            break
    least = min(costs, key=lambda cost: cost.statements)
    assert least.statements <= 6 * least.tasks, costs
    assert least.transactions <= 2 * least.tasks, costs


def _window(path: Path) -> Counter[tuple[str, str]]:
    before = len(statements(path))
    time.sleep(WINDOW_SECONDS)
    return kinds(statements(path)[before:])


def test_resting_executions_cost_not_one_statement(deployed: Cluster, counted: Path) -> None:
    rests = {"Type": "Wait", "Seconds": 86_400, "End": True}
    deployed.service.deploy("rest", json.dumps({"StartAt": "R", "States": {"R": rests}}))
    revision = deployed.parts.store.machines.find("rest")
    assert revision is not None
    # Nobody is called lost right after a start: the sweeps for them come later.
    until(lambda: all(any(sweep in one.text for one in statements(counted)) for sweep in SWEEPS))
    none = _window(counted)
    starts = [Start("rest", revision.revision, f"r{n}", Payload.of(None)) for n in range(RESTING)]
    started = deployed.parts.engine.start_many(starts)
    assert sum(one.created for one in started) == RESTING
    many = _window(counted)
    # The same look-outs at the same pace: a tick more or less, and announcements, are chance.
    for (role, kind), count in (many - none).items():
        assert none[role, kind] > 0, f"{role}: {kind} was not sent before"
        assert count <= max(2, none[role, kind] * 0.2), f"{role}: {count} more of {kind}"
