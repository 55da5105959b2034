"""Await: what a call comes to, one execution and one frame at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.execution.frame import RestsOn, Timer
from tests.execution.definitions import states, task
from tests.execution.harness import START, World
from tests.execution.outcomes import Call as Work
from tests.execution.outcomes import Raised, Returned

CALLS: dict[str, Any] = {"pay": {}, "ship": {}, "cancel": {}}
OVER = {"Type": "Succeed", "On": {"*": {"Refuse": "it is over"}}}


def waiting(on: Any, **fields: Any) -> dict[str, Any]:
    """An Await that answers these calls; it refuses all others."""
    return {"Type": "Await", "On": {"*": {"Refuse": "not now"}, **on}, **fields}


def machine(language: str = "JSONPath", /, **named: Any) -> dict[str, Any]:
    return {**states(**named), "Calls": CALLS, "QueryLanguage": language}


ACCEPTED = {"verdict": "accepted", "call": "pay", "from": "A", "to": "Over"}


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


# ------------------------------------------------------------------------------- kept calls


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


# ---------------------------------------------------------------------------------- timers


def test_timers_fire_once_each_by_moment_and_the_one_that_leads_away_ends_the_rest() -> None:
    effect = {"Resource": "celery:remind"}
    after = [
        {"Seconds": 30, "Next": "Over"},
        {"Seconds": 20, "Effect": effect},
        {"Seconds": 10, "Effect": effect},
        {"Seconds": 40, "Effect": effect},
    ]
    world = World(machine(A=waiting({}, After=after), Over=OVER)).start()
    world.wait(60)
    fired = [event.details["timer"] for event in world.history if event.type == "TimerFired"]
    assert fired == [2, 1, 0]
    assert [call.resource for call in world.calls] == ["celery:remind"] * 2
    assert world.history[-1].at == START + timedelta(seconds=30)
    assert world.status == "SUCCEEDED"


def test_several_that_are_due_at_once_fire_by_moment_then_by_place() -> None:
    effect = {"Resource": "celery:remind"}
    after = [{"Seconds": seconds, "Effect": effect} for seconds in (3, 2, 2, 1)]
    world = World(machine(A=waiting({"pay": {"Next": "Over"}}, After=after), Over=OVER)).start()
    world.now += timedelta(seconds=5)
    event = world.next_event()
    assert event is not None
    world.tell(event)
    fired = [event.details["timer"] for event in world.history if event.type == "TimerFired"]
    assert fired == [3, 1, 2, 0]
    assert world.only_frame().wake_at is None


def test_the_timer_that_leads_away_is_the_last_to_fire() -> None:
    effect = {"Resource": "celery:remind"}
    after = [{"Seconds": 1, "Effect": effect}, {"Seconds": 2, "Next": "Over"}]
    after += [{"Seconds": 3, "Effect": effect}]
    world = World(machine(A=waiting({}, After=after), Over=OVER)).start()
    world.now += timedelta(seconds=5)
    event = world.next_event()
    assert event is not None
    world.tell(event)
    fired = [event.details["timer"] for event in world.history if event.type == "TimerFired"]
    assert (fired, world.status) == ([0, 1], "SUCCEEDED")


def test_an_overdue_timer_that_has_not_fired_has_not_happened() -> None:
    after = [{"Seconds": 1, "Next": "Late"}]
    definition = machine(A=waiting({"pay": {"Next": "Over"}}, After=after), Over=OVER, Late=OVER)
    world = World(definition).start()
    world.now += timedelta(seconds=9)
    assert world.call("pay") == ACCEPTED


@pytest.mark.parametrize(
    ("language", "moment"),
    [
        ("JSONPath", {"SecondsPath": "$.s"}),
        ("JSONPath", {"TimestampPath": "$.t"}),
        ("JSONPath", {"Timestamp": "2026-11-30T12:00:07Z"}),
        ("JSONata", {"Seconds": "{% $states.input.s %}"}),
        ("JSONata", {"Timestamp": "{% $states.input.t %}"}),
    ],
)
def test_a_timer_says_when_as_a_wait_does(language: str, moment: Any) -> None:
    after = [{**moment, "Next": "Over"}]
    world = World(machine(language, A=waiting({}, After=after), Over=OVER))
    world.start({"s": 7, "t": "2026-11-30T12:00:07Z"}).finish()
    assert world.seconds == 7


def test_a_timer_that_cannot_be_set_fails_the_state() -> None:
    after = [{"SecondsPath": "$.none", "Next": "Over"}]
    world = World(machine(A=waiting({}, After=after), Over=OVER)).start()
    assert (world.status, world.error) == ("FAILED", "States.Runtime")


# --------------------------------------------------------------------------------- effects


def effects_of(world: World) -> list[str]:
    return [call.resource.removeprefix("celery:") for call in world.calls]


def the(name: str, **fields: Any) -> dict[str, Any]:
    return {"Resource": f"celery:{name}", **fields}


def reviewed(**on: Any) -> dict[str, Any]:
    return machine(
        A=waiting(
            {"pay": {"Next": "Over", "Effect": the("thank")}, "ship": {"Stay": True}, **on},
            OnEnter=the("open"),
            OnExit=the("close"),
        ),
        Over=OVER,
    )


def test_effects_follow_entry_exit_and_reaction_in_the_order_of_their_turns() -> None:
    world = World(reviewed()).start({"n": 1})
    assert [f.status.value for f in world.effects().values()] == ["resting"]
    world.call("pay")
    assert world.status == "SUCCEEDED"
    assert [f.status.value for f in world.effects().values()] == ["resting", "pending", "pending"]
    world.wait(1)
    assert effects_of(world) == ["open", "thank", "close"]
    assert [f.status.value for f in world.effects().values()] == ["ended"] * 3
    assert all(call.input == {"n": 1} for call in world.calls)
    scheduled = [event for event in world.history if event.type == "EffectScheduled"]
    assert [f"!{event.id}" for event in scheduled] == list(world.effects())


def test_an_effect_knows_who_ran_it_and_when() -> None:
    def handler(call: Work) -> Any:
        return Raised("Down") if call.resource == "celery:close" else Returned(None)

    world = World(reviewed(), handler=handler).start()
    world.call("pay")
    before = world.now
    world.wait(3_600)
    for frame in world.effects().values():
        note = frame.effect
        assert note is not None
        assert note.worker == "worker"
        assert note.begun_at is not None
        assert note.ended_at is not None
        assert before <= note.begun_at <= note.ended_at <= world.now
        assert note.error == ("Down" if frame.status.value == "failed" else None)


def test_an_effect_holds_nothing_up_and_is_tried_eight_times_with_one_key() -> None:
    world = World(reviewed(), handler=lambda _: Raised("Down")).start()
    world.call("pay")
    assert world.status == "SUCCEEDED"
    world.wait(3_600)
    assert effects_of(world) == ["open"] * 8 + ["thank", "close"] * 8 or (
        sorted(effects_of(world)[8:]) == ["close"] * 8 + ["thank"] * 8
    )
    keys = {(call.resource, call.key) for call in world.calls}
    assert len(keys) == 3
    assert [f.status.value for f in world.effects().values()] == ["failed"] * 3
    note = next(iter(world.effects().values())).effect
    assert note is not None
    assert note.error == "Down"


def test_an_effect_that_has_failed_for_good_lets_the_next_go_and_can_be_run_again() -> None:
    from orchestrator.execution.events import EffectRetried

    down = {"celery:open"}

    def handler(call: Work) -> Any:
        return Raised("Down") if call.resource in down else Returned(None)

    retry = [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 0}]
    definition = reviewed()
    definition["States"]["A"]["OnEnter"]["Retry"] = retry
    world = World(definition, handler=handler).start()
    world.call("pay")
    world.wait(1)
    assert effects_of(world) == ["open", "thank", "close"]
    failed = next(f for f in world.effects().values() if f.status.value == "failed")
    down.clear()
    world.tell(EffectRetried(world.number, failed.id))
    world.wait(1)
    assert world.frames[failed.id].status.value == "ended"
    assert [call.key for call in world.calls if call.resource == "celery:open"] == [
        world.calls[0].key
    ] * 2


def test_an_effect_that_has_ended_is_not_run_again() -> None:
    from orchestrator.execution.decision import Stale
    from orchestrator.execution.events import EffectRetried

    world = World(reviewed()).start()
    world.wait(1)
    (opened,) = world.effects()
    assert isinstance(world.tell(EffectRetried(world.number, opened)), Stale)
    world.wait(1)
    assert effects_of(world) == ["open"]


@pytest.mark.parametrize("end", ["stop", "deadline", "timer"])
def test_exit_effects_run_on_every_exit(end: str) -> None:
    definition = reviewed()
    definition["TimeoutSeconds"] = 60
    if end == "timer":
        definition["States"]["A"]["After"] = [{"Seconds": 5, "Next": "Over"}]
    world = World(definition).start()
    if end == "stop":
        world.stop()
    world.wait(61)
    assert world.execution.ended_at is not None
    assert effects_of(world) == ["open", "close"]
    assert world.types.index("EffectScheduled") < len(world.types) - 1
    assert world.types[-1].startswith("Execution")


def test_staying_starts_effects_without_those_of_entry_and_exit() -> None:
    world = World(reviewed(cancel={"Stay": True, "Effect": [the("a"), the("b")]})).start()
    world.wait(1)
    world.call("cancel")
    assert [f.status.value for f in world.effects().values()][1:] == ["resting", "resting"]
    world.wait(1)
    assert effects_of(world) == ["open", "a", "b"]


def test_the_arguments_of_effects_see_the_call_but_those_of_the_next_entry_do_not() -> None:
    exists = {"seen": "{% $exists($states.context.Call) ? $states.context.Call.Name : null %}"}
    definition = machine(
        "JSONata",
        A=waiting(
            {"pay": {"Next": "B", "Effect": the("a", Arguments=exists)}},
            OnExit=the("b", Arguments=exists),
        ),
        B=waiting({"pay": {"Next": "Over"}}, OnEnter=the("c", Arguments=exists)),
        Over=OVER,
    )
    world = World(definition).start()
    world.call("pay")
    world.wait(1)
    seen = {call.resource: call.input["seen"] for call in world.calls}  # type: ignore[index,call-overload]
    assert seen == {"celery:a": "pay", "celery:b": "pay", "celery:c": None}


def test_arguments_of_an_exit_that_cannot_be_evaluated_ask_for_attention_and_hold_nothing() -> None:
    definition = reviewed()
    definition["States"]["A"]["OnExit"] = the("close", Parameters={"a.$": "$.none"})
    world = World(definition).start()
    assert world.call("pay") == ACCEPTED
    failed = [f for f in world.effects().values() if f.status.value == "failed"]
    assert [f.task.resource for f in failed if f.task] == ["close"]
    world.wait(1)
    assert effects_of(world) == ["open", "thank"]


def test_an_effect_of_a_self_transition_is_closed_before_it_is_opened_again() -> None:
    world = World(reviewed(ship={"Next": "A"})).start()
    world.call("ship")
    world.wait(1)
    assert effects_of(world) == ["open", "close", "open"]


@pytest.mark.parametrize("limit", ["TimeoutSeconds", "HeartbeatSeconds"])
def test_an_effect_has_time_limits_of_its_own(limit: str) -> None:
    from tests.execution.outcomes import Hung

    retry = [{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 1}]
    definition = reviewed()
    definition["States"]["A"]["OnEnter"] |= {limit: 5, "Retry": retry}
    world = World(definition, handler=lambda _: Hung()).start()
    world.wait(60)
    opened = next(iter(world.effects().values()))
    assert (opened.status.value, len(world.calls)) == ("failed", 2)
    assert opened.effect is not None
    assert opened.effect.error == "States.Timeout"
