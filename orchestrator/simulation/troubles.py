"""What goes wrong without being anybody's statement, and what malice would try."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from orchestrator.engine import Outcome
from orchestrator.execution.events import Event, MomentDue, TaskFailed
from orchestrator.execution.frame import Frame, FrameStatus, RestsOn, Task, is_undo
from orchestrator.simulation.door import Door, Doors
from orchestrator.simulation.sometimes import Sometimes
from orchestrator.simulation.worker import Worker
from orchestrator.simulation.world import SECOND, Process, World
from orchestrator.store import Store


@dataclass(slots=True)
class Troubles:
    """Draws one trouble after the other while things go wrong."""

    world: World
    store: Store
    """The observer's: nothing disturbs it."""
    processes: Sequence[Process]
    workers: dict[Process, Worker]
    doors: Doors
    ended: set[int]
    """Executions that are known to have ended."""
    stops: bool
    """Whether executions are stopped by hand."""
    aborts: bool
    """Whether some of them are ended at once, without undoing anything."""
    over: bool = False

    def begin(self) -> None:
        """Make trouble, again and again."""
        if self.over:
            return
        self._look_after_all()
        kinds: list[Callable[[], None]] = [
            self._kill,
            self._freeze,
            self._jump,
            self._send_away,
            self._drain,
            self._repeat,
            self._forge,
            self._hurry,
        ]
        if self.stops:
            kinds += [self._stop] * 2
        self.world.chance.one_of(kinds)()
        seconds = self.world.chance.between(0.2, self.world.rates.troubles_seconds)
        self.world.later(seconds, self.begin)

    # -- processes and clocks --------------------------------------------------------------------

    def _kill(self) -> None:
        self.world.kill(self.world.chance.one_of(self.processes))

    def _freeze(self) -> None:
        busy = [process for process, worker in self.workers.items() if worker.busy]
        if busy and self.world.chance.happens(0.8):  # for longer than a lease
            self.world.freeze(self.world.chance.one_of(busy), self.world.chance.between(20, 45))
        else:
            seconds = self.world.chance.one_of((1.0, 5.0, 15.0))
            self.world.freeze(self.world.chance.one_of(self.processes), seconds)

    def _jump(self) -> None:
        self.world.jump(self.world.chance.one_of((-5, -1, 1, 5, 20)))

    def _send_away(self) -> None:
        self.world.away_until = self.world.elapsed + self.world.chance.whole(1, 4) * SECOND

    def _drain(self) -> None:
        there = [process for process in self.workers if process.alive]
        if there:
            process = self.world.chance.one_of(there)
            self.workers[process].draining = True
            process.later(0.0, self.workers[process].drain)

    # -- what people do --------------------------------------------------------------------------

    def _stop(self) -> None:
        door = self.doors.any()
        known = self.world.ledger.started.values()
        started = [one for one in known if one not in self.ended] or list(known)
        started = [one for one in started if self._runs(one)] or started
        if door is not None and started:
            execution = self.world.chance.one_of(started)
            if self.aborts and self.world.chance.happens(0.3):
                door.process.later(0.0, partial(door.abort, execution))
                return
            runs = self._runs(execution)
            door.process.later(0.0, partial(door.stop, execution, runs=runs))

    def _runs(self, execution: int) -> bool:
        return any(frame.task and frame.task.claimed_by for frame in self._frames(execution))

    # -- what malice does: nothing may come of it ------------------------------------------------

    def _repeat(self) -> None:
        """Hand in again what was answered before."""
        settled = self.world.ledger.settled
        if settled:
            events = [self.world.chance.one_of(settled) for _ in range(3)]
            self._try_out(events, Sometimes.REPEATED_REFUSED)

    def _forge(self) -> None:
        """Hand in results for the claims of others, each wrong in one point."""
        forged = [
            event
            for execution in self.world.ledger.started.values()
            for frame in self._frames(execution)
            if frame.task is not None and frame.task.claimed_by is not None
            for event in self._forged(execution, frame.id, frame.task, frame.task.claimed_by)
        ]
        if forged:
            self._try_out([self.world.chance.one_of(forged)], Sometimes.FORGED_REFUSED)

    def _forged(self, execution: int, frame: str, task: Task, worker: str) -> list[Event]:
        at = (execution, frame, task.token, task.deliveries)
        true = TaskFailed(*at, worker, "Forged", None, self.world.now())
        return [
            replace(true, token="0" * 64),
            replace(true, delivery=task.deliveries + 1),
            replace(true, delivery=task.deliveries - 1),
            replace(true, claimed_by="nobody"),
        ]

    def _hurry(self) -> None:
        """Hand over moments that have not come."""
        now = self.world.now() + timedelta(seconds=1)
        early: list[Event] = [
            MomentDue(execution, frame.id, frame.entry, frame.wake_at)
            for execution in self.world.ledger.started.values()
            for frame in self._frames(execution)
            if frame.wake_at is not None and frame.wake_at > now
        ]
        if early:
            self._try_out([self.world.chance.one_of(early)], Sometimes.EARLY_REFUSED)

    def _try_out(self, events: Sequence[Event], expected: Sometimes) -> None:
        door = self.doors.any()
        if door is not None:
            door.process.later(0.0, partial(self._tell, door, events, expected))

    def _tell(self, door: Door, events: Sequence[Event], expected: Sometimes) -> None:
        for event, outcome in zip(events, door.tell(events), strict=True):
            if outcome is Outcome.STALE:
                self.world.count(expected)
            elif outcome is Outcome.COMMITTED and not self._has_come(event):
                self.world.blame(f"{expected}, but not this one: {event}")

    def _has_come(self, event: Event) -> bool:
        """Tell whether a moment has come while somebody handed it over."""
        if not isinstance(event, MomentDue):
            return False
        return event.wake_at <= self.world.now() or not self.world.steady

    # -- what nobody may forget ------------------------------------------------------------------

    def _look_after_all(self) -> None:
        """Blame the world for executions that nothing will ever wake."""
        for name, execution in self.world.ledger.started.items():
            frames = self._frames(execution)
            if not frames:
                self.ended.add(execution)
            for frame in frames:
                if not _wakes(frame, frames):
                    self.world.blame(f"nothing wakes {name}{frame.id}: {frame}")

    def _frames(self, execution: int) -> list[Frame]:
        return [] if execution in self.ended else self.store.frames(execution)


def _wakes(frame: Frame, frames: Sequence[Frame]) -> bool:
    """Tell whether something will wake a frame: a task, a moment, its children, its parent."""
    if frame.status is not FrameStatus.RESTING or frame.wake_at is not None:
        return True
    if frame.rests_on is RestsOn.TASK:
        return frame.task is not None
    if frame.rests_on is RestsOn.UNDOING and is_undo(frame.id):
        return any(other.status is FrameStatus.CANCELLED for other in frames)
    undoes = frame.rests_on is RestsOn.UNDOING
    prefix = f"{frame.id}~" if undoes else f"{frame.id}/{frame.fork}."
    alive = (FrameStatus.RESTING, FrameStatus.FAILED)
    return any(child.id.startswith(prefix) and child.status in alive for child in frames)
