"""Compensations that fail: tried again, blocked, retried and skipped by operators."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.asl.document import Json
from orchestrator.execution.decision import Stale
from orchestrator.execution.events import (
    CompensationRetried,
    CompensationSkipped,
    DeadlinePassed,
)
from tests.execution.definitions import mapping, parallel, states, task
from tests.execution.harness import World
from tests.execution.outcomes import Call, Handler, Lost, Outcome, Raised, Returned
from tests.execution.saga import chain, failing, slow, step, undo, undone


def test_a_failing_compensation_is_tried_eight_times_under_one_key() -> None:
    definition = chain("a", "b", "c")
    world = World(definition, failing("c", "undo_b")).start()
    while world.execution.undoing != "none" or world.execution.phase == "open":
        if not any(True for _ in world.happenings()) and not _ready(world):
            break
        world.step()
    assert undone(world) == ["b"] * 8
    assert len({call.key for call in world.calls if call.resource == "celery:undo_b"}) == 1
    (blocked,) = [one for one in world.compensations.values() if one.status == "blocked"]
    assert blocked.state == "b"
    assert world.execution.phase == "undoing"


def _ready(world: World) -> bool:
    return any(f.task and not f.task.claimed_by for f in world.frames.values())


def blocked_world(handler: Handler | None = None) -> World:
    retry: dict[str, Any] = {"Retry": []}
    definition = states(
        a=step("a", Next="b"),
        b=task(Resource="celery:b", Compensate=undo("b", **retry), Next="c"),
        c=task(Resource="celery:c"),
    )
    world = World(definition, handler or failing("c", "undo_b")).start()
    world.wait(5)
    return world


def _blocked(world: World) -> tuple[str, int, int]:
    """The frame that is blocked, and the event and place of the compensation that blocks it."""
    (frame,) = [frame for frame in world.frames.values() if frame.status == "failed"]
    assert frame.undo is not None
    return frame.id, frame.undo.event, frame.undo.place


def test_an_operator_skips_a_blocked_compensation() -> None:
    world = blocked_world()
    assert undone(world) == ["b"]
    world.tell(CompensationSkipped(1, *_blocked(world)))
    world.finish()
    assert undone(world) == ["b", "a"]
    assert world.types.count("CompensationSkipped") == 1
    assert (world.status, world.execution.undoing) == ("FAILED", "completed")


def test_who_skips_twice_does_not_skip_what_blocks_next() -> None:
    definition = states(
        a=step("a", Next="b"),
        b=task(Resource="celery:b", Compensate=undo("b", Retry=[]), Next="c"),
        c=task(Resource="celery:c", Compensate=undo("c", Retry=[]), Next="d"),
        d=task(Resource="celery:d"),
    )
    world = World(definition, failing("d", "undo_b", "undo_c")).start()
    world.wait(5)
    skip = CompensationSkipped(1, *_blocked(world))
    world.tell(skip)
    world.wait(5)
    assert undone(world) == ["c", "b"]
    next_one = _blocked(world)
    assert next_one[0] == skip.frame
    for late in (skip, CompensationRetried(1, skip.frame, skip.event, skip.place)):
        assert isinstance(world.tell(late), Stale)
    assert _blocked(world) == next_one


def test_an_operator_retries_a_blocked_compensation() -> None:
    broken = True

    def handle(call: Call) -> Outcome:
        if call.resource == "celery:c" or (call.resource == "celery:undo_b" and broken):
            return Raised("Broken")
        return Returned(call.input)

    world = blocked_world(handle)
    broken = False
    world.tell(CompensationRetried(1, *_blocked(world)))
    world.finish()
    assert undone(world) == ["b", "b", "a"]
    assert len({c.key for c in world.calls if c.resource == "celery:undo_b"}) == 1


def test_a_lost_compensation_at_most_once_is_blocked_not_repeated() -> None:
    def handle(call: Call) -> Outcome:
        if call.resource == "celery:undo_b":
            return Lost()
        return Returned(call.input)

    world = World(chain("a", "b", "c"), failing("c", otherwise=handle), at_most_once=True).start()
    world.wait(100)
    assert undone(world) == ["b"]
    world.tell(CompensationSkipped(1, *_blocked(world)))
    assert undone(world.finish()) == ["b", "a"]


def test_other_branches_are_undone_while_one_is_blocked() -> None:
    definition = states(
        fork=parallel(chain("a1", "a2"), chain("b1", "b2"), Next="bad"),
        bad=task(Resource="celery:bad"),
    )
    world = World(definition, failing("bad", "undo_a2")).start()
    world.wait(3000)
    assert {"b2", "b1"} <= set(undone(world))
    assert "a1" not in undone(world)
    world.tell(CompensationSkipped(1, *_blocked(world)))
    assert undone(world.finish())[-1] == "a1"


def test_a_failure_elsewhere_takes_over_what_is_being_undone() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Compensate": True, "Next": "after"}]
    inner = states(
        task_=parallel(chain("a", "bad"), Catch=catch), after=task(Resource="celery:after")
    )
    other = states(
        w={"Type": "Wait", "Seconds": 10, "Next": "worse"}, worse=task(Resource="celery:worse")
    )
    definition = states(first=step("first", Next="fork"), fork=parallel(inner, other))
    world = World(definition, failing("bad", "worse", otherwise=slow("undo_a"))).run()
    assert undone(world) == ["a", "first"]
    assert world.seconds == 60.0
    stopped = World(definition, failing("bad", otherwise=slow("undo_a"))).start()
    stopped.wait(1)
    stopped.stop()
    assert undone(stopped.finish()) == ["a", "first"]
    assert stopped.status == "ABORTED"


def test_a_deadline_does_not_count_while_it_undoes() -> None:
    definition = {**chain("a", "b", "c"), "TimeoutSeconds": 10}
    world = World(definition, failing("c", otherwise=slow("undo_b"))).start()
    world.wait(1)
    assert world.execution.deadline_at is not None
    world.now = world.execution.deadline_at
    world.tell(DeadlinePassed(1, world.execution.deadline_at))
    world.finish()
    assert world.status == "FAILED"


def test_items_and_variables_are_those_of_their_time() -> None:
    given: Json = {"Parameters": {"item.$": "$$.Map.Item.Value", "v.$": "$v"}}
    assert isinstance(given, dict)
    x = task(Resource="celery:x", Compensate=undo("x", **given), Next="slow")
    last = task(Resource="celery:slow", Compensate=undo("slow", **given))
    branch = states(x=x, slow=last)
    definition = states(
        set={"Type": "Pass", "Assign": {"v": 1}, "Next": "fork"},
        fork=parallel(
            states(m=mapping(branch, ItemsPath="$")),
            states(
                w={"Type": "Wait", "Seconds": 5, "Next": "bad"}, bad=task(Resource="celery:bad")
            ),
        ),
    )
    world = World(definition, failing("bad", otherwise=slow("slow"))).run(["one", "two"])
    given_to = [c.input for c in world.calls if "undo" in c.resource]
    assert len(given_to) == 4
    assert [one for one in given_to if one == {"item": "one", "v": 1}] * 2 == [
        {"item": "one", "v": 1}
    ] * 4


@pytest.mark.parametrize("language", ["JSONPath", "JSONata"])
def test_below_an_iteration_its_index_stays_though_all_around_is_cancelled(language: str) -> None:
    """What runs on in a branch of an iteration is undone with the item and index of that."""
    given: Json = {"Parameters": {"item.$": "$$.Map.Item.Value", "index.$": "$$.Map.Item.Index"}}
    if language == "JSONata":
        item = "$states.context.Map.Item"
        given = {"Arguments": {"item": f"{{% {item}.Value %}}", "index": f"{{% {item}.Index %}}"}}
    assert isinstance(given, dict)
    last = states(slow=task(Resource="celery:slow", Compensate=undo("slow", **given)))
    other = states(x=task(Resource="celery:x"))
    definition = states(
        fork=parallel(
            states(m=mapping(states(both=parallel(last, other)))),
            states(
                w={"Type": "Wait", "Seconds": 5, "Next": "bad"}, bad=task(Resource="celery:bad")
            ),
        ),
    )
    definition["QueryLanguage"] = language
    definition["States"]["fork"]["Branches"][0]["States"]["m"] |= (
        {"Items": ["one", "two"]} if language == "JSONata" else {"ItemsPath": "$"}
    )
    world = World(definition, failing("bad", otherwise=slow("slow"))).run(["one", "two"])
    given_to = [c.input for c in world.calls if "undo" in c.resource]
    items = {one["item"]: one["index"] for one in given_to if isinstance(one, dict)}
    assert items == {"one": 0, "two": 1}
