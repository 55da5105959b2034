"""The whole under seeded faults: nothing that must not happen, and everything that may."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from orchestrator import main
from orchestrator.simulation.report import ENOUGH_SEEDS, Report, Summary
from orchestrator.simulation.sometimes import Sometimes

ROOT = Path(__file__).resolve().parents[2]


def simulated(*arguments: str, hash_seed: str = "0") -> str:
    """Run the command in a process of its own, which leaves nothing open; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "orchestrator", "simulate", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    return done.stdout


def test_two_hundred_seeds_hold_and_come_to_everything_that_may_happen() -> None:
    simulation = main.simulation(1, 200, logging=False)
    for report in simulation:
        assert not report.faults, "\n".join(report.lines())
    assert simulation.summary.passed, list(simulation.summary.lines())


def test_the_same_seeds_give_the_same_log_to_the_letter() -> None:
    arguments = ("--seed", "21", "--seeds", "4", "--log")
    first = simulated(*arguments, hash_seed="1")
    assert len(first.splitlines()) > 100
    assert first.endswith("\npassed: 0 of 4 seeds failed\n")
    assert simulated(*arguments, hash_seed="2") == first


def test_a_seed_gives_the_same_log_alone_as_behind_others() -> None:
    *_, behind = main.simulation(31, 3, logging=True)
    (alone,) = main.simulation(33, 1, logging=True)
    assert alone.log == behind.log


def test_the_last_line_is_the_verdict_and_names_the_seeds() -> None:
    summary = Summary()
    summary.add(Report(7, (), Counter(), ()))
    assert list(summary.lines()) == ["passed: 0 of 1 seeds failed"]
    summary.add(Report(9, ("it never ends",), Counter(), ()))
    assert [*summary.lines()][-1] == "FAILED: 1 of 2 seeds failed: 9"
    for seed in range(ENOUGH_SEEDS):
        summary.add(Report(seed, (), Counter(list(Sometimes)[1:]), ()))
    summary.failed.clear()
    never = f"but it has never happened that {next(iter(Sometimes))}"
    assert [*summary.lines()][-1] == f"FAILED: 0 of {ENOUGH_SEEDS + 2} seeds failed, {never}"
