"""What a decision becomes before it is committed: its new tasks get their queues, one a claimant.

A claim inside the commit is a claim: the same columns, the same lease, the same count of
deliveries as if the worker had claimed the task a moment later.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from orchestrator.execution.commands import RingBell
from orchestrator.execution.decision import Decision, FrameUpdate, View
from orchestrator.execution.frame import Frame, RestsOn, Task
from orchestrator.store import Claim


@dataclass(frozen=True, slots=True)
class Claimant:
    """A worker's slot that goes on with a task that its own result makes ready."""

    worker: str
    resources: AbstractSet[str]
    at_most_once: AbstractSet[str]
    lease_seconds: float


@dataclass(frozen=True, slots=True)
class Prepared:
    """A decision as it will be committed, and the claim inside it."""

    decision: Decision
    claim: Claim | None = None


class _Preparing:
    def __init__(
        self, queue: Callable[[str], str | None], claimant: Claimant | None, now: datetime
    ) -> None:
        self._queue = queue
        self._claimant = claimant
        self._now = now
        self.claimed: Frame | None = None

    def frame(self, frame: Frame, before: Frame | None = None) -> Frame:
        """The frame with its new task routed, and claimed if it is the first that can be."""
        task = frame.task
        if task is None or task.queue is not None or frame.rests_on is not RestsOn.TASK:
            return frame
        task = replace(task, queue=self._queue(task.resource))
        claimant = self._claimant
        if claimant is None or self.claimed or task.resource not in claimant.resources:
            return replace(frame, task=task)
        self.claimed = self._claim(frame, _in_place(task, before), claimant)
        return self.claimed

    def _claim(self, frame: Frame, task: Task, claimant: Claimant) -> Frame:
        moments = [] if frame.timeout_at is None else [frame.timeout_at]
        if task.heartbeat_seconds is not None:
            moments.append(self._now + timedelta(seconds=task.heartbeat_seconds))
        claimed = replace(
            task,
            claimed_by=claimant.worker,
            lease_until=self._now + timedelta(seconds=claimant.lease_seconds),
            deliveries=1,
            at_most_once=task.resource in claimant.at_most_once,
        )
        return replace(frame, task=claimed, wake_at=min(moments, default=None))


def _in_place(task: Task, before: Frame | None) -> Task:
    """The task with the place in its queue that the frame's last one had, if it is the same queue.

    Nobody waits for a task that is claimed already; and as no index has to follow, PostgreSQL
    can write the row in place.
    """
    last = None if before is None else before.task
    if last is None or last.queue != task.queue:
        return task
    return replace(task, ready_at=last.ready_at)


def prepare(
    decision: Decision,
    view: View | None,
    queue: Callable[[str], str | None],
    claimant: Claimant | None,
    now: datetime,
) -> Prepared:
    """Fill in the queues of new tasks; claim the first that the claimant serves."""
    if not any(isinstance(command, RingBell) for command in decision.commands):
        return Prepared(decision)
    before = {} if view is None else view.frames
    preparing = _Preparing(queue, claimant, now)
    updated = tuple(
        FrameUpdate(preparing.frame(change.frame, before.get(change.frame.id)), change.seen)
        for change in decision.updated
    )
    inserted = tuple(preparing.frame(frame) for frame in decision.inserted)
    routed = replace(decision, updated=updated, inserted=inserted)
    frame = preparing.claimed
    if frame is None or frame.task is None or claimant is None:
        return Prepared(routed)
    run = decision.execution
    return Prepared(
        routed,
        Claim(
            execution=run.id,
            machine=run.machine,
            execution_name=run.name,
            worker=claimant.worker,
            claimed_at=now,
            row=frame,
            task=frame.task,
        ),
    )


def view_in_hand(prepared: Prepared, view: View) -> View | None:
    """What the next event of the claimed frame will find, if nothing else comes first.

    Only of an execution's root frame: whoever has siblings reads again; and so does whoever tells
    that it is alive, as that changes the frame.
    """
    claim = prepared.claim
    if claim is None or claim.frame != "" or claim.heartbeat_seconds is not None:
        return None
    return View(
        execution=prepared.decision.execution,
        scope=view.scope,
        frames={"": claim.row},
        forks={},
        input=view.input,
    )
