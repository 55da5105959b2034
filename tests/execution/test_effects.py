"""Effects: in the order of their turns, and nothing waits for them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.execution.awaiting import ACCEPTED, OVER, machine, waiting
from tests.execution.harness import World
from tests.execution.outcomes import Call as Work
from tests.execution.outcomes import Hung, Raised, Returned


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
    retry = [{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 1}]
    definition = reviewed()
    definition["States"]["A"]["OnEnter"] |= {limit: 5, "Retry": retry}
    world = World(definition, handler=lambda _: Hung()).start()
    world.wait(60)
    opened = next(iter(world.effects().values()))
    assert (opened.status.value, len(world.calls)) == ("failed", 2)
    assert opened.effect is not None
    assert opened.effect.error == "States.Timeout"
