"""Activities, whose workers poll for tasks, and the answers that are sent by a task's token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from orchestrator.asl import document
from orchestrator.asl.document import DocumentError
from orchestrator.asl.limits import Limits
from orchestrator.engine import Engine, InvalidTaskToken, Outcome, TokenOf
from orchestrator.execution.events import CallbackFailed, CallbackSucceeded
from orchestrator.execution.payload import Payload
from orchestrator.service.errors import (
    ActivityDoesNotExist,
    InvalidOutput,
    TaskDoesNotExist,
    TaskTimedOut,
    Undecided,
)
from orchestrator.store import ActivityRow, Claim, Store

ACTIVITY: Final = "activity:"
"""What the resource, the queue and the topic of an activity begin with; its name follows."""
UNLEASED_SECONDS: Final = 10 * 366 * 86_400.0
"""An activity's claim has no lease: HeartbeatSeconds and TimeoutSeconds are all it has."""


@dataclass(frozen=True, slots=True)
class ActivityTask:
    """A task of an activity for one worker; the token answers it."""

    token: str
    input: Payload
    claim: Claim


class Activities:
    """Makes and shows activities, and hands out their tasks."""

    def __init__(self, store: Store, engine: Engine) -> None:
        self._store = store
        self._engine = engine

    def create_activity(self, name: str) -> ActivityRow:
        """Make an activity, unless it is there already."""
        return self._store.activities.create(name)

    def describe_activity(self, name: str) -> ActivityRow:
        """An activity; raises ActivityDoesNotExist."""
        row = self._store.activities.find(name)
        if row is None:
            raise ActivityDoesNotExist(name)
        return row

    def list_activities(self, after: str, limit: int) -> list[ActivityRow]:
        """A page of activities by name, behind the name `after`."""
        return self._store.activities.page(after, limit)

    def delete_activity(self, name: str) -> None:
        """Let an activity go; states that want it fail from now on."""
        self._store.activities.remove(name)

    def get_activity_task(self, name: str, worker: str | None) -> ActivityTask | None:
        """Claim the task of an activity that has waited longest; None if none waits."""
        queue = ACTIVITY + name
        claims = self._store.claim(
            f"{ACTIVITY}{worker or ''}",
            [queue],
            [queue],
            limit=1,
            lease_seconds=UNLEASED_SECONDS,
        )
        for claim in claims:
            return ActivityTask(self._engine.callbacks.token(claim), claim.arguments, claim)
        return None

    def give_back(self, task: ActivityTask) -> None:
        """Let another worker have a task: nobody has seen it."""
        self._store.release(task.claim.worker, [task.claim])
        self._store.tell([task.claim.resource])

    def waiting(self, topics: list[str]) -> list[str]:
        """Those of the topics that there is something to look for."""
        ready = {one.queue for one in self._store.ready()}
        ended = {int(one.partition(":")[2]) for one in topics if one.startswith(ENDED)}
        over = {f"{ENDED}{one}" for one in self._store.ended(sorted(ended))} if ended else set()
        return [topic for topic in topics if topic in ready or topic in over]


ENDED: Final = "ended:"
"""What the topic of an execution's end begins with; its id follows."""


class Callbacks:
    """Takes the answers that tokens allow; exactly one per token counts."""

    def __init__(self, store: Store, engine: Engine, limits: Limits) -> None:
        self._store = store
        self._engine = engine
        self._limits = limits

    def send_task_success(self, token: str, output: str) -> None:
        """End a task with an output, JSON text.

        Raises InvalidTaskToken, InvalidOutput, TaskDoesNotExist, TaskTimedOut.
        """
        of = self._engine.callbacks.read(token)
        try:
            payload = Payload.of(document.read(output, limits=self._limits))
        except DocumentError as error:
            raise InvalidOutput(f"Invalid Output: '{error}'") from None
        self._send(CallbackSucceeded(of.execution, of.frame, of.token, payload), of)

    def send_task_failure(self, token: str, error: str | None, cause: str | None) -> None:
        """End a task with a failure. Raises InvalidTaskToken, TaskDoesNotExist, TaskTimedOut."""
        of = self._engine.callbacks.read(token)
        self._send(CallbackFailed(of.execution, of.frame, of.token, error, cause), of)

    def send_task_heartbeat(self, token: str) -> None:
        """Put off the heartbeat's moment. Raises as `send_task_failure` does."""
        of = self._engine.callbacks.read(token)
        if not self._store.beat(of.execution, of.frame, of.token):
            raise self._gone(of)

    def _send(self, event: CallbackSucceeded | CallbackFailed, of: TokenOf) -> None:
        (handled,) = self._engine.handle_many([event])
        match handled.outcome:
            case Outcome.COMMITTED | Outcome.KEPT:
                return
            case Outcome.STALE:
                raise self._gone(of)
            case Outcome.FAILED:
                raise Undecided(handled.reason)

    def _gone(self, of: TokenOf) -> TaskTimedOut | TaskDoesNotExist:
        if self._store.execution(of.execution) is None:
            return TaskDoesNotExist("Task Does Not Exist: 'its execution is not there'")
        return TaskTimedOut(
            "Task Timed Out: 'Provided task does not exist anymore or was answered already'"
        )


__all__ = [
    "ACTIVITY",
    "ENDED",
    "Activities",
    "ActivityTask",
    "Callbacks",
    "InvalidTaskToken",
]
