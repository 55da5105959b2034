"""Calls that are kept: in their order, until there is a verdict."""

from __future__ import annotations

import pytest

from tests.execution.awaiting import ACCEPTED, OVER, machine, waiting
from tests.execution.definitions import task
from tests.execution.harness import World


def test_a_call_that_arrives_while_a_task_runs_is_kept_and_decided_at_the_next_await() -> None:
    definition = machine(Work=task(Next="A"), A=waiting({"pay": {"Next": "Over"}}), Over=OVER)
    world = World(definition, served=False).start()
    assert world.call("pay") == {"verdict": "pending", "call": "pay"}
    assert world.call("ship", call_id="s")["verdict"] == "refused"  # no state to come takes it
    assert world.execution.kept == 1
    world.served = True
    world.finish()
    assert world.verdict("c1") == ACCEPTED
    assert world.execution.kept == 0


def test_kept_calls_are_decided_in_the_order_of_their_arrival_until_the_frame_has_left() -> None:
    definition = machine(
        Work=task(Next="A"),
        A=waiting({"pay": {"Next": "More"}, "cancel": {"Stay": True}}),
        More=task(Next="B"),
        B=waiting({"cancel": {"Next": "Over"}}),
        Over=OVER,
    )
    world = World(definition, served=False).start()
    for name in ("cancel", "pay", "cancel", "pay"):
        assert world.call(name)["verdict"] == "pending"
    world.served = True
    world.finish()
    assert [world.verdict(f"c{n}")["verdict"] for n in (1, 2, 3, 4)] == [
        "accepted",
        "accepted",
        "accepted",
        "refused",
    ]
    assert world.verdict("c1")["to"] == "More"
    assert world.verdict("c3") == {
        "verdict": "accepted",
        "call": "cancel",
        "from": "B",
        "to": "Over",
    }
    assert world.verdict("c4")["reason"] == "it is over"


def test_a_postponed_call_waits_for_the_next_await() -> None:
    definition = machine(
        A=waiting({"ship": {"Postpone": True}, "pay": {"Next": "B"}}),
        B=waiting({"ship": {"Next": "Over"}}),
        Over=OVER,
    )
    world = World(definition).start()
    assert world.call("ship") == {"verdict": "pending", "call": "ship"}
    assert world.call("pay") == {**ACCEPTED, "to": "Over"}
    assert world.verdict("c1")["from"] == "B"


@pytest.mark.parametrize("end", ["call", "stop", "failure", "deadline"])
def test_a_kept_call_is_refused_at_the_latest_when_the_execution_ends(end: str) -> None:
    fail = {"Type": "Fail", "On": {"*": {"Refuse": "it has failed"}}}
    definition = machine(
        A=waiting(
            {"ship": {"Postpone": True}, "pay": {"Next": "Over"}, "cancel": {"Next": "Fail"}}
        ),
        Over={"Type": "Succeed"},
        Fail=fail,
    )
    definition["TimeoutSeconds"] = 60
    world = World(definition).start()
    assert world.call("ship")["verdict"] == "pending"
    if end == "stop":
        world.stop()
    elif end == "deadline":
        world.wait(61)
    else:
        world.call("pay" if end == "call" else "cancel")
    assert world.execution.ended_at is not None
    reason = "it has failed" if end == "failure" else "the execution has ended"
    said = world.verdict("c1")
    assert (said["verdict"], said["reason"]) == ("refused", reason)


def test_what_has_ended_answers_as_its_final_state_says() -> None:
    world = World(machine(A=waiting({"pay": {"Next": "Over"}}), Over=OVER)).start()
    world.call("pay")
    assert world.call("ship") == {
        "verdict": "refused",
        "call": "ship",
        "state": "Over",
        "reason": "it is over",
    }


def test_what_has_ended_elsewhere_says_that_it_has_ended() -> None:
    world = World(machine(A=waiting({"pay": {"Next": "Over"}}), Over=OVER)).start()
    world.stop()
    assert world.call("pay")["reason"] == "the execution has ended"


def test_no_more_calls_are_kept_than_may_be() -> None:
    from dataclasses import replace

    from orchestrator.asl.limits import DEFAULT

    definition = machine(Work=task(Next="A"), A=waiting({"pay": {"Next": "Over"}}), Over=OVER)
    world = World(definition, limits=replace(DEFAULT, kept_calls=2), served=False).start()
    assert [world.call("pay")["verdict"] for _ in range(3)] == ["pending", "pending", "refused"]


@pytest.mark.parametrize(("most", "verdict"), [(3, "refused"), (4, "accepted"), (5, "accepted")])
def test_a_call_that_finds_the_history_full_ends_the_execution(most: int, verdict: str) -> None:
    from orchestrator.asl.limits import Limits

    definition = machine(A=waiting({"pay": {"Next": "Over"}}), Over=OVER)
    world = World(definition, limits=Limits(history_events=most)).start()
    said = world.call("pay")
    assert said["verdict"] == verdict
    assert said.get("reason") in (None, "the execution has ended")
    assert (world.status, world.types[-1]) == ("FAILED", "ExecutionFailed")
    assert len(world.history) == most
    assert ("CallAccepted" in world.types) == (verdict == "accepted")
