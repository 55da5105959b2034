"""A worker: slots that claim, run handlers and hand in results, as generators of pauses."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeAlias

from orchestrator.engine import Arrival, Claimant, Handled, Outcome
from orchestrator.execution.decision import View
from orchestrator.execution.events import TaskFailed, TaskSucceeded
from orchestrator.execution.payload import Payload
from orchestrator.handlers import Failed, Returned, outcome_of_result
from orchestrator.simulation.case import (
    AT_MOST_ONCE,
    QUEUES,
    UNDO,
    Babbles,
    Case,
    Deed,
    Hangs,
    Kills,
    Manner,
    Raises,
    Returns,
)
from orchestrator.simulation.ledger import Run
from orchestrator.simulation.parts import LEASE_SECONDS, Deployment, Parts
from orchestrator.simulation.sagas import undoing
from orchestrator.simulation.sometimes import Sometimes
from orchestrator.simulation.world import Killed, Process
from orchestrator.store import LONELY_FROM, Announcement, Claim, StoreUnavailable, WorkerKind

SLOTS: Final = 2
LOOK_SECONDS: Final = 10.0
MOST_FAILURES: Final = 3
MOST_HANGING: Final = 40
"""How often a hung handler is looked after before its slot is given up."""

Pauses: TypeAlias = Iterator[float]
_Report: TypeAlias = "TaskSucceeded | TaskFailed"


@dataclass(slots=True, eq=False)
class _Held:
    claim: Claim
    freezes: int
    """How often the process had been frozen when it claimed."""
    lost: bool = False


@dataclass(frozen=True, slots=True)
class _Steps:
    """A slot at work: takes a step, rests, takes the next one."""

    worker: Worker
    pauses: Pauses

    def take(self) -> None:
        """Go on until the next pause."""
        try:
            seconds = next(self.pauses)
        except StopIteration:
            self.worker.free += 1
        else:
            self.worker.process.later(seconds, self.take)


class Worker:
    """One life of one worker process."""

    def __init__(self, process: Process, deployment: Deployment, cases: Mapping[str, Case]) -> None:
        self.process = process
        self.free = SLOTS
        self._world = process.world
        self._parts = Parts.of(deployment, process)
        self._cases = cases
        """By the machine's name."""
        self._broker = deployment.broker
        self._name = self._parts.name
        self._deployment = deployment
        self._claimant = Claimant(self._name, frozenset(QUEUES), AT_MOST_ONCE, LEASE_SECONDS)
        self._held: list[_Held] = []
        self._announced = False
        self.draining = False
        """Set at any moment, as by a signal: it claims nothing more."""

    def begin(self) -> None:
        """Announce what is served, and listen."""
        self._broker.listen(self.process, self)
        if self._deployment.beating:
            self._parts.beat(WorkerKind.WORKER, lambda: None)
        self._look()
        self.process.later(LEASE_SECONDS / 3, self._renew)

    @property
    def busy(self) -> bool:
        """Whether it runs handlers."""
        return bool(self._held)

    def drain(self) -> None:
        """End when nothing runs."""
        if self._held:
            self.process.later(1.0, self.drain)
        else:
            raise Killed

    def hear(self, queue: str) -> None:
        """Put a slot to work, if one is free."""
        if self.free and not self.draining:
            self.free -= 1
            _Steps(self, self._work(queue)).take()

    # -- what goes on beside the slots -----------------------------------------------------------

    def _look(self) -> None:
        """Announce, and look for tasks that nobody has rung for."""
        served = {
            resource: Announcement(queue, resource in AT_MOST_ONCE)
            for resource, queue in QUEUES.items()
        }
        try:
            if not self._announced:
                self._parts.store.announce(self._name, served)
                self._announced = True
            waiting = self._parts.store.ready(1.0) if self.free else []
        except StoreUnavailable:
            self.process.later(1.0, self._look)
            return
        for one in waiting:
            self.hear(one.queue)
        self.process.later(self._world.chance.between(0.5, 1.0) * LOOK_SECONDS, self._look)

    def _renew(self) -> None:
        held = [one for one in self._held if not one.lost]
        until = self._world.now() + timedelta(seconds=LEASE_SECONDS)
        try:
            claims = [one.claim for one in held]
            lost = self._parts.store.renew(self._name, claims) if claims else []
        except StoreUnavailable:
            self.process.later(1.0, self._renew)
            return
        for one in held:
            if one.claim in lost:
                one.lost = True
                self._world.count(Sometimes.LOST_AT_RENEWAL)
            else:
                self._world.ledger.renewed(one.claim, until)
        self.process.later(LEASE_SECONDS / 3, self._renew)

    # -- a slot ----------------------------------------------------------------------------------

    def _work(self, queue: str) -> Pauses:
        claim, view = self._claim(queue), None
        while claim is not None:
            held = _Held(claim, self.process.freezes)
            self._held.append(held)
            handled = yield from self._run(held, view)
            self._held.remove(held)
            claim, view = (None, None) if handled is None else (handled.claim, handled.view)
            if claim is not None:
                self._world.count(Sometimes.INLINE)
                claim = self._kept(claim)
            if claim is None:
                view = None
                claim = self._claim(queue)

    def _claim(self, queue: str) -> Claim | None:
        if self.draining or any(is_lonely(one.claim) for one in self._held):
            return None
        served = [resource for resource, one in QUEUES.items() if one == queue]
        try:
            claims = self._parts.store.claim(
                self._name,
                [queue],
                served,
                limit=1,
                at_most_once=AT_MOST_ONCE,
                lost_to=LONELY_FROM - 1 if self._held else None,
            )
        except StoreUnavailable:
            return None
        if claims and self._world.chance.happens(self._world.rates.drained):
            self.draining = True
            self.process.later(1.0, self.drain)
        return self._kept(claims[0]) if claims else None

    def _buried(self, worker: str) -> bool:
        return self._deployment.beating and self._deployment.lives.is_free(worker)

    def _kept(self, claim: Claim) -> Claim | None:
        """Note a claim; a worker that is ending gives it back."""
        wrong = self._world.ledger.claimed(claim, self._world.latest(), self._buried)
        if wrong is not None:
            self._world.blame(wrong)
        self._world.say(self._name, f"claims {_named(claim)}")
        if claim.delivery > 1:
            self._world.count(Sometimes.DELIVERED_AGAIN)
        if not self.draining:
            return claim
        self._world.ledger.given_back(claim)
        try:
            self._parts.store.release(self._name, [claim])
        except StoreUnavailable:
            return None
        self._world.count(Sometimes.GIVEN_BACK)
        self._parts.bell.ring({QUEUES[claim.resource]: 1})
        return None

    # -- a handler -------------------------------------------------------------------------------

    def _run(self, held: _Held, view: View | None) -> Generator[float, None, Handled | None]:
        claim = held.claim
        run, wrong = self._world.ledger.began(claim)
        if wrong is not None:
            self._world.blame(wrong)
        self._look_for_company(claim)
        started_at = self._parts.store.now()
        case = self._cases[claim.machine]
        state = undoing(claim.state) if claim.resource == UNDO else claim.state
        deed = case.deed(state, claim.arguments.value, claim.attempt, claim.delivery)
        self._world.say(self._name, f"run {run.number} of {_named(claim)}: {deed}")
        yield from self._spend(held, deed, beats=case.manner(state) is not Manner.SILENT)
        report = _reported(run, deed)
        if report is None or (held.lost and self._world.chance.happens(0.25)):
            return None  # its time is over, and its handler has been told
        run.succeeds = isinstance(report, Returned)
        event = _event(claim, report, started_at)
        claimant = None if self.draining else self._claimant
        return (yield from self._hand_in(held, run, Arrival(event, claimant, view)))

    def _look_for_company(self, claim: Claim) -> None:
        if is_lonely(claim):
            self._world.count(Sometimes.LONELY)
            if len(self._held) > 1:
                self._world.blame(f"{_named(claim)} was lost twice and does not run alone")

    def _spend(self, held: _Held, deed: Deed, *, beats: bool) -> Pauses:
        """Let the time pass that a deed takes."""
        match deed:
            case Hangs():
                self._world.count(Sometimes.HUNG)
                for _ in range(MOST_HANGING):
                    if not held.lost:
                        yield LEASE_SECONDS / 2
            case Kills(seconds):
                yield seconds
                self._world.count(Sometimes.SUICIDE)
                raise Killed
            case Babbles(seconds) | Returns(seconds, _) | Raises(seconds, _):
                if beats and held.claim.heartbeat_seconds is not None:
                    yield from self._beat(held, held.claim.heartbeat_seconds / 3, seconds)
                else:
                    yield seconds

    def _beat(self, held: _Held, pause_seconds: float, seconds: float) -> Pauses:
        left = seconds
        while left > pause_seconds and not held.lost:
            yield pause_seconds
            left -= pause_seconds
            try:
                held.lost = not self._parts.store.heartbeat(held.claim, Payload.of(left))
            except StoreUnavailable:
                continue
            if held.lost:
                self._world.count(Sometimes.LOST_AT_HEARTBEAT)
        yield left

    # -- its result ------------------------------------------------------------------------------

    def _hand_in(
        self, held: _Held, run: Run, arrival: Arrival
    ) -> Generator[float, None, Handled | None]:
        """Keep a result until the engine says that it is committed or stale."""
        unknown = False
        if self.process.freezes > held.freezes:
            self._arrange(held.claim)
        pause_seconds, failures = 0.1, 0
        while failures < MOST_FAILURES:
            draws, holds = self.process.draws, self._world.ledger.holds(held.claim)
            self.process.unknown = False
            try:
                handled = self._parts.engine.hand_in(arrival)
            except StoreUnavailable as away:
                unknown |= away.unknown
                if self.process.unknown and not away.unknown:
                    self._world.blame(f"{self._name}: a commit was cut, and nobody says so: {away}")
            else:
                if self.process.draws > draws + 1:
                    self._world.count(Sometimes.MOVED_ON)
                if handled.outcome is not Outcome.FAILED:
                    self._settle(held, run, handled, unknown=unknown, holds=holds)
                    return handled
                failures += 1
                self._failed(handled)
            yield pause_seconds
            pause_seconds = min(2 * pause_seconds, 5.0)
        return None

    def _arrange(self, claim: Claim) -> None:
        """Have others take what has lapsed just before a late result is written."""
        self.process.meets += [
            self._lapse,
            partial(self._broker.deliver_now, QUEUES[claim.resource]),
        ]

    def _lapse(self) -> None:
        """Do what a scheduler does now and then."""
        with self._world.unseen():
            self._deployment.observer.lapse(1)

    def _failed(self, handled: Handled) -> None:
        if not handled.reason.startswith(("StoreUnavailable", "something else")):
            self._world.blame(f"{self._name}: {handled.event} {handled.reason}")

    def _settle(
        self, held: _Held, run: Run, handled: Handled, *, unknown: bool, holds: bool
    ) -> None:
        world = self._world
        world.say(self._name, f"run {run.number} is {handled.outcome} {handled.reason}")
        world.ledger.settled.append(handled.event)
        if handled.outcome is Outcome.COMMITTED:
            run.committed = True
            if unknown and handled.claim is not None:
                world.count(Sometimes.FOUND_AGAIN)
            if not holds:
                world.blame(f"{self._name}: {_named(held.claim)} is another's, and was committed")
        elif not unknown:
            run.refused = True
            world.count(Sometimes.FENCED)
            if self.process.freezes > held.freezes:
                world.count(Sometimes.FROZEN_FENCED)


def is_lonely(claim: Claim) -> bool:
    """Tell whether a claim is of a task that was lost as often as makes it run alone."""
    return claim.delivery > LONELY_FROM


def _named(claim: Claim) -> str:
    return f"{claim.execution_name}{claim.frame} {claim.state} {claim.attempt}.{claim.delivery}"


def _reported(run: Run, deed: Deed) -> Returned | Failed | None:
    match deed:
        case Returns(_, value):
            named = {**value, "run": run.number} if isinstance(value, dict) else value
            return outcome_of_result(named)
        case Raises(_, error):
            return Failed(error, "why")
        case Babbles():
            return outcome_of_result(object())
        case Hangs() | Kills():
            return None


def _event(claim: Claim, report: Returned | Failed, started_at: datetime) -> _Report:
    at = (claim.execution, claim.frame, claim.token, claim.delivery, claim.worker)
    match report:
        case Returned(result):
            return TaskSucceeded(*at, result, started_at)
        case Failed(error, cause):
            return TaskFailed(*at, error, cause, started_at)
