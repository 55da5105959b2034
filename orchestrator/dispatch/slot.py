"""A slot: claims a task, runs its handler, hands in the result, goes on while there is work."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

import structlog

from orchestrator.dispatch import share
from orchestrator.dispatch.leases import Leases
from orchestrator.dispatch.outage import Outage
from orchestrator.dispatch.serving import Serving
from orchestrator.engine import Bell, Engine, Handled
from orchestrator.engine import Outcome as Verdict
from orchestrator.execution.events import TaskFailed, TaskSucceeded
from orchestrator.execution.payload import Payload
from orchestrator.handlers import Failed, Outcome, Returned, TaskContext
from orchestrator.store import Claim, Store, StoreUnavailable

log = structlog.get_logger(__name__)

FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 5.0
"""A result is handed in again after pauses that double between these."""
LATE_SECONDS: Final = 0.25
"""A task that was claimed later than this after it became ready has others behind it."""
MOST_FAILURES: Final = 3
"""How often a result whose decision fails is handed in again before the claim is left to lapse."""


@dataclass(frozen=True, slots=True)
class Slice:
    """How long a slot goes on before others have a turn."""

    seconds: float
    tasks: int


@dataclass(frozen=True, slots=True)
class Desk:
    """What the slots of one process share."""

    worker: str
    store: Store
    engine: Engine
    bell: Bell
    leases: Leases
    outage: Outage
    slice: Slice
    draining: Callable[[], bool]
    """Whether the worker is ending: what runs is finished, nothing new is claimed."""


class Slot:
    """One thread of work of a worker."""

    def __init__(self, desk: Desk, serving: Serving) -> None:
        self._desk = desk
        self._serving = serving

    def work(self, queue: str) -> int:
        """Run tasks of a queue while there is reason to expect one; how many were run.

        A slice that is spent while there is reason rings once for what may still be ready.
        """
        until = time.monotonic() + self._desk.slice.seconds
        done = 0
        unheard = True
        while unheard and done < self._desk.slice.tasks and time.monotonic() < until:
            claim = self._claim(queue)
            if claim is None:
                unheard = False
                break
            self._run(claim)
            done += 1
            unheard = share.owes() or _late(claim)
        if share.settle() or unheard:
            self._desk.bell.ring({queue: 1})
        return done

    def _claim(self, queue: str) -> Claim | None:
        if self._desk.draining():
            return None
        try:
            claims = self._desk.store.claim(
                self._desk.worker,
                [queue],
                self._serving.on_queue(queue),
                limit=1,
                at_most_once=self._serving.at_most_once,
            )
            share.settle()
            if claims and self._desk.draining():
                self._desk.store.release(self._desk.worker, claims)
                return None
        except StoreUnavailable as away:
            self._desk.outage.began(away)
            return None
        self._desk.outage.ended()
        return claims[0] if claims else None

    def _run(self, claim: Claim) -> None:
        served = self._serving.handler(claim.resource)
        started_at = self._desk.store.now()
        with self._desk.leases.held(claim) as lost:
            context = _context(claim, partial(self._beat, claim), lost)
            outcome = served.run(claim.arguments, context)
            with share.going_on(served.queue):
                self._hand_in(_event(claim, outcome, started_at))

    def _beat(self, claim: Claim, progress: Payload | None) -> bool:
        try:
            return self._desk.store.heartbeat(claim, progress)
        except StoreUnavailable as away:
            self._desk.outage.began(away)
            return True  # the lease will tell

    def _hand_in(self, event: TaskSucceeded | TaskFailed) -> None:
        """Keep a result until the engine says that it is committed or stale."""
        pause_seconds = FIRST_PAUSE_SECONDS
        failures = 0
        while True:
            try:
                (handled,) = self._desk.engine.handle_many([event])
            except StoreUnavailable as away:
                self._desk.outage.began(away)
            else:
                self._desk.outage.ended()
                failures += handled.outcome is Verdict.FAILED
                if handled.outcome is not Verdict.FAILED or _spent(handled, failures):
                    return
            # Spread, so that the workers of a fleet do not come back in step.
            time.sleep(pause_seconds * random.uniform(0.5, 1.0))  # noqa: S311
            pause_seconds = min(2 * pause_seconds, LONGEST_PAUSE_SECONDS)


def _late(claim: Claim) -> bool:
    """Whether the task has waited as if bells were lost or slots were few.

    Every ready task has a bell of its own: a slot looks for more than it was rung for only where
    that has a reason, so that a task that is heard of at once costs one claim.
    """
    return (claim.claimed_at - claim.task.ready_at).total_seconds() > LATE_SECONDS


def _spent(handled: Handled, failures: int) -> bool:
    if failures < MOST_FAILURES:
        return False
    log.error(
        "a result could not be taken to its execution; its lease is left to lapse",
        execution=handled.event.execution,
        reason=handled.reason,
    )
    return True


def _context(
    claim: Claim, beat: Callable[[Payload | None], bool], lost: threading.Event
) -> TaskContext:
    return TaskContext(
        key=claim.key,
        attempt=claim.attempt,
        delivery=claim.delivery,
        execution=claim.execution_name,
        machine=claim.machine,
        state=claim.state,
        resource=claim.resource,
        progress=None if claim.progress is None else claim.progress.value,
        beat=beat,
        lost=lost,
    )


def _event(claim: Claim, outcome: Outcome, started_at: datetime) -> TaskSucceeded | TaskFailed:
    match outcome:
        case Returned(result):
            return TaskSucceeded(
                claim.execution,
                claim.frame,
                claim.token,
                claim.delivery,
                claim.worker,
                result,
                started_at,
            )
        case Failed(error, cause):
            return TaskFailed(
                claim.execution,
                claim.frame,
                claim.token,
                claim.delivery,
                claim.worker,
                error,
                cause,
                started_at,
            )
