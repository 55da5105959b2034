"""Await: what a call comes to, one execution and one frame at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.execution.frame import RestsOn, Timer
from tests.execution.awaiting import ACCEPTED, OVER, machine, waiting
from tests.execution.definitions import task
from tests.execution.harness import START, World


def test_an_await_rests_on_a_call_and_needs_nothing_else() -> None:
    world = World(machine(A=waiting({"pay": {"Next": "Over"}}), Over=OVER)).start()
    frame = world.only_frame()
    assert (frame.rests_on, frame.wake_at, frame.timers) == (RestsOn.CALL, None, ())
    assert world.types == ["ExecutionStarted", "AwaitStateEntered"]


def test_a_call_that_is_accepted_moves_the_frame_and_says_where_it_came_to_rest() -> None:
    world = World(machine(A=waiting({"pay": {"Next": "Over"}}), Over=OVER)).start({"n": 1})
    assert world.call("pay", {"p": 2}) == ACCEPTED
    assert world.types[2:] == [
        "CallAccepted",
        "AwaitStateExited",
        "SucceedStateEntered",
        "SucceedStateExited",
        "ExecutionSucceeded",
    ]
    assert world.result == {"n": 1}
    details = world.the("CallAccepted").details
    assert (details["name"], details["call"], details["callId"]) == ("A", "pay", "c1")


def test_a_refusal_changes_nothing_but_the_record() -> None:
    world = World(machine(A=waiting({"pay": {"Next": "Over"}}), Over=OVER)).start()
    before = (world.execution, dict(world.frames), list(world.history))
    assert world.call("ship") == {
        "verdict": "refused",
        "call": "ship",
        "state": "A",
        "reason": "not now",
    }
    assert (world.execution, world.frames, world.history) == before
    assert len(world.asked) == 1


def test_to_is_the_task_at_which_the_frame_comes_to_rest() -> None:
    definition = machine(
        A=waiting({"pay": {"Next": "Pass"}}),
        Pass={"Type": "Pass", "Next": "Work"},
        Work=task(Next="Over"),
        Over=OVER,
    )
    world = World(definition, served=False).start()
    assert world.call("pay") == {**ACCEPTED, "to": "Work"}


@pytest.mark.parametrize(
    ("language", "condition"),
    [
        ("JSONPath", {"Variable": "$$.Call.Input.cleared", "BooleanEquals": True}),
        ("JSONata", "{% $states.context.Call.Input.cleared = true %}"),
    ],
)
def test_the_first_reaction_whose_condition_holds_is_taken(language: str, condition: Any) -> None:
    reactions = [{"Condition": condition, "Next": "Over"}, {"Refuse": "not cleared"}]
    world = World(machine(language, A=waiting({"pay": reactions}), Over=OVER)).start()
    assert world.call("pay", {"cleared": False})["reason"] == "not cleared"
    assert world.call("pay", {"cleared": True}) == ACCEPTED


@pytest.mark.parametrize(
    ("language", "refusal"),
    [
        ("JSONPath", {"Refuse.$": "States.Format('not {}', $$.Call.Name)"}),
        ("JSONata", {"Refuse": "{% 'not ' & $states.context.Call.Name %}"}),
    ],
)
def test_a_reason_may_be_a_template(language: str, refusal: Any) -> None:
    world = World(machine(language, A=waiting({"*": refusal, "pay": {"Next": "Over"}}), Over=OVER))
    assert world.start().call("ship")["reason"] == "not ship"


@pytest.mark.parametrize(
    ("fields", "result"),
    [
        ({}, {"n": 1}),
        ({"ResultPath": "$.call"}, {"n": 1, "call": {"p": 2}}),
        ({"ResultPath": "$"}, {"p": 2}),
        ({"ResultPath": None}, {"n": 1}),
    ],
)
def test_a_result_path_places_the_input_of_the_call(fields: Any, result: Any) -> None:
    definition = machine(A=waiting({"pay": {"Next": "Over", **fields}}), Over=OVER)
    world = World(definition).start({"n": 1})
    world.call("pay", {"p": 2})
    assert world.result == result


def test_output_and_assign_see_the_input_and_the_call() -> None:
    pay = {
        "Next": "Over",
        "Assign": {"paid": "{% $states.context.Call.Input.p %}"},
        "Output": "{% $merge([$states.input, {'by': $states.context.Call.Id}]) %}",
    }
    over = {**OVER, "Output": "{% $merge([$states.input, {'paid': $paid}]) %}"}
    world = World(machine("JSONata", A=waiting({"pay": pay}), Over=over)).start({"n": 1})
    world.call("pay", {"p": 2}, call_id="me")
    assert world.result == {"n": 1, "by": "me", "paid": 2}


def test_a_reaction_that_stays_assigns_and_keeps_the_timers() -> None:
    pay = {"Stay": True, "Assign": {"times": "{% $exists($times) ? $times + 1 : 1 %}"}}
    over = {**OVER, "Output": "{% $times %}"}
    after = [{"Seconds": 10, "Next": "Over"}]
    world = World(machine("JSONata", A=waiting({"pay": pay}, After=after), Over=over)).start()
    stayed = {"verdict": "accepted", "call": "pay", "from": "A", "to": "A"}
    assert [world.call("pay"), world.call("pay")] == [stayed, stayed]
    assert world.only_frame().timers == (Timer(0, START + timedelta(seconds=10)),)
    world.wait(10)
    assert world.result == 2


def test_next_to_the_same_state_is_a_real_exit_and_entry() -> None:
    after = [{"Seconds": 10, "Next": "Over"}]
    definition = machine(A=waiting({"pay": {"Next": "A"}, "ship": {"Next": "Over"}}, After=after))
    definition["States"]["Over"] = OVER
    world = World(definition).start()
    world.wait(5)
    entry = world.only_frame().entry
    assert world.call("pay") == {**ACCEPTED, "to": "A"}
    frame = world.only_frame()
    assert frame.entry > entry
    assert frame.timers == (Timer(0, START + timedelta(seconds=15)),)
    assert world.types[-2:] == ["AwaitStateExited", "AwaitStateEntered"]


@pytest.mark.parametrize(
    ("language", "reaction"),
    [
        ("JSONPath", {"Condition": {"Variable": "$.none", "IsNull": True}, "Next": "Over"}),
        ("JSONata", {"Condition": "{% $states.input.none %}", "Next": "Over"}),
        ("JSONata", {"Next": "Over", "Output": "{% $error('no way') %}"}),
        ("JSONata", {"Next": "Over", "Assign": {"a": "{% $states.input.none %}"}}),
        (
            "JSONata",
            {
                "Stay": True,
                "Effect": {"Resource": "celery:x", "Arguments": "{% $states.input.none %}"},
            },
        ),
        (
            "JSONPath",
            {"Stay": True, "Effect": {"Resource": "celery:x", "Parameters": {"a.$": "$.none"}}},
        ),
    ],
)
def test_what_fails_to_evaluate_refuses_the_call_with_the_cause(
    language: str, reaction: Any
) -> None:
    reactions = [reaction, {"Refuse": "else"}] if "Condition" in reaction else reaction
    definition = machine(language, A=waiting({"pay": reactions, "ship": {"Next": "Over"}}))
    definition["States"]["Over"] = OVER
    world = World(definition).start()
    before = (world.execution, dict(world.frames), list(world.history))
    said = world.call("pay")
    assert said["verdict"] == "refused"
    assert said["reason"] != "else"
    assert said["reason"]
    assert (world.execution, world.frames, world.history) == before
