"""A loop of states that never rests is cut and continued, behind what already waits.

`python -m tests.engine.test_loops 100000` prints what a long one costs, and fails as the test does.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from orchestrator.asl.limits import DEFAULT
from orchestrator.execution.frame import ExecutionStatus
from orchestrator.store import migrate
from tests.engine.pump import Pump

MEBIBYTE = 1024 * 1024
MOST_MORE_BYTES = 32 * MEBIBYTE
CUT = replace(DEFAULT, states_per_transaction=50)


def _counts_to(rounds: int) -> str:
    """A machine of two states a round."""
    add = {
        "Type": "Pass",
        "Parameters": {"n.$": "States.MathAdd($.n, 1)"},
        "Next": "Enough",
    }
    rule = {"Variable": "$.n", "NumericGreaterThanEquals": rounds, "Next": "Done"}
    enough = {"Type": "Choice", "Choices": [rule], "Default": "Add"}
    states = {"Add": add, "Enough": enough, "Done": {"Type": "Succeed"}}
    return json.dumps({"StartAt": "Add", "States": states})


def test_a_loop_of_five_thousand_states_ends_with_every_state_on_record(database_url: str) -> None:
    with Pump(database_url, CUT) as pump:
        address = pump.start(_counts_to(2_500), '{"n": 0}')
        pump.run(address)
        found = pump.service.describe_execution(address)
        events = pump.service.whole_history(address)

    assert found.execution.status is ExecutionStatus.SUCCEEDED
    assert found.output is not None
    assert found.output.value == {"n": 2_500}
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    assert sum(event.type.endswith("StateEntered") for event in events) == 5_001


def test_what_starts_meanwhile_ends_before_the_loop_has_had_twenty_turns(database_url: str) -> None:
    with Pump(database_url, CUT) as pump:
        loop = pump.start(_counts_to(1_000_000), '{"n": 0}', "loop")
        for _ in range(3):
            pump.turn()

        pump.service.deploy("other", _counts_to(100))
        other = pump.service.start_execution("other", "short", '{"n": 0}').address
        before = pump.service.describe_execution(loop).execution.version
        pump.run(other)
        turns = pump.service.describe_execution(loop).execution.version - before

    assert 0 < turns < 20


def test_a_loop_can_be_stopped(database_url: str) -> None:
    with Pump(database_url, CUT) as pump:
        loop = pump.start(_counts_to(1_000_000), '{"n": 0}')
        pump.turn()
        pump.service.stop_execution(loop, "Enough", "it never ends")

        assert pump.service.describe_execution(loop).execution.status is ExecutionStatus.ABORTED
        assert not pump.turn()


def test_a_long_loop_needs_no_more_memory_than_a_short_one() -> None:
    command = [sys.executable, "-m", "tests.engine.test_loops", "5000"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)

    assert json.loads(answer.stdout)["more_bytes"] <= MOST_MORE_BYTES


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _run_alone(states: int) -> dict[str, int]:
    """What a loop adds to the memory of this process, after a short one."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'loop.db'}"
        migrate(url)
        with Pump(url, CUT) as pump:
            pump.run(pump.start(_counts_to(250), '{"n": 0}', "short"))
            before = _peak_bytes()
            pump.run(pump.start(_counts_to(states // 2), '{"n": 0}', "long"))
    return {"states": states, "more_bytes": _peak_bytes() - before}


def _main(states: int) -> int:
    found = _run_alone(states)
    sys.stdout.write(json.dumps(found) + "\n")
    return int(found["more_bytes"] > MOST_MORE_BYTES)


if __name__ == "__main__":
    sys.exit(_main(int((sys.argv[1:] or ["100000"])[0])))
