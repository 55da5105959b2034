"""A scheduler: takes moments that are due to their executions, and sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

from orchestrator.engine import Handled, Outcome
from orchestrator.execution.events import Event, MomentDue
from orchestrator.liveness import BEATS_TRUSTED_SECONDS
from orchestrator.simulation.case import QUEUES
from orchestrator.simulation.parts import LEASE_SECONDS, Deployment, Parts
from orchestrator.simulation.sometimes import Sometimes
from orchestrator.simulation.world import Process, World
from orchestrator.store import StoreUnavailable, WorkerKind

DUE_BATCH: Final = 200
SWEEP_BATCH: Final = 500
PAUSE_SECONDS: Final = 16.0


class Ticks:
    """One life of one scheduler."""

    def __init__(self, process: Process, deployment: Deployment) -> None:
        self.process = process
        self._world = process.world
        self._broker = deployment.broker
        self._observer = deployment.observer
        self._beating = deployment.beating
        self._blind_since = self._world.monotonic()
        self._parts = Parts.of(deployment, process)

    def begin(self) -> None:
        """Tick again and again."""
        if self._beating:
            self._parts.beat(WorkerKind.SCHEDULER, self._lose_sight)
        self._tick()

    def _tick(self) -> None:
        try:
            self._due()
            self._lapse()
            self._ring()
        except StoreUnavailable:
            self._lose_sight()
            self.process.later(1.0, self._tick)
        else:
            self.process.later(self._world.chance.between(0.5, 1.0) * PAUSE_SECONDS, self._tick)

    def look(self) -> None:
        """Take what is due to its execution: somebody has said that it is time."""
        try:
            self._due()
        except StoreUnavailable:
            self._lose_sight()
            self.process.later(1.0, self.look)

    def _lose_sight(self) -> None:
        """Call nobody lost for a while: whoever was away may have been so together with others."""
        self._blind_since = self._world.monotonic()

    def _sees(self, seconds: float) -> bool:
        return self._world.monotonic() - self._blind_since >= seconds

    def _due(self) -> None:
        moments = self._parts.store.due(DUE_BATCH)
        for moment in moments:
            found = self._world.ledger.moments.setdefault(moment, set())
            if found and self.process.name not in found:
                self._world.count(Sometimes.SAME_MOMENT)
            found.add(self.process.name)
        self._arrange(moments)
        for handled in self._handled(moments):
            self._note(handled)

    def _arrange(self, moments: Sequence[Event]) -> None:
        """Have others act just before this is written, where that matters most."""
        meets, chance = self.process.meets, self._world.chance
        if chance.happens(0.9) and any(self._waits(moment) for moment in moments):
            meets += [self._world.revive, self._assign]
            meets += [partial(self._broker.deliver_now, queue) for queue in _QUEUES]
        if chance.happens(0.8) and len({moment.execution for moment in moments}) > 1:
            meets.append(partial(self._world.crowd, 5.0))

    def _assign(self) -> None:
        """Do what the other scheduler does now and then."""
        with self._world.unseen():
            self._observer.assign_queues()

    def _waits(self, moment: Event) -> bool:
        """Tell whether a moment is that of a task which nobody has claimed yet."""
        if not isinstance(moment, MomentDue):
            return False
        with self._world.unseen():
            frames = self._observer.frames(moment.execution)
        for frame in frames:
            if frame.id == moment.frame and frame.task is not None:
                return frame.task.claimed_by is None
        return False

    def _note(self, handled: Handled) -> None:
        event, ledger = handled.event, self._world.ledger
        self._world.say(self.process.name, f"{event} is {handled.outcome} {handled.reason}")
        if handled.outcome is Outcome.COMMITTED:
            ledger.committed_moments.add(event)
            early = isinstance(event, MomentDue) and event.wake_at > self._world.now()
            if early and self._world.steady:
                self._world.blame(f"{event} was committed at {self._world.now()}")
        elif handled.outcome is Outcome.STALE and event not in ledger.committed_moments:
            self._world.count(Sometimes.TIMER_LOST)

    def _lapse(self) -> None:
        name = self._parts.name if self._beating else None
        if self._beating and self._sees(BEATS_TRUSTED_SECONDS):
            for dead in self._parts.store.bury(name):
                self._world.count(Sometimes.BURIED)
                self._world.say(self.process.name, f"{dead} is dead")
        leases = self._sees(LEASE_SECONDS)
        lapses = self._parts.store.lapse(SWEEP_BATCH, by=name, leases=leases)
        for queue, tasks in lapses.given_back.items():
            self._world.say(self.process.name, f"{tasks} leases of {queue} lapse")
            self._world.count(Sometimes.LAPSED)
        self._parts.bell.ring(lapses.given_back)
        for handled in self._handled(lapses.lost):
            self._world.say(self.process.name, f"{handled.event} is {handled.outcome}")

    def _ring(self) -> None:
        assigned = self._parts.store.assign_queues()
        if assigned:
            self._world.count(Sometimes.QUEUE_ASSIGNED)
        waiting = {one.queue: one.rows for one in self._parts.store.ready(1.0)}
        if waiting:
            self._world.count(Sometimes.BELL_REPEATED)
        self._parts.bell.ring({**assigned, **waiting})

    def _handled(self, events: Sequence[Event]) -> Sequence[Handled]:
        if not events:
            return ()
        draws = self.process.draws
        answers = self._parts.engine.handle_many(events)
        if self.process.draws > draws + len(events):
            self._world.count(Sometimes.MOVED_ON)
            if len({event.execution for event in events}) > 1:
                self._world.count(Sometimes.GROUP_HELD_STALE)
        for one in answers:
            if one.outcome is Outcome.FAILED and not one.reason.startswith(_EXCUSES):
                self._world.blame(f"{self.process.name}: {one.event} {one.reason}")
        return answers


_QUEUES: Final = tuple(dict.fromkeys(QUEUES.values()))
_EXCUSES: Final = ("StoreUnavailable", "something else")


class Schedulers:
    """Several of them: one is woken when a moment that somebody has set is due."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._ticks: dict[Process, Ticks] = {}

    def make(self, process: Process, deployment: Deployment) -> Ticks:
        """Make the program of a scheduler that starts."""
        ticks = self._ticks[process] = Ticks(process, deployment)
        return ticks

    def wake(self, at: datetime) -> None:
        """Have one of them look when a moment has come, or a little later."""
        if at <= self._world.now():
            self._world.count(Sometimes.CUT)
        seconds = self._world.wait_until(at) + self._world.chance.one_of((0.0, 0.0, 0.2, 2.0))
        self._world.later(seconds, self._look)

    def _look(self) -> None:
        living = [process for process in self._ticks if process.alive]
        if living:
            process = self._world.chance.one_of(living)
            process.later(0.0, self._ticks[process].look)
