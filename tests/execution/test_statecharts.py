"""Calls where several frames wait, and reactions that hold at several levels."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.execution.frame import RestsOn
from tests.execution.definitions import PASS, states, task
from tests.execution.harness import World
from tests.execution.outcomes import Call as Work
from tests.execution.outcomes import Raised, Returned

CALLS: dict[str, Any] = {"pay": {}, "ship": {}, "cancel": {}}
OVER: dict[str, Any] = {"Type": "Succeed"}


def waiting(on: Any, **fields: Any) -> dict[str, Any]:
    return {"Type": "Await", "On": on, **fields}


def branch(**named: Any) -> dict[str, Any]:
    return states(**named)


def parallel(*branches: Any, on: Any = None, **fields: Any) -> dict[str, Any]:
    around = {} if on is None else {"On": on}
    return {"Type": "Parallel", "Branches": list(branches), "Next": "After", **around, **fields}


def machine(on: Any = None, language: str = "JSONPath", **named: Any) -> dict[str, Any]:
    around = {} if on is None else {"On": on}
    return {
        **states(**named, After={"Type": "Pass", "Next": "Over"}, Over=OVER),
        "Calls": CALLS,
        "QueryLanguage": language,
        **around,
    }


NO = {"*": {"Refuse": "no"}}
END: dict[str, Any] = {"Type": "Pass", "End": True}


def resting(world: World) -> dict[str, str | None]:
    return {f.id: f.state for f in world.tree().values() if f.rests_on is RestsOn.CALL}


# ------------------------------------------------------------------------------ inheritance


def test_the_inner_reaction_wins_over_the_outer() -> None:
    inner = branch(A=waiting({"pay": {"Refuse": "inner"}, "ship": {"Refuse": "no"}}))
    inner["States"]["End"] = END
    inner["States"]["A"]["On"]["cancel"] = {"Next": "End"}
    fork = parallel(inner, on={"pay": {"Next": "After"}})
    world = World(machine(F=fork)).start()
    assert world.call("pay")["reason"] == "inner"


@pytest.mark.parametrize(
    ("own", "around", "outermost", "reason"),
    [
        ({"pay": {"Refuse": "own"}, "*": {"Refuse": "*"}}, {}, {}, "own"),
        ({"*": {"Refuse": "own *"}}, {"pay": {"Refuse": "around"}}, {}, "own *"),
        ({}, {"pay": {"Refuse": "around"}, "*": {"Refuse": "*"}}, {}, "around"),
        ({}, {"*": {"Refuse": "around *"}}, {"pay": {"Refuse": "machine"}}, "around *"),
        ({}, {}, {"*": {"Refuse": "machine *"}}, "machine *"),
    ],
)
def test_the_own_name_comes_first_then_the_own_rest_then_what_is_around(
    own: Any, around: Any, outermost: Any, reason: str
) -> None:
    others = {"ship": {"Refuse": "no"}, "cancel": {"Next": "E"}}
    inner = branch(A=waiting({**others, **own}), E=END)
    fork = parallel(inner, on=around or None)
    world = World(machine(outermost or None, F=fork)).start()
    assert world.call("pay")["reason"] == reason


@pytest.mark.parametrize("level", ["Parallel", "machine"])
def test_an_inherited_reaction_leaves_the_fork_and_ends_all_its_branches(level: str) -> None:
    cancel = {"cancel": {"Next": "After"}}
    refuse = {"pay": {"Refuse": "no"}, "ship": {"Refuse": "no"}}
    effects = {"OnEnter": {"Resource": "celery:open"}, "OnExit": {"Resource": "celery:close"}}
    wait = branch(A=waiting(refuse, **effects), B=PASS)
    wait["States"]["A"]["After"] = [{"Seconds": 900, "Next": "B"}]
    other = branch(T=task(TimeoutSeconds=99))
    fork = parallel(wait, other, on=cancel if level == "Parallel" else None)
    world = World(machine(cancel if level == "machine" else None, F=fork), served=False)
    world.start({"n": 1})
    said = world.call("cancel")
    assert said == {"verdict": "accepted", "call": "cancel", "from": "F", "to": "Over"}
    assert world.status == "SUCCEEDED"
    assert world.result == {"n": 1}
    assert world.types.count("AwaitStateAborted") == 1
    assert world.types.count("TaskStateAborted") == 1
    assert [one.type for one in world.history if one.type == "ParallelStateExited"]
    world.served = True
    world.wait(1)
    assert [call.resource for call in world.calls] == ["celery:open", "celery:close"]


def test_an_inherited_reaction_sees_the_data_of_its_level_and_is_carried_out_once() -> None:
    def inner(name: str) -> dict[str, Any]:
        return branch(
            **{
                f"P{name}": {"Type": "Pass", "Result": f"inner {name}", "Next": name},
                name: waiting({"pay": {"Refuse": "no"}, "cancel": {"Refuse": "no"}}),
                f"E{name}": END,
            }
        )

    one, two = inner("A"), inner("B")
    for part, name in ((one, "A"), (two, "B")):
        part["States"][name]["After"] = [{"Seconds": 900, "Next": f"E{name}"}]
    effect = {"Resource": "celery:note"}
    on = {"ship": {"Stay": True, "Effect": effect}}
    world = World(machine(F=parallel(one, two, on=on))).start({"outer": 1})
    assert world.call("ship") == {
        "verdict": "accepted",
        "call": "ship",
        "from": "F",
        "to": "F",
    }
    world.wait(1)
    assert [(call.resource, call.input) for call in world.calls] == [("celery:note", {"outer": 1})]
    assert world.types.count("CallAccepted") == 1
    assert len(resting(world)) == 2


def test_the_innermost_level_that_accepts_is_carried_out_alone() -> None:
    deep = branch(A=waiting({"pay": {"Refuse": "no"}, "ship": {"Refuse": "no"}}), E=END)
    deep["States"]["A"]["After"] = [{"Seconds": 900, "Next": "E"}]
    inner = {"Type": "Parallel", "Branches": [deep], "On": {"cancel": {"Next": "E2"}}, "Next": "E2"}
    mid = branch(Inner=inner, E2=END)
    shallow = branch(B=waiting({"pay": {"Refuse": "no"}, "ship": {"Refuse": "no"}}), E3=END)
    shallow["States"]["B"]["After"] = [{"Seconds": 900, "Next": "E3"}]
    fork = parallel(shallow, mid, on={"cancel": {"Next": "Over"}})
    world = World(machine(F=fork)).start()
    assert world.call("cancel")["from"] == "Inner"
    assert list(resting(world).values()) == ["B"]
    assert world.call("cancel")["from"] == "F"
    assert world.status == "SUCCEEDED"


def test_next_of_a_machine_reaction_leads_to_the_top_level() -> None:
    cancel = {"cancel": {"Next": "After"}}
    wait = waiting({"pay": {"Next": "Over"}, "ship": {"Refuse": "no"}})
    world = World(machine(cancel, A=wait)).start()
    assert world.call("cancel") == {
        "verdict": "accepted",
        "call": "cancel",
        "from": "A",
        "to": "Over",
    }


# -------------------------------------------------------------------- several waiting frames


def two_waiting(one: Any, two: Any) -> dict[str, Any]:
    """Two branches that wait side by side and refuse what is not given."""
    parts = []
    for name, on in (("A", one), ("B", two)):
        part = branch(**{name: waiting({**NO, **on}), f"E{name}": END})
        part["States"][name]["After"] = [{"Seconds": 900, "Next": f"E{name}"}]
        parts.append(part)
    return machine(F=parallel(*parts))


def test_own_reactions_that_accept_are_all_carried_out_each_in_its_frame() -> None:
    world = World(two_waiting({"pay": {"Next": "EA"}}, {"pay": {"Next": "EB"}})).start()
    said = world.call("pay")
    assert (said["verdict"], said["from"]) == ("accepted", "A")
    assert world.types.count("CallAccepted") == 2
    assert world.status == "SUCCEEDED"


def test_accepted_if_any_accepts() -> None:
    world = World(two_waiting({}, {"pay": {"Next": "EB"}})).start()
    assert world.call("pay")["from"] == "B"
    assert list(resting(world).values()) == ["A"]


def test_pending_if_none_accepts_and_one_postpones() -> None:
    world = World(two_waiting({}, {"pay": {"Postpone": True}})).start()
    assert world.call("pay")["verdict"] == "pending"


def test_refused_with_the_reason_of_the_first_frame() -> None:
    world = World(two_waiting({"pay": {"Refuse": "A says no"}}, {})).start()
    assert world.call("pay") == {
        "verdict": "refused",
        "call": "pay",
        "state": "A",
        "reason": "A says no",
    }


def test_what_fails_to_evaluate_in_one_frame_refuses_for_all() -> None:
    test = {"Variable": "$.none", "IsNull": True}
    fails = [{"Condition": test, "Next": "EB"}, {"Refuse": "no"}]
    world = World(two_waiting({"pay": {"Next": "EA"}}, {"pay": fails})).start()
    assert world.call("pay")["verdict"] == "refused"
    assert len(resting(world)) == 2


def test_pending_while_another_branch_can_still_reach_an_await_that_could_accept() -> None:
    one = branch(A=waiting(NO, OnEnter={"Resource": "celery:open"}), EA=END)
    one["States"]["A"]["After"] = [{"Seconds": 900, "Next": "EA"}]
    two = branch(T=task(Next="B"), B=waiting({**NO, "pay": {"Next": "EB"}}), EB=END)
    world = World(machine(F=parallel(one, two)), served=False).start()
    assert world.call("pay")["verdict"] == "pending"
    assert world.call("ship")["verdict"] == "refused"
    effect = next(iter(world.effects()))
    assert world.call("pay", at=effect)["reason"] == "there is no such frame any more"
    world.served = True
    world.wait(1)
    assert world.verdict("c1")["from"] == "B"


def test_pending_while_what_follows_the_join_could_accept() -> None:
    later = waiting({**NO, "pay": {"Next": "Over"}})
    fork = parallel(branch(T=task()), Next="Later")
    world = World(_joined(fork, later), served=False).start()
    assert world.call("pay")["verdict"] == "pending"
    world.served = True
    world.finish()
    assert world.verdict("c1")["from"] == "Later"


def _joined(fork: Any, later: Any) -> dict[str, Any]:
    return {**states(F=fork, Later=later, Over=OVER), "Calls": CALLS}


def test_a_branch_that_waits_and_refuses_is_not_elsewhere() -> None:
    one = branch(A=waiting(NO), EA=END)
    one["States"]["A"]["After"] = [{"Seconds": 900, "Next": "EA"}]
    later = waiting({**NO, "pay": {"Next": "Over"}})
    world = World(_joined(parallel(one, Next="Later"), later)).start()
    assert world.call("pay")["verdict"] == "refused"


def test_a_kept_call_is_offered_to_the_branch_that_comes_to_an_await() -> None:
    one = branch(A=waiting({**NO, "pay": {"Postpone": True}}), EA=END)
    one["States"]["A"]["After"] = [{"Seconds": 900, "Next": "EA"}]
    two = branch(T=task(Next="B"), B=waiting(NO), EB=END)
    two["States"]["B"]["After"] = [{"Seconds": 900, "Next": "EB"}]
    world = World(machine(F=parallel(one, two)), served=False).start()
    assert world.call("pay")["verdict"] == "pending"
    world.served = True
    world.wait(1)
    assert world.verdict("c1")["verdict"] == "pending"  # B refuses, A has postponed it
    world.wait(901)
    assert world.status == "SUCCEEDED"
    assert world.verdict("c1")["reason"] == "the execution has ended"


def test_a_kept_call_that_leaves_the_fork_leaves_nobody_to_hear_the_next() -> None:
    refuse = {"pay": {"Refuse": "no"}, "ship": {"Refuse": "no"}}
    part = branch(T=task(Next="A"), A=waiting(refuse), E=END)
    part["States"]["A"]["After"] = [{"Seconds": 900, "Next": "E"}]
    fork = parallel(part, on={"cancel": {"Next": "After"}})
    world = World(machine(F=fork), served=False).start()
    assert [world.call("cancel")["verdict"] for _ in range(2)] == ["pending", "pending"]
    world.served = True
    world.finish()
    assert world.verdict("c1") == {
        "verdict": "accepted",
        "call": "cancel",
        "from": "F",
        "to": "Over",
    }
    assert world.verdict("c2")["reason"] == "the execution has ended"
    assert world.types.count("ParallelStateExited") == 1
    world.verify()


def test_a_kept_call_that_leaves_an_outer_fork_leaves_nobody_inside_to_hear_the_next() -> None:
    part = branch(
        T=task(Next="A"), A=waiting({"pay": {"Next": "E"}, "ship": {"Refuse": "no"}}), E=END
    )
    inner = parallel(part, branch(W={"Type": "Wait", "Seconds": 900, "End": True}), Next="I")
    fork = parallel(branch(F=inner, I=END), on={"cancel": {"Next": "After"}})
    world = World(machine(O=fork), served=False).start()
    assert [world.call(name)["verdict"] for name in ("cancel", "pay")] == ["pending", "pending"]
    world.served = True
    world.finish()
    assert world.verdict("c1")["verdict"] == "accepted"
    assert world.verdict("c2")["reason"] == "the execution has ended"
    assert world.types.count("CallAccepted") == 1


def test_a_kept_call_that_leaves_the_fork_ends_what_the_same_decision_has_begun() -> None:
    effects = {"OnEnter": {"Resource": "celery:open"}, "OnExit": {"Resource": "celery:close"}}
    inner = branch(A=waiting({"pay": {"Refuse": "no"}, "ship": {"Refuse": "no"}}, **effects), E=END)
    inner["States"]["A"]["After"] = [{"Seconds": 900, "Next": "E"}]
    each = {"Type": "Map", "ItemProcessor": inner, "End": True}
    fork = parallel(branch(T=task(Next="M"), M=each), on={"cancel": {"Next": "After"}})
    world = World(machine(F=fork), served=False, handler=lambda _: Returned([1, 2])).start()
    assert world.call("cancel")["verdict"] == "pending"
    world.served = True
    world.wait(1)
    assert world.status == "SUCCEEDED"
    assert world.types.count("AwaitStateEntered") == world.types.count("AwaitStateAborted") > 0
    assert world.types.count("EffectScheduled") == 2 * world.types.count("AwaitStateEntered")
    world.verify()


def test_a_failing_sibling_makes_a_branch_leave_its_await() -> None:
    effects = {"OnEnter": {"Resource": "celery:open"}, "OnExit": {"Resource": "celery:close"}}
    one = branch(A=waiting(NO, **effects), EA=END)
    one["States"]["A"]["After"] = [{"Seconds": 900, "Next": "EA"}]
    two = branch(T=task(Resource="celery:fails"))
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "After"}]

    def handler(call: Work) -> Any:
        return Raised("Down") if call.resource == "celery:fails" else Returned(None)

    world = World(machine(F=parallel(one, two, Catch=catch)), handler=handler).start()
    world.wait(1)
    assert world.status == "SUCCEEDED"
    done = [call.resource for call in world.calls if call.resource != "celery:fails"]
    assert done == ["celery:open", "celery:close"]
    assert "AwaitStateAborted" in world.types


# ------------------------------------------------------------------------------------- maps


def mapped(on: Any = None, inner: Any = None) -> dict[str, Any]:
    part = branch(A=waiting({**NO, "pay": {"Next": "E"}, **(inner or {})}), E=END)
    around = {} if on is None else {"On": on}
    fork = {"Type": "Map", "ItemProcessor": part, "Next": "After", **around}
    return machine(F=fork)


def test_inside_a_map_only_the_iteration_that_is_named_is_asked() -> None:
    world = World(mapped()).start([1, 2, 3])
    frames = list(resting(world))
    assert len(frames) == 3
    assert world.call("pay", at=frames[1])["verdict"] == "accepted"
    assert list(resting(world)) == [frames[0], frames[2]]
    assert world.call("pay", at=frames[1])["verdict"] == "refused"  # it has ended
    assert world.call("pay", at="/9.9")["reason"] == "there is no such frame any more"
    for frame in (frames[0], frames[2]):
        world.call("pay", at=frame)
    assert world.status == "SUCCEEDED"


def test_a_call_that_names_none_asks_only_the_levels_around_the_map() -> None:
    definition = mapped({"cancel": {"Next": "Over"}})
    inner = definition["States"]["F"]["ItemProcessor"]["States"]["A"]
    inner |= {"OnEnter": {"Resource": "celery:open"}, "OnExit": {"Resource": "celery:close"}}
    world = World(definition, served=False).start([1, 2, 3])
    assert world.call("pay")["verdict"] == "refused"
    assert world.call("cancel") == {
        "verdict": "accepted",
        "call": "cancel",
        "from": "F",
        "to": "Over",
    }
    assert world.types.count("MapIterationAborted") == 3
    world.served = True
    world.wait(1)
    done = [call.resource for call in world.calls]
    assert (done.count("celery:open"), done.count("celery:close")) == (3, 3)


def test_a_call_into_a_map_reads_a_bounded_number_of_frames() -> None:
    world = World(mapped({"cancel": {"Refuse": "no"}})).start(list(range(100)))
    world.missing.clear()
    frame = list(resting(world))[70]
    world.call("pay", at=frame)
    world.call("cancel")
    assert [(one.below, one.all_frames, len(one.frames)) for one in world.missing] == [
        ((), False, 0)
    ]


def test_variables_of_a_level_are_assigned_at_that_level() -> None:
    part = branch(A=waiting({"pay": {"Refuse": "no"}, "cancel": {"Refuse": "no"}}), E=END)
    part["States"]["A"]["After"] = [{"Seconds": 5, "Next": "E"}]
    ship = {"Stay": True, "Assign": {"shipped": "{% $states.context.Call.Id %}"}}
    definition = machine(None, "JSONata", F=parallel(part, on={"ship": ship}))
    definition["States"]["After"]["Output"] = "{% $shipped %}"
    world = World(definition).start()
    world.call("ship", call_id="me")
    world.finish()
    assert world.result == "me"


# ------------------------------------------------------------------- entrances, once each


def test_entry_effects_run_once_per_entry_whichever_way_it_was_entered() -> None:
    definition = machine(
        Start={
            "Type": "Choice",
            "Choices": [{"Variable": "$.way", "StringEquals": "task", "Next": "T"}],
            "Default": "W",
        },
        T=task(Next="A"),
        W={"Type": "Wait", "Seconds": 1, "Next": "A"},
        A=waiting(
            {**NO, "pay": {"Next": "A"}, "cancel": {"Next": "After"}},
            OnEnter={"Resource": "celery:enter"},
            OnExit={"Resource": "celery:exit"},
        ),
    )
    for way in ("task", "wait"):
        world = World(definition).start({"way": way})
        world.wait(2)
        world.call("pay")
        world.call("pay")
        world.wait(1)
        world.call("cancel")
        world.wait(1)
        done = [c.resource for c in world.calls if c.resource != "celery:work"]
        assert done == ["celery:enter", "celery:exit"] * 3
