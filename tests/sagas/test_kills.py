"""The short form of the kills of sagas; `make proof` runs the long one."""

from __future__ import annotations

from pathlib import Path

from tests.sagas.kills import PAIRS, Toll, rage


def test_sagas_survive_kills_at_every_place_in_steps_and_in_compensations(tmp_path: Path) -> None:
    toll = Toll(wanted=20)
    rage(toll, 3, [], tmp_path)
    assert toll.killed.total() >= 20
    assert toll.killed.keys() == PAIRS
