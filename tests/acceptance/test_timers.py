"""Moments take effect once and never early, however many schedulers look for them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from orchestrator.engine import Start
from orchestrator.execution.payload import Payload
from tests.acceptance.cluster import Cluster, until
from tests.acceptance.counting import FILE, statements

TIMERS = 1_000
LEAD_SECONDS = 6
WAITS = json.dumps(
    {
        "StartAt": "Wait",
        "States": {"Wait": {"Type": "Wait", "TimestampPath": "$.until", "End": True}},
    }
)


def test_1000_timers_due_in_one_second_take_effect_once_with_two_schedulers(
    deployed: Cluster, tmp_path: Path
) -> None:
    counted = tmp_path / "statements"
    deployed.settings = {FILE: str(counted)}
    for name in ("s1", "s2"):
        deployed.add(name, sys.executable, "-m", "tests.acceptance.counted_scheduler")
    store, service = deployed.parts.store, deployed.service
    service.deploy("wait", WAITS)
    machine = store.machines.find("wait")
    assert machine is not None
    until(lambda: len({one.pid for one in statements(counted)}) == 2, what="both to look")

    first = (store.now() + timedelta(seconds=LEAD_SECONDS)).replace(microsecond=0)
    due = {f"w{n}": first + timedelta(milliseconds=n) for n in range(TIMERS)}
    deployed.parts.engine.start_many(
        [Start("wait", machine.revision, name, _input(at)) for name, at in due.items()]
    )
    deployed.ended("wait", TIMERS)

    for run in deployed.executions("wait"):
        events = store.history(run.id)
        assert [event.type for event in events] == [
            "ExecutionStarted",
            "WaitStateEntered",
            "WaitStateExited",
            "ExecutionSucceeded",
        ]
        assert [event.id for event in events] == [1, 2, 3, 4]
        assert events[2].at >= due[run.name]
    written = Counter(one.pid for one in statements(counted) if "INTO history" in one.text)
    assert len(written) == 2, written


def _input(at: datetime) -> Payload:
    text = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Payload.of({"until": text})
