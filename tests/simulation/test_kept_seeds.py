"""Seeds that found something once, and by which it would be found again."""

from __future__ import annotations

import pytest

from orchestrator import main

SEEDS: dict[int, str] = {
    10: "a call that led out of a Map while effects of its iterations had not ended",
    90: "the late result of a frozen worker ended an execution whose task had been claimed again",
    165: "a clock that jumps back after a lease was over",
    263: "three executions wait for workers that come late",
    707: "a fork was left by what was undone while one inside it counted its iterations",
    1039: "a call that found a full history",
    1126: "two kept calls left the same Map in one decision",
    1184: "a fork was left for good while one inside it counted its iterations",
    1546: "a kept call left a fork while iterations of one below it began",
    1811: "a door that dies when it has stopped an execution",
    2709: "the history was full when what a Catcher undid was undone",
    4520: "a task that is claimed before it was scheduled, by a clock that has jumped back",
    4612: "a kept call left an outer fork, and the next was heard inside it",
}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_that_failed_once_holds(seed: int) -> None:
    (report,) = main.simulation(seed, 1, logging=False)
    assert not report.faults, "\n".join(report.lines())
