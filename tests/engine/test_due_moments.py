"""Moments go to their executions when they are due; those that cannot be decided wait."""

from __future__ import annotations

import json
import time

import pytest

from orchestrator import scheduler
from orchestrator.engine import SOON
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.scheduler import DueMoments
from tests.engine.poison import spoil
from tests.engine.pump import Pump

SECONDS = 2.5
ERROR = "an event could not be decided"


def _waits(seconds: int) -> str:
    wait = {"Type": "Wait", "Seconds": seconds, "End": True}
    return json.dumps({"StartAt": "Wait", "States": {"Wait": wait}})


def _loops(times: int) -> str:
    """A machine of more states than one decision follows."""
    passes = {f"P{n}": {"Type": "Pass", "Next": f"P{n + 1}"} for n in range(times)}
    return json.dumps({"StartAt": "P0", "States": {**passes, f"P{times}": {"Type": "Succeed"}}})


def _status(pump: Pump, address: str) -> ExecutionStatus:
    return pump.service.describe_execution(address).execution.status


def test_a_moment_that_cannot_be_decided_neither_spins_nor_stands_in_the_way(
    database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scheduler, "DUE_BATCH", 2)
    with Pump(database_url) as pump:
        pump.service.deploy("broken", _waits(1))
        for number in range(3):
            pump.service.start_execution("broken", f"b{number}")
        good = pump.start(_waits(1))
    spoil(database_url, "broken")
    with Pump(database_url) as fresh:
        moments = DueMoments(fresh.store, fresh.engine, poll_seconds=0.1)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            moments.tick()
            time.sleep(0.01)
        assert _status(fresh, good) is ExecutionStatus.SUCCEEDED
        assert _status(fresh, "broken:b0") is ExecutionStatus.RUNNING
    said = capsys.readouterr()
    # Each of the three is tried when it is due and after a pause of a second, not at every tick.
    assert 3 <= (said.out + said.err).count(ERROR) <= 3 * 2


def test_a_moment_is_handled_at_its_time_though_the_ticks_are_far_apart(sqlite_url: str) -> None:
    with Pump(sqlite_url) as pump:
        address = pump.start(_waits(1))
        DueMoments(pump.store, pump.engine, poll_seconds=3.0).tick()
        assert _status(pump, address) is ExecutionStatus.SUCCEEDED
        entered, left = pump.service.whole_history(address)[1:3]
        assert 1.0 <= (left.at - entered.at).total_seconds() < 2.0


def test_a_moment_that_another_process_has_set_for_now_is_told(postgres_url: str) -> None:
    heard: list[str | None] = []
    with Pump(postgres_url) as pump:
        stop = pump.store.listen(heard.append)
        until = time.monotonic() + SECONDS
        while None not in heard and time.monotonic() < until:
            time.sleep(0.01)
        pump.start(_waits(5), name="late")
        pump.start(_loops(2_000), name="now")
        while SOON not in heard and time.monotonic() < until:
            time.sleep(0.01)
        stop()
    assert heard.count(SOON) == 1
