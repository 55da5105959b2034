"""Loops, large forks and everything else that has a limit."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from orchestrator.asl.document import Json
from orchestrator.asl.limits import Limits
from orchestrator.execution.commands import WakeAt
from orchestrator.execution.frame import RestsOn
from tests.execution.definitions import PASS, mapping, parallel, states, task
from tests.execution.harness import World
from tests.execution.outcomes import Call, Outcome, Raised, Returned

FEW = Limits(states_per_transaction=10)


def counting(to: int) -> dict[str, Any]:
    """Return a machine that counts up in a loop of a Pass and a Choice."""
    rules = [{"Variable": "$.n", "NumericEquals": to, "Next": "Done"}]
    return states(
        Add={
            "Type": "Pass",
            "Parameters": {"n.$": "States.MathAdd($.n, 1)"},
            "Next": "Check",
        },
        Check={"Type": "Choice", "Choices": rules, "Default": "Add"},
        Done={"Type": "Succeed"},
    )


# ------------------------------------------------------------------------------------------ loops


def test_a_long_loop_is_cut_into_transitions_and_goes_on() -> None:
    world = World(counting(40), limits=FEW).run({"n": 0})
    assert world.result == {"n": 40}
    assert len(world.decisions) == 8
    assert world.seconds == 0


def test_between_them_the_frame_rests_on_the_clock_and_is_due_now() -> None:
    world = World(counting(1_000), limits=FEW).start({"n": 0})
    frame = world.only_frame()
    assert (frame.rests_on, frame.wake_at) == (RestsOn.CLOCK, world.now)
    assert world.decisions[0].commands == (WakeAt(world.now),)
    entered = [one for one in world.types if one.endswith("StateEntered")]
    assert len(entered) == 11


def test_a_thousand_states_are_followed_at_once() -> None:
    world = World(counting(400)).start({"n": 0})
    assert (world.status, len(world.decisions)) == ("SUCCEEDED", 1)


@pytest.mark.parametrize(
    "looping",
    [
        states(A={"Type": "Pass", "Next": "B"}, B={"Type": "Pass", "Next": "C"}, C=PASS),
        states(W={"Type": "Wait", "Seconds": 0, "Next": "P"}, P=PASS),
        states(M=mapping(states(I=PASS), Next="P"), P=PASS),
        states(Q=parallel(states(I=PASS), states(J=PASS), Next="P"), P=PASS),
        states(T=task(Next="P"), P=PASS),
        states(F={"Type": "Fail", "Error": "E"}),
    ],
)
@pytest.mark.parametrize("most", [1, 2, 3])
def test_every_state_can_be_the_one_that_is_put_off(looping: Any, most: int) -> None:
    at_once = World(looping).run([1, 2, 3])
    in_pieces = World(looping, limits=Limits(states_per_transaction=most)).run([1, 2, 3])
    assert in_pieces.output == at_once.output
    assert (in_pieces.status, in_pieces.error) == (at_once.status, at_once.error)
    assert sorted(in_pieces.types) == sorted(at_once.types)


def test_a_loop_through_a_catcher_comes_to_rest() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "A"}]
    failing = task(Parameters={"x.$": "States.StringToJson('{')"}, Catch=catch)
    world = World(states(A=failing), limits=FEW).start()
    assert world.only_frame().wake_at == world.now


SMALL = Limits(decision_bytes=1_000)


def test_a_decision_takes_in_so_many_bytes_and_goes_on_in_the_next() -> None:
    grows = {"Type": "Pass", "Parameters": {"x.$": "$.x", "at.$": "$$.State.Name"}}
    names = [f"S{n}" for n in range(20)]
    machine = states(
        **{name: grows | {"Next": follower} for name, follower in pairwise(names)}, S19=PASS
    )
    given: Json = {"x": "x" * 300}
    world = World(machine, limits=SMALL).start(given)
    assert world.only_frame().wake_at == world.now
    assert sum(one.endswith("StateEntered") for one in world.types) < 6
    assert world.finish().result == World(machine).run(given).result
    assert 4 < len(world.decisions) < 10


def test_states_with_the_same_document_count_it_once() -> None:
    machine = states(
        **{f"S{n}": {"Type": "Pass", "Next": f"S{n + 1}"} for n in range(20)}, S20=PASS
    )
    world = World(machine, limits=SMALL).run("x" * 900)
    assert (world.status, len(world.decisions)) == ("SUCCEEDED", 1)


def test_large_iterations_begin_in_several_decisions() -> None:
    each = mapping(
        states(I=PASS), ItemSelector={"all.$": "$", "item.$": "$$.Map.Item.Value"}, MaxConcurrency=0
    )
    world = World(states(M=each), limits=SMALL).run(["x" * 100] * 9)
    assert world.status == "SUCCEEDED"
    assert len(world.decisions) > 4


@pytest.mark.parametrize("concurrency", [0, 3])
def test_what_an_item_selector_makes_for_all_iterations_together_has_a_limit(
    concurrency: int,
) -> None:
    each = mapping(states(I=PASS), ItemSelector={"all.$": "$"}, MaxConcurrency=concurrency)
    world = World(states(M=each), limits=Limits(fork_bytes=5_000)).run(["x" * 100] * 9)
    assert (world.status, world.error) == ("FAILED", "States.Runtime")
    assert "more than 5000 bytes for all iterations" in str(world.cause)
    assert World(states(M=each), limits=Limits(fork_bytes=9_000)).run(["x" * 100] * 9).result


# ------------------------------------------------------------------------------------ large forks


def wake_at(world: World) -> datetime | None:
    return world.frames[""].wake_at


def test_the_first_500_iterations_begin_at_once_and_the_rest_when_the_frame_is_woken() -> None:
    world = World(states(M=mapping(states(T=task())))).start(list(range(1_200)))
    assert wake_at(world) == world.now
    assert len(world.frames) == 501
    world.served = False
    world.step()
    assert world.forks[""].admitted == 1_000
    world.step()
    assert world.forks[""].admitted == 1_200
    assert wake_at(world) is None
    world.served = True
    assert world.finish().result == list(range(1_200))


def test_iterations_that_begin_later_have_the_inputs_that_the_first_would_have_had() -> None:
    selector = {"of.$": "$.of", "index.$": "$$.Map.Item.Index", "item.$": "$$.Map.Item.Value"}
    each = mapping(states(T=task()), ItemsPath="$.items", ItemSelector=selector)
    given: Json = {"of": "all", "items": [n * n for n in range(1_200)]}
    assert World(states(M=each)).run(given).result == [
        {"of": "all", "index": n, "item": n * n} for n in range(1_200)
    ]


def test_a_large_fork_with_a_limit_begins_that_many() -> None:
    world = World(states(M=mapping(states(T=task()), MaxConcurrency=700))).start([0] * 1_000)
    world.served = False
    world.step()
    assert world.forks[""].admitted == 700
    world.served = True
    assert world.finish().result == [0] * 1_000


@pytest.mark.parametrize("most", [0, 1, 7])
def test_a_fork_in_which_nothing_rests_is_cut_into_transitions(most: int) -> None:
    definition = states(M=mapping(states(A={**PASS}), MaxConcurrency=most))
    world = World(definition, limits=FEW).start(list(range(100)))
    assert world.forks[""].admitted < 10
    assert world.finish().result == list(range(100))
    assert len(world.decisions) >= 10


def test_failures_in_a_large_fork_that_is_still_growing_end_it() -> None:
    def handle(call: Call) -> Outcome:
        return Raised("E") if call.input == 3 else Returned(1)

    world = World(states(M=mapping(states(T=task()))), handle).run(list(range(600)))
    assert world.error == "E"
    begun = world.types.count("MapIterationStarted")
    ended = sum(
        world.types.count(f"MapIteration{how}") for how in ("Succeeded", "Failed", "Aborted")
    )
    assert begun == ended


# ---------------------------------------------------------------------------------- other limits


def test_a_fork_has_a_largest_number_of_children() -> None:
    definition = states(M=mapping(states(P=PASS)))
    assert World(definition, limits=Limits(children=3)).run([1, 2, 3]).status == "SUCCEEDED"
    assert World(definition, limits=Limits(children=3)).run([1, 2, 3, 4]).error == "States.Runtime"


def test_an_execution_has_a_largest_number_of_frames() -> None:
    definition = states(M=mapping(states(N=mapping(states(T=task())))))
    given: Any = [[1, 2], [3, 4]]
    assert World(definition, limits=Limits(frames=7)).run(given).status == "SUCCEEDED"
    assert World(definition, limits=Limits(frames=6)).run(given).error == "States.Runtime"


def test_frames_that_are_gone_do_not_count() -> None:
    definition = states(M=mapping(states(T=task()), MaxConcurrency=1, Next="N"), N=PASS)
    looping = states(
        M=mapping(states(T=task()), Next="C"),
        C={
            "Type": "Choice",
            "Choices": [{"Variable": "$[0]", "NumericGreaterThan": 5, "Next": "D"}],
            "Default": "M",
        },
        D=PASS,
    )
    world = World(definition, limits=Limits(frames=4)).run([1, 2, 3])
    assert world.status == "SUCCEEDED"

    def add(call: Call) -> Outcome:
        assert isinstance(call.input, int)
        return Returned(call.input + 1)

    assert World(looping, add, limits=Limits(frames=3)).run([1, 2]).result == [6, 7]


def test_forks_nest_to_a_depth() -> None:
    def nested(depth: int) -> dict[str, Any]:
        inner = PASS if depth == 0 else parallel(nested(depth - 1))
        return states(**{f"S{depth}": inner})

    assert World(nested(3), limits=Limits(nesting=3)).run().result == [[[{}]]]
    assert World(nested(4), limits=Limits(nesting=3)).run().error == "States.Runtime"


@pytest.mark.parametrize("most", [2, 3, 5, 8, 13])
def test_the_last_event_of_a_full_history_says_so(most: int) -> None:
    rules = [{"Variable": "$", "IsPresent": True, "Next": "T"}]
    definition = states(
        T=task(Next="C"), C={"Type": "Choice", "Choices": rules, "Default": "E"}, E=PASS
    )
    world = World(definition, limits=Limits(history_events=most)).run()
    assert (world.status, world.error) == ("FAILED", "States.Runtime")
    assert world.cause == f"The execution reached the maximum number of history events ({most})."
    assert len(world.history) == most
    assert world.types[-1] == "ExecutionFailed"


# ------------------------------------------------------------------------------------- documents


def looping(**fields: Any) -> dict[str, Any]:
    """Return a machine that makes its document anew for ever."""
    rules = [{"Variable": "$.end", "IsPresent": True, "Next": "D"}]
    return states(
        A={"Type": "Pass", "Next": "C", **fields},
        C={"Type": "Choice", "Choices": rules, "Default": "A"},
        D=PASS,
    )


def test_a_document_that_grows_ever_deeper_ends_the_execution() -> None:
    world = World(looping(Parameters={"a.$": "$"})).run()
    assert world.error == "States.Runtime"
    assert "nested more than 200 deep" in (world.cause or "")


def test_a_document_that_grows_ever_larger_ends_the_execution() -> None:
    doubling = {"a.$": "States.Array($, $)"}
    world = World(looping(Parameters=doubling), limits=Limits(document_bytes=10_000)).run()
    assert world.error == "States.DataLimitExceeded"


def test_an_item_selector_makes_no_more_than_a_document_may_have() -> None:
    selector = {"a.$": "$", "b.$": "$", "c.$": "$"}
    definition = states(M=mapping(states(P=PASS), ItemSelector=selector))
    world = World(definition, limits=Limits(document_bytes=100)).run(["x" * 40])
    assert world.error == "States.DataLimitExceeded"


def test_a_result_that_is_too_deep_is_an_error_of_the_task() -> None:
    deep: Any = []
    for _ in range(250):
        deep = [deep]
    catch = [{"ErrorEquals": ["Task.InvalidResult"], "Next": "D"}]
    world = World(states(A=task(Catch=catch), D=PASS), lambda _: Returned(deep)).run()
    assert world.status == "SUCCEEDED"
    assert world.the("TaskFailed").details["error"] == "Task.InvalidResult"
