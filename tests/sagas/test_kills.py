"""The short form of the kills of sagas; `make proof` runs the long one."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path

import pytest

from orchestrator import crashpoint, main
from orchestrator.dispatch.local import LocalBell
from orchestrator.store import migrate
from tests.sagas.kills import PAIRS, Toll, lived, rage
from tests.sagas.test_trade import TRIP, in_words, nested
from workers.ledger import kept_at


def test_sagas_survive_kills_at_every_place_in_steps_and_in_compensations(tmp_path: Path) -> None:
    toll = Toll(wanted=20)
    rage(toll, 3, [], tmp_path)
    assert toll.killed.total() >= 20
    assert toll.killed.keys() == PAIRS


def test_what_a_child_leaves_is_taken_over_once_whoever_dies_between_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'children.db'}"
    monkeypatch.setenv("ORCHESTRATOR_LEDGER_URL", url)
    migrate(url)
    given = main.settings(url)
    parts = main.build(given, LocalBell())
    parts.service.deploy("trip", json.dumps(TRIP))
    parts.service.deploy("parent", json.dumps(nested(adopts=True, after="last")))
    trouble = json.dumps({"trouble": {"fail": ["last"]}})
    address = parts.service.start_execution("parent", "one", trouble).address
    for point in crashpoint.OF_CHILDREN:
        assert lived(url, address, f"{point}@1") == -signal.SIGKILL
    assert lived(url, address, "") == 0
    (child,) = parts.service.list_executions("trip")
    assert parts.service.compensations.of(f"trip:{child.name}") == []
    parts.store.dispose()
    with kept_at(url) as ledger:
        undone = in_words([one.what for one in ledger.effects(address)])[1:]
    assert (undone[0], undone[-2:]) == ("undo tickets", ["undo book", "undo first"])
    assert Counter(undone[1:-2]) == Counter(["undo x1", "undo x2", "undo y1"])
