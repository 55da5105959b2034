"""A slot: claims a task, runs its handler, hands in the result, goes on while there is work."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

import structlog

from orchestrator import crashpoint
from orchestrator.dispatch.company import LONELY, OTHERS, Company, Welcome
from orchestrator.dispatch.leases import Leases
from orchestrator.dispatch.serving import Serving
from orchestrator.engine import Arrival, Bell, Claimant, Engine, Group, Handled
from orchestrator.engine import Outcome as Verdict
from orchestrator.execution.decision import View
from orchestrator.execution.events import TaskFailed, TaskSucceeded
from orchestrator.execution.payload import Payload
from orchestrator.handlers import Failed, Outcome, Returned, TaskContext, Undone
from orchestrator.outage import Outage
from orchestrator.store import Claim, Store, StoreUnavailable

log = structlog.get_logger(__name__)

FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 5.0
"""A result is handed in again after pauses that double between these."""
LATE_SECONDS: Final = 0.25
"""A task that was claimed later than this after it became ready has others behind it."""
MOST_FAILURES: Final = 10
"""How often a result is handed in that is neither committed nor kept, until its claim lapses."""


CLAIMED_TOGETHER: Final = 16
"""How many slots of a process claim in one statement."""
GATHER_SECONDS: Final = 0.001
"""How long a slot that would claim waits for others of its process to do so, too, ..."""
MANY_RUNNING: Final = 3
"""... if so many tasks run there, whose results may be committed, and answered, together."""

Wish: TypeAlias = "tuple[str, Serving]"
"""A slot's wish for a task of a queue, among those that it serves."""


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
    company: Company
    claims: Group[Wish, Claim | None]
    draining: Callable[[], bool]
    """Whether the worker is ending: what runs is finished, nothing new is claimed."""


def claims_of(worker: str, store: Store, company: Company) -> Group[Wish, Claim | None]:
    """Slots of a process that look at the same time claim together, queue by queue."""
    return Group(
        _Claims(worker, store, company).all,
        CLAIMED_TOGETHER,
        lambda: GATHER_SECONDS if company.running >= MANY_RUNNING else 0.0,
    )


class _Claims:
    def __init__(self, worker: str, store: Store, company: Company) -> None:
        self._worker = worker
        self._store = store
        self._company = company

    def all(self, wishes: list[Wish]) -> list[Claim | None]:
        """Claim for as many slots as may have something now."""
        _, serving = wishes[0]
        welcome = self._company.welcome(
            len(wishes), lambda: self._store.waits_alone(serving.queues, serving.resources)
        )
        if welcome is LONELY:
            claims = self._claim(sorted(serving.queues), serving, serving.resources, 1, LONELY)
            self._company.open()
            if claims:
                return [claims[0], *self._refused(wishes[1:])]
            welcome = OTHERS
        if welcome is None:
            return self._refused(wishes)
        found: dict[Wish, list[Claim]] = {}
        for wish, slots in Counter(wishes).items():
            queue, serving = wish
            try:
                found[wish] = self._claim([queue], serving, serving.on_queue(queue), slots, welcome)
            except StoreUnavailable:
                if not any(found.values()):
                    raise
                break  # what is claimed runs; the others look again
        return [found[wish].pop(0) if found.get(wish) else None for wish in wishes]

    def _claim(
        self,
        queues: list[str],
        serving: Serving,
        resources: frozenset[str],
        slots: int,
        welcome: Welcome,
    ) -> list[Claim]:
        claims = self._store.claim(
            self._worker,
            queues,
            resources,
            limit=slots,
            at_most_once=serving.at_most_once,
            lost_from=welcome.lost_from,
            lost_to=welcome.lost_to,
        )
        for claim in claims:
            self._company.took(claim)
        return claims

    def _refused(self, wishes: list[Wish]) -> list[Claim | None]:
        for queue, _ in wishes:
            self._company.refuse(queue)
        return [None] * len(wishes)


class Slot:
    """One thread of work of a worker."""

    def __init__(self, desk: Desk, serving: Serving) -> None:
        self._desk = desk
        self._serving = serving
        self._claimant = Claimant(
            desk.worker, serving.resources, serving.at_most_once, desk.store.lease_seconds
        )

    def work(self, queue: str) -> int:
        """Run tasks of a queue, and those that their results make ready; how many were run.

        Every ready task has a bell of its own, so a slot claims more than it was rung for only
        where bells seem lost. A slice that is spent leaves the rest to others.
        """
        spent = _Spending(self._desk.slice, self._desk.draining)
        claim = self._claim(queue)
        late = claim is not None and _late(claim)
        view = None if claim is None else claim.view
        while claim is not None:
            spent.tasks += 1
            goes_on = spent.goes_on() and not self._desk.company.closing
            handled = self._run(claim, view, self._claimant if goes_on else None)
            claim, view = self._kept(handled.claim), handled.view
            if claim is None and late and spent.goes_on():
                claim = self._claim(queue)
                view = None if claim is None else claim.view
                late = claim is not None and _late(claim)
        if late:
            self._desk.bell.ring({queue: 1})
        return spent.tasks

    def _claim(self, queue: str) -> Claim | None:
        if self._desk.draining():
            return None
        asked_at = time.monotonic()
        try:
            claim = self._desk.claims.do((queue, self._serving))
        except StoreUnavailable as away:
            self._desk.outage.failed(away)
            return None
        self._desk.outage.passed(asked_at)
        return self._kept(claim)

    def _kept(self, claim: Claim | None) -> Claim | None:
        """The claim, unless the worker is ending: then it is given back for others to run."""
        if claim is None or not self._desk.draining():
            return claim
        try:
            self._desk.store.release(self._desk.worker, [claim])
        except StoreUnavailable as away:  # its lease will lapse
            self._desk.outage.failed(away)
        self._desk.company.left(claim)
        self._desk.bell.ring({self._serving.handler(claim.resource).queue: 1})
        return None

    def _run(self, claim: Claim, view: View | None, claimant: Claimant | None) -> Handled:
        try:
            handled = self._done(claim, view, claimant)
            if handled.claim is not None:
                self._desk.company.took(handled.claim)
            return handled
        finally:
            self._desk.company.left(claim)

    def _done(self, claim: Claim, view: View | None, claimant: Claimant | None) -> Handled:
        served = self._serving.handler(claim.resource)
        started_at = self._desk.store.now()
        with self._desk.leases.held(claim) as lost:
            context = _context(claim, partial(self._beat, claim), lost)
            crashpoint.reach("claimed")
            outcome = served.run(self._desk.engine.callbacks.filled(claim), context)
            crashpoint.reach("handled")
            return self._hand_in(Arrival(_event(claim, outcome, started_at), claimant, view))

    def _beat(self, claim: Claim, progress: Payload | None) -> bool:
        try:
            return self._desk.store.heartbeat(claim, progress)
        except StoreUnavailable as away:
            self._desk.outage.failed(away)
            return True  # the lease will tell

    def _hand_in(self, arrival: Arrival) -> Handled:
        """Keep a result until the engine says that it is committed or stale."""
        pause_seconds = FIRST_PAUSE_SECONDS
        failures = 0
        while True:
            asked_at = time.monotonic()
            try:
                handled = self._desk.engine.hand_in(arrival)
            except StoreUnavailable as away:
                self._desk.outage.failed(away)
            else:
                self._desk.outage.passed(asked_at)
                failures += handled.outcome is Verdict.FAILED
                if handled.outcome is not Verdict.FAILED or _given_up(handled, failures):
                    return handled
            # Spread, so that the workers of a fleet do not come back in step.
            time.sleep(pause_seconds * random.uniform(0.5, 1.0))  # noqa: S311
            pause_seconds = min(2 * pause_seconds, LONGEST_PAUSE_SECONDS)


class _Spending:
    """What is left of a slice."""

    def __init__(self, allowed: Slice, draining: Callable[[], bool]) -> None:
        self._until = time.monotonic() + allowed.seconds
        self._most = allowed.tasks
        self._draining = draining
        self.tasks = 0

    def goes_on(self) -> bool:
        return self.tasks < self._most and time.monotonic() < self._until and not self._draining()


def _late(claim: Claim) -> bool:
    """Whether the task has waited as if bells were lost or slots were few."""
    return (claim.claimed_at - claim.task.ready_at).total_seconds() > LATE_SECONDS


def _given_up(handled: Handled, failures: int) -> bool:
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
        undoes=None if claim.undoes is None else Undone(claim.undoes),
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
