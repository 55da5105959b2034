"""What ends an execution from outside, and what comes too late."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from orchestrator.execution.decide import decide
from orchestrator.execution.decision import Stale
from orchestrator.execution.events import (
    DeadlinePassed,
    MomentDue,
    StopRequested,
    TaskFailed,
    TaskLost,
    TaskSucceeded,
    frame_of,
)
from orchestrator.execution.payload import Payload
from tests.execution.definitions import mapping, parallel, states, task
from tests.execution.harness import START, World
from tests.execution.outcomes import Hung, script

WAIT: dict[str, Any] = {"Type": "Wait", "Seconds": 60, "End": True}


# --------------------------------------------------------------------------------------- endings


@pytest.mark.parametrize(
    ("error", "cause", "details"),
    [
        (None, None, {}),
        ("Stopped", "by hand", {"error": "Stopped", "cause": "by hand"}),
    ],
)
def test_a_stop_aborts_the_execution_and_every_frame_goes(
    error: str | None, cause: str | None, details: dict[str, str]
) -> None:
    world = World(states(P=parallel(states(A=task()), states(W=WAIT)))).start().stop(error, cause)
    assert (world.status, world.error, world.cause) == ("ABORTED", error, cause)
    assert world.history[-1].type == "ExecutionAborted"
    assert world.history[-1].previous_id == 0
    assert world.history[-1].details == details
    assert world.execution.final_state == "P"
    assert world.decisions[-1].ends


def test_the_time_limit_of_the_machine_ends_the_execution() -> None:
    world = World({**states(A=task()), "TimeoutSeconds": 90}, script(Hung())).run()
    assert (world.status, world.error, world.seconds) == ("TIMED_OUT", None, 90.0)
    assert world.history[-1].type == "ExecutionTimedOut"
    assert world.history[-1].previous_id == 0


def test_nothing_happens_after_the_end() -> None:
    world = World(states(W=WAIT)).run()
    assert isinstance(world.tell(StopRequested(1, None, None)), Stale)


# ------------------------------------------------------------------------------------- staleness


def asking() -> tuple[World, TaskSucceeded]:
    """Return a world whose task is claimed, and the report that it waits for."""
    retry = [{"ErrorEquals": ["E"], "MaxAttempts": 1}]
    world = World({**states(A=task(Retry=retry, TimeoutSeconds=60)), "TimeoutSeconds": 500}).start()
    world.claim()
    event = world.reports[0][2]
    assert isinstance(event, TaskSucceeded)
    return world, event


def test_a_report_that_is_asked_for_counts() -> None:
    world, event = asking()
    world.tell(event)
    assert world.status == "SUCCEEDED"


@pytest.mark.parametrize(
    "change",
    [
        {"token": "other"},
        {"delivery": 2},
        {"delivery": 0},
        {"claimed_by": "another"},
        {"frame": "/9.9"},
    ],
)
def test_a_report_counts_only_with_its_token_delivery_and_claim(change: dict[str, Any]) -> None:
    world, event = asking()
    assert isinstance(world.tell(replace(event, **change)), Stale)
    failed = TaskFailed(1, "", event.token, 1, "worker", "E", None, START)
    assert isinstance(world.tell(replace(failed, **change)), Stale)
    assert len(world.decisions) == 1


@pytest.mark.parametrize("change", [{"token": "other"}, {"delivery": 2}, {"frame": "/9.9"}])
def test_a_loss_counts_only_with_its_token_and_delivery(change: dict[str, Any]) -> None:
    world, event = asking()
    lost = TaskLost(1, "", event.token, 1)
    assert isinstance(world.tell(replace(lost, **change)), Stale)


def test_a_report_of_an_attempt_that_is_over_is_stale() -> None:
    world, event = asking()
    world.tell(TaskFailed(1, "", event.token, 1, "worker", "E", None, START))
    assert isinstance(world.tell(event), Stale)
    assert world.only_frame().task is None


def test_a_report_comes_too_late_when_the_time_limit_has_been_met() -> None:
    world, event = asking()
    frame = world.only_frame()
    assert frame.wake_at is not None
    world.now = frame.wake_at
    world.tell(MomentDue(1, "", frame.entry, frame.wake_at))
    assert isinstance(world.tell(event), Stale)


@pytest.mark.parametrize(
    "change", [{"entry": 3}, {"wake_at": START + timedelta(seconds=59)}, {"frame": "/9.9"}]
)
def test_a_moment_counts_only_with_its_entry_and_time(change: dict[str, Any]) -> None:
    world = World(states(W=WAIT)).start()
    frame = world.only_frame()
    assert frame.wake_at is not None
    world.now = frame.wake_at
    due = MomentDue(1, "", frame.entry, frame.wake_at)
    assert isinstance(world.tell(replace(due, **change)), Stale)
    world.tell(due)
    assert world.status == "SUCCEEDED"


def test_a_moment_that_has_not_come_changes_nothing() -> None:
    world = World(states(W=WAIT)).start()
    frame = world.only_frame()
    assert frame.wake_at is not None
    assert isinstance(world.tell(MomentDue(1, "", frame.entry, frame.wake_at)), Stale)


def test_a_deadline_counts_only_if_it_is_the_execution_s_and_has_passed() -> None:
    world, _ = asking()
    deadline = world.execution.deadline_at
    assert deadline == START + timedelta(seconds=500)
    assert isinstance(world.tell(DeadlinePassed(1, deadline)), Stale)
    world.now = deadline
    assert isinstance(world.tell(DeadlinePassed(1, START)), Stale)
    world.tell(DeadlinePassed(1, deadline))
    assert world.status == "TIMED_OUT"


def test_a_clock_that_went_back_does_not_disorder_the_history() -> None:
    world, event = asking()
    world.now = START - timedelta(hours=1)
    world.tell(event)
    assert world.execution.last_event_at == START
    assert world.history[-1].at == START


def test_events_know_which_frame_they_concern() -> None:
    assert frame_of(TaskLost(1, "/3.0", "t", 1)) == "/3.0"
    assert frame_of(StopRequested(1, None, None)) == ""
    assert frame_of(DeadlinePassed(1, START)) == ""


def test_the_same_decision_comes_out_when_it_is_computed_again() -> None:
    selector = {"id.$": "States.UUID()", "n.$": "States.MathRandom(0, 1000000)"}
    definition = states(A=task(ResultSelector=selector, Next="M"), M=mapping(states(T=task())))
    world = World({**definition}).start()
    world.claim()
    event = world.reports[0][2]
    assert isinstance(event, TaskSucceeded)
    event = replace(event, result=Payload.of([1, 2]))
    known = (world.machine, world.view(""), event, world.now, b"\x01" * 32, world.limits)
    assert decide(*known) == decide(*known)
