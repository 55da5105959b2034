"""What is undone, in which order, and with which arguments."""

from __future__ import annotations

from typing import Any

import pytest

from tests.execution.definitions import mapping, parallel, states, task
from tests.execution.harness import World
from tests.execution.outcomes import Call, Outcome, Raised, Returned
from tests.execution.saga import LANGUAGES, SIX, chain, done, failing, step, undo, undone


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("k", range(6))
def test_what_came_before_the_failure_is_undone_newest_first(language: str, k: int) -> None:
    world = World({**chain(*SIX), "QueryLanguage": language}, failing(SIX[k])).run()
    assert done(world) == [*SIX[: k + 1], *[f"undo_{name}" for name in reversed(SIX[:k])]]
    assert (world.status, world.error, world.cause) == ("FAILED", "Broken", f"{SIX[k]} is broken")
    assert world.types[-1] == "ExecutionFailed"
    assert world.types.count("CompensationSucceeded") == k
    assert world.execution.undoing == ("completed" if k else "none")


def test_success_leaves_nothing_to_undo() -> None:
    world = World(chain(*SIX)).run()
    assert world.status == "SUCCEEDED"
    assert world.compensations == {}
    assert not [one for one in world.types if one.startswith("Compensation")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_arguments_are_evaluated_when_the_step_succeeds(language: str) -> None:
    given: dict[str, Any] = (
        {"Arguments": {"id": "{% $states.result.id %}", "of": "{% $states.input.order %}"}}
        if language == "JSONata"
        else {"Parameters": {"id.$": "$.result.id", "of.$": "$.input.order"}}
    )
    first = task(Resource="celery:a", Compensate=undo("a", **given), Next="b")
    definition = {**states(a=first, b=task(Resource="celery:b")), "QueryLanguage": language}
    world = World(definition, failing("b", otherwise=lambda _: Returned({"id": 7}))).run(
        {"order": 3}
    )
    assert world.calls[-1].input == {"id": 7, "of": 3}
    assert world.calls[-1].key != world.calls[0].key


def test_without_arguments_a_compensation_gets_input_and_result() -> None:
    definition = states(a=step("a", ResultPath="$.a", Next="b"), b=task(Resource="celery:b"))
    world = World(definition, failing("b", otherwise=lambda _: Returned(9))).run({"x": 1})
    assert world.calls[-1].input == {"input": {"x": 1}, "result": 9}


@pytest.mark.parametrize("language", LANGUAGES)
def test_arguments_that_fail_fail_the_state_and_all_is_given(language: str) -> None:
    wrong: dict[str, Any] = (
        {"Arguments": "{% $states.result.nothing %}"}
        if language == "JSONata"
        else {"Parameters": {"x.$": "$.result.nothing"}}
    )
    first = task(Resource="celery:a", Compensate=undo("a", **wrong), Next="b")
    definition = {**states(a=first, b=step("b")), "QueryLanguage": language}
    world = World(definition, lambda _: Returned({"id": 7})).run({"x": 1})
    assert done(world) == ["a", "undo_a"]
    assert world.calls[-1].input == {"input": {"x": 1}, "result": {"id": 7}}
    assert world.status == "FAILED"
    assert world.error == (
        "States.QueryEvaluationError" if language == "JSONata" else "States.Runtime"
    )


# -------------------------------------------------------------------------------------- forks


def test_a_finished_fork_is_one_step_undone_side_by_side() -> None:
    definition = states(
        first=step("first", Next="fork"),
        fork=parallel(chain("a1", "a2"), chain("b1", "b2"), Next="last"),
        last=step("last", Next="bad"),
        bad=task(Resource="celery:bad"),
    )
    world = World(definition, failing("bad")).run()
    order = undone(world)
    assert order[0] == "last"
    assert order[-1] == "first"
    assert set(order[1:3]) == {"a2", "b2"}
    assert set(order[3:5]) == {"a1", "b1"}


def test_a_map_is_undone_by_at_most_as_many_at_once_as_it_ran() -> None:
    running = most = 0

    def handle(call: Call) -> Outcome:
        nonlocal running, most
        if call.resource == "celery:bad":
            return Raised("Broken")
        return Returned(call.input, after_seconds=1.0)

    definition = states(
        map=mapping(
            chain("x", "y"), MaxConcurrency=2, ResultPath="$.m", ItemsPath="$.n", Next="bad"
        ),
        bad=task(Resource="celery:bad"),
    )
    world = World(definition, handle).run({"n": [1, 2, 3, 4, 5]})
    assert undone(world).count("x") == undone(world).count("y") == 5
    scheduled = [e for e in world.history if e.type.startswith("Compensation")]
    for event in scheduled:
        if event.type == "CompensationScheduled":
            running += 1
        elif event.type == "CompensationSucceeded":
            running -= 1
        most = max(most, running)
    assert most == 2


def test_a_fork_with_a_compensation_of_its_own_is_undone_by_it_alone() -> None:
    definition = states(
        fork=parallel(chain("a"), chain("b"), Compensate=undo("fork"), Next="bad"),
        bad=task(Resource="celery:bad"),
    )
    world = World(definition, failing("bad")).run()
    assert undone(world) == ["fork"]


def test_nested_forks_with_partial_completion_mirror_what_was_done() -> None:
    inner = states(
        m=mapping(chain("p", "q"), ItemsPath="$.n", ResultPath=None, Next="r"),
        r=step("r", Next="s"),
        s=task(Resource="celery:s"),
    )

    def handle(call: Call) -> Outcome:
        if call.resource == "celery:s":
            return Raised("Broken")
        return Returned(call.input, after_seconds=100.0 if call.resource == "celery:slow" else 0.0)

    other = chain("c", "slow", "never")
    definition = states(first=step("first", Next="fork"), fork=parallel(inner, other))
    world = World(definition, handle).run({"n": [1, 2]})
    order = undone(world)
    assert "never" not in done(world)
    assert order[-1] == "first"
    assert order.index("r") < order.index("q") < order.index("p")
    assert order.index("slow") < order.index("c")
    assert sorted(order) == ["c", "first", "p", "p", "q", "q", "r", "slow"]
