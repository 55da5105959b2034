"""What stops a state: a failure, and what retrying and catching it depends on."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.errors import (
    DATA_LIMIT_EXCEEDED,
    HEARTBEAT_TIMEOUT,
    TIMEOUT,
    Failure,
    StateFailure,
    matches,
    matches_branch,
)
from orchestrator.asl.limits import Limits
from orchestrator.asl.retries import Catcher, Retrier

DELIVERIES_SPENT = "Task.DeliveriesSpent"
WORKER_LOST = "Task.WorkerLost"


class OutputTooLarge(StateFailure):
    """A state's input or output, once processed, is over the limit: nothing catches that."""

    def __init__(self, name: str) -> None:
        super().__init__(
            DATA_LIMIT_EXCEEDED,
            f"The state/task '{name}' returned a result with a size exceeding the maximum number "
            "of bytes service limit.",
        )


@dataclass(frozen=True, slots=True)
class Setback:
    """A failure, seen by the state that it happened to."""

    failure: Failure
    terminal: bool = False
    """Neither retried nor caught, at no level."""
    branch: bool = False
    """A branch or an iteration failed with it."""
    reported: bool = False
    """The handler declared it: what it did to the world is known."""
    unknown: bool = False
    """Of an at-most-once handler, here or in a branch: it may have done its work.

    It is retried by its own name only.
    """
    before_the_fork: bool = False
    """Its fork could not be opened since an expression has failed."""
    heartbeat: bool = False
    """A missed heartbeat, which is reported as States.Timeout."""
    silent: bool = False
    """Its task was claimed and never reported: nobody knows what it did to the world."""
    recorded: bool = False
    """What its state may have done is undone; the history says that its fork has failed."""

    def retried_by(self, retrier: Retrier) -> bool:
        """Tell whether a Retrier takes it."""
        if self.unknown:
            return any(name in retrier.error_equals for name in self._own_names())
        return self._taken_by(retrier.error_equals)

    def caught_by(self, catcher: Catcher) -> bool:
        """Tell whether a Catcher takes it."""
        return self._taken_by(catcher.error_equals)

    def _taken_by(self, names: tuple[str, ...]) -> bool:
        if self.terminal:
            return False
        error = HEARTBEAT_TIMEOUT if self.heartbeat else self.failure.error
        return matches_branch(names, error) if self.branch else matches(names, error)

    def _own_names(self) -> tuple[str | None, ...]:
        return (self.failure.error, HEARTBEAT_TIMEOUT) if self.heartbeat else (self.failure.error,)

    @property
    def cause_text(self) -> str | None:
        """The cause as an error output holds it: a time-out has an empty one."""
        if self.failure.cause is None and self.failure.error == TIMEOUT:
            return ""
        return self.failure.cause


def lost(deliveries: int, *, at_most_once: bool, work: str = "task") -> Failure:
    """Return the failure of what was lost with its workers, so often or for good."""
    if at_most_once:
        return Failure(WORKER_LOST, f"The worker was lost; the {work} may or may not have run.")
    return Failure(DELIVERIES_SPENT, f"The {work} was lost {deliveries} times.")


def bounded(error: str | None, cause: str | None, limits: Limits) -> Failure:
    """Return what somebody reported as a failure, cut to the lengths that are recorded."""
    return Failure(
        None if error is None else error[: limits.error_characters],
        None if cause is None else cause[: limits.cause_characters],
    )
