"""What may have happened: outcomes that nobody has reported."""

from __future__ import annotations

from typing import Any

import pytest

from tests.execution.definitions import parallel, states, task
from tests.execution.harness import World
from tests.execution.outcomes import Call, Handler, Hung, Lost, Outcome, Raised, Returned
from tests.execution.saga import LANGUAGES, chain, done, failing, slow, step, undo, undone


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("outcome", [Hung(), Lost()])
@pytest.mark.parametrize("unknown", [True, False])
def test_a_silent_step_is_undone_only_if_it_says_so(
    language: str, outcome: Outcome, unknown: bool
) -> None:
    arguments: dict[str, Any] = (
        {"Arguments": {"id": "{% $states.result.id %}"}}
        if language == "JSONata"
        else {"Parameters": {"id.$": "$.result.id"}}
    )
    fields = {"CompensateUnknown": True} if unknown else {}
    silent = task(
        Resource="celery:b", TimeoutSeconds=600, Compensate=undo("b", **arguments), **fields
    )
    definition = {**states(a=step("a", Next="b"), b=silent), "QueryLanguage": language}

    def handle(call: Call) -> Outcome:
        return outcome if call.resource == "celery:b" else Returned(call.input)

    world = World(definition, handle).run()
    assert undone(world) == (["b", "a"] if unknown else ["a"])
    if unknown:
        assert next(c for c in world.calls if c.resource == "celery:undo_b").input == {"id": None}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_silent_step_that_is_caught_is_undone_once(language: str) -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Compensate": True, "Next": "after"}]
    b = step("b", TimeoutSeconds=5, CompensateUnknown=True, Catch=catch, Next="after")
    definition = {
        **states(a=step("a", Next="b"), b=b, after=step("after")),
        "QueryLanguage": language,
    }

    def handle(call: Call) -> Outcome:
        return Hung() if call.resource == "celery:b" else Returned(call.input)

    world = World(definition, handle).run(most=50)
    assert done(world) == ["a", "b", "undo_b", "after"]
    assert world.status == "SUCCEEDED"


def test_a_reported_failure_has_not_happened() -> None:
    definition = states(a=step("a", Next="b"), b=step("b", CompensateUnknown=True))
    assert undone(World(definition, failing("b")).run()) == ["a"]


def test_a_step_that_was_never_claimed_has_not_happened() -> None:
    definition = {
        **states(a=step("a", CompensateUnknown=True, TimeoutSeconds=5)),
    }
    world = World(definition)
    world.served = False
    assert done(world.run()) == []


def test_a_silent_attempt_before_a_reported_one_counts() -> None:
    outcomes: list[Outcome] = [Hung(), Raised("Busy")]

    def handle(call: Call) -> Outcome:
        return outcomes.pop(0) if call.resource == "celery:b" else Returned(call.input)

    retry = [{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 1}]
    b = step("b", CompensateUnknown=True, TimeoutSeconds=5, Retry=retry)
    world = World(states(b=b), handle).run()
    assert done(world) == ["b", "b", "undo_b"]


def test_after_a_pivot_nothing_before_it_is_undone() -> None:
    definition = states(
        a=step("a", Next="pay"),
        pay=task(Resource="celery:pay", Pivot=True, Next="b"),
        b=step("b", Next="bad"),
        bad=task(Resource="celery:bad"),
    )
    assert undone(World(definition, failing("bad")).run()) == ["b"]
    assert undone(World(definition, failing("pay")).run()) == ["a"]


def test_a_handler_that_runs_on_in_a_cancelled_branch_is_waited_for() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Compensate": True, "Next": "after"}]
    definition = states(
        fork=parallel(chain("a", "slow"), chain("b", "bad"), Catch=catch),
        after=task(Resource="celery:after"),
    )
    world = World(definition, failing("bad", otherwise=slow("slow"))).run()
    assert undone(world) == ["b", "slow", "a"]
    assert world.seconds == 60.0
    lost = World(definition, failing("bad", otherwise=_lost("slow"))).run()
    assert undone(lost) == ["b", "a"]


def _lost(name: str) -> Handler:
    return lambda call: Lost() if call.resource == f"celery:{name}" else Returned(call.input)


def test_a_cancelled_handler_that_fails_has_done_nothing() -> None:
    definition = states(fork=parallel(chain("a", "slow"), chain("b", "bad")))

    def handle(call: Call) -> Outcome:
        if call.resource == "celery:slow":
            return Raised("Late", after_seconds=9.0)
        return Returned(call.input)

    world = World(definition, failing("bad", otherwise=handle)).run()
    assert sorted(undone(world)) == ["a", "b"]
    assert world.seconds == 9.0
