"""Seeds that found something once, and by which it would be found again."""

from __future__ import annotations

import pytest

from orchestrator import main

SEEDS: dict[int, str] = {
    165: "a clock that jumps back after a lease was over",
    263: "three executions wait for workers that come late",
}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_that_failed_once_holds(seed: int) -> None:
    (report,) = main.simulation(seed, 1, logging=False)
    assert not report.faults, "\n".join(report.lines())
