"""Which errors a Retrier or Catcher takes."""

from __future__ import annotations

import pytest

from orchestrator.asl.errors import Failure, StateFailure, matches, matches_branch


@pytest.mark.parametrize(
    ("names", "error", "taken"),
    [
        (("Boom",), "Boom", True),
        (("Boom",), "boom", False),
        (("A", "B"), "B", True),
        (("States.ALL",), "Boom", True),
        (("States.ALL",), "States.Timeout", True),
        (("States.ALL",), "States.DataLimitExceeded", True),
        (("States.ALL",), None, True),
        (("States.TaskFailed",), "Boom", True),
        (("States.TaskFailed",), "States.TaskFailed", True),
        (("States.TaskFailed",), "States.Permissions", True),
        (("States.TaskFailed",), "States.Timeout", False),
        (("States.TaskFailed",), "States.HeartbeatTimeout", False),
        (("States.Timeout",), "States.Timeout", True),
        (("States.Timeout",), "States.HeartbeatTimeout", True),
        (("States.HeartbeatTimeout",), "States.HeartbeatTimeout", True),
        (("States.HeartbeatTimeout",), "States.Timeout", False),
        (("States.BranchFailed",), "Boom", False),
        ((), "Boom", False),
    ],
)
def test_a_retrier_takes_the_errors_it_names(
    names: tuple[str, ...], error: str, taken: bool
) -> None:
    assert matches(names, error) is taken


@pytest.mark.parametrize(
    "names",
    [("States.Runtime",), ("States.ALL",), ("States.TaskFailed",), ("States.BranchFailed",)],
)
def test_a_runtime_error_is_taken_by_nobody(names: tuple[str, ...]) -> None:
    assert not matches(names, "States.Runtime")
    assert not matches_branch(names, "States.Runtime")


def test_a_failed_branch_is_taken_by_its_own_error_and_as_a_failed_branch() -> None:
    assert matches_branch(("States.BranchFailed",), "Boom")
    assert matches_branch(("Boom",), "Boom")
    assert matches_branch(("States.ALL",), "Boom")
    assert not matches_branch(("Other",), "Boom")


def test_a_cause_is_cut_at_its_limit() -> None:
    assert StateFailure("E", "x" * 40_000).failure == Failure("E", "x" * 32_768)
    assert StateFailure("E").failure == Failure("E", None)
