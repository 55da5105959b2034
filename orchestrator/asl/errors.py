"""The names of errors, and what a state fails with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.asl.limits import DEFAULT

ALL = "States.ALL"
BRANCH_FAILED = "States.BranchFailed"
DATA_LIMIT_EXCEEDED = "States.DataLimitExceeded"
EXCEED_TOLERATED_FAILURE_THRESHOLD = "States.ExceedToleratedFailureThreshold"
HEARTBEAT_TIMEOUT = "States.HeartbeatTimeout"
INTRINSIC_FAILURE = "States.IntrinsicFailure"
QUERY_EVALUATION_ERROR = "States.QueryEvaluationError"
RESULT_PATH_MATCH_FAILURE = "States.ResultPathMatchFailure"
RUNTIME = "States.Runtime"
TASK_FAILED = "States.TaskFailed"
TIMEOUT = "States.Timeout"


@dataclass(frozen=True, slots=True)
class Failure:
    """What a state, a branch or an execution failed with."""

    error: str | None
    cause: str | None = None


class StateFailure(Exception):
    """An evaluation failed, and with it the state that asked for it."""

    def __init__(self, error: str, cause: str | None = None) -> None:
        super().__init__(error if cause is None else f"{error}: {cause}")
        self.failure = Failure(error, None if cause is None else cause[: DEFAULT.cause_characters])


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a piece of a definition; the pointer is a JSON pointer."""

    message: str
    pointer: str


class CompileError(Exception):
    """A template or a rule cannot be compiled; it carries every fault found."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{fault.message} at {fault.pointer}" for fault in self.faults))


def matches(error_equals: Iterable[str], error: str | None) -> bool:
    """Tell whether a Retrier or Catcher that names `error_equals` takes an error.

    States.Runtime is taken by nobody. A missed heartbeat is reported as States.Timeout, so
    States.HeartbeatTimeout in `error_equals` has to be compared by who knows why it timed out:
    pass States.HeartbeatTimeout as the error of such a time-out. A Parallel or Map passes the
    error of its branch to `matches_branch`.
    """
    if error == RUNTIME:
        return False
    return any(_takes(name, error) for name in error_equals)


def matches_branch(error_equals: Iterable[str], error: str | None) -> bool:
    """Tell the same for the error with which a branch or an iteration failed."""
    names = tuple(error_equals)
    return matches(names, error) or (error != RUNTIME and BRANCH_FAILED in names)


def _takes(name: str, error: str | None) -> bool:
    if name in (error, ALL):
        return True
    if name == TASK_FAILED:
        return error not in (TIMEOUT, HEARTBEAT_TIMEOUT)
    return name == TIMEOUT and error == HEARTBEAT_TIMEOUT
