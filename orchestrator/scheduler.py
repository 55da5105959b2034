"""Floor 5: what wakes by the clock.

APScheduler only drives the ticks; the database knows what is due.

Any number of schedulers may run: every event names what it answers, so what two of them find takes
effect once.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, TypeAlias

import structlog
from apscheduler.schedulers.background import BackgroundScheduler

from orchestrator import crashpoint
from orchestrator.engine import (
    CHILDREN,
    ENGINE_QUEUE,
    SOON,
    Bell,
    Children,
    Deletion,
    Engine,
    Outcome,
    StartTasks,
)
from orchestrator.execution.events import DeadlinePassed, MomentDue
from orchestrator.liveness import BEATS_TRUSTED_SECONDS, Patience, Pulse, process_name
from orchestrator.outage import Outage
from orchestrator.store import Report, Share, Store, StoreUnavailable, WorkerKind

log = structlog.get_logger(__name__)

DUE_BATCH: Final = 200
"""Moments read at once."""
HORIZON_POLLS: Final = 1.1
"""How far ahead of itself a tick reads, in intervals: a little farther than to the next."""
SWEEP_BATCH: Final = 500
"""Lost claims handled at once."""
FORGET_SECONDS: Final = 60.0
"""How often the rows of processes that died long ago are removed."""
READY_GRACE_SECONDS: Final = 1.0
"""Rows that are ready for longer than this get another bell."""
MOST_BELLS: Final = 100
"""Bells rung again per queue at once."""
FIRST_PAUSE_SECONDS: Final = 2.0
LONGEST_PAUSE_SECONDS: Final = 30.0
"""Bells are not rung again before the last were due to be heard: the pause doubles between these.
"""

Moment: TypeAlias = "MomentDue | DeadlinePassed"


@dataclass
class _Pause:
    """Until when something is left alone, and how long the next pause is."""

    until: float = 0.0
    seconds: float = FIRST_PAUSE_SECONDS

    def begin(self, longest_seconds: float) -> None:
        """Begin the pause; the next one is twice as long, up to the longest."""
        self.until = time.monotonic() + self.seconds
        self.seconds = min(self.seconds * 2, longest_seconds)


def _moment(event: Moment) -> datetime:
    return event.wake_at if isinstance(event, MomentDue) else event.deadline_at


class DueMoments:
    """Takes moments to their executions when they are due: waits, back-offs, limits, cut loops."""

    def __init__(self, store: Store, engine: Engine, poll_seconds: float) -> None:
        self._store = store
        self._engine = engine
        self._poll_seconds = poll_seconds
        self._poked = threading.Event()
        self._stopping = False
        self.share = Share()
        """Which executions' moments are this process's to handle."""

    def poke(self) -> None:
        """Stop waiting for a later moment: an earlier one may have been set."""
        self._poked.set()

    def stop(self) -> None:
        """End after the batch that is under way."""
        self._stopping = True
        self._poked.set()

    def tick(self) -> None:
        """Handle what is due, and what will be until the next tick, each at its time.

        Goes on while there is any: a tick that ends between two moments would be late for one.
        """
        horizon = HORIZON_POLLS * self._poll_seconds
        while not self._stopping and self._handle_due(horizon):
            pass

    def _handle_due(self, horizon_seconds: float) -> bool:
        """Handle one batch at its moments; whether more is to be looked for at once."""
        self._poked.clear()
        moments = self._store.due(DUE_BATCH, horizon_seconds, self.share)
        goes_on = len(moments) == DUE_BATCH
        while moments and not self._stopping:
            now = self._store.now()
            due = [event for event in moments if _moment(event) <= now]
            if due:
                crashpoint.reach("due")
                handled = self._engine.handle_many(due)
                goes_on |= any(one.outcome is Outcome.COMMITTED for one in handled)
                moments = moments[len(due) :]
            elif self._poked.wait((_moment(moments[0]) - now).total_seconds()):
                return True
        return goes_on or self._poked.is_set()


class ReadyTasks:
    """Rings again for tasks that have been ready for a while: a lost bell costs latency only."""

    def __init__(self, store: Store, bell: Bell) -> None:
        self._store = store
        self._bell = bell
        self._pauses: dict[str, _Pause] = {}

    def tick(self) -> None:
        """Give tasks without a queue the queue that serves them by now, and ring for what waits."""
        assigned = self._store.assign_queues()
        if assigned:
            self._bell.ring(assigned)
        waiting = {
            ready.queue: min(ready.rows, MOST_BELLS)
            for ready in self._store.ready(READY_GRACE_SECONDS)
        }
        self._pauses = {queue: p for queue, p in self._pauses.items() if queue in waiting}
        due = {queue: rows for queue, rows in waiting.items() if self._may_ring(queue)}
        if due:
            self._bell.ring(due)

    def _may_ring(self, queue: str) -> bool:
        pause = self._pauses.setdefault(queue, _Pause())
        if time.monotonic() < pause.until:
            return False
        pause.begin(LONGEST_PAUSE_SECONDS)
        return True


class LostWorkers:
    """Gives back what the dead had claimed, and what a worker no longer renews."""

    def __init__(self, store: Store, engine: Engine, bell: Bell, name: str) -> None:
        self._store = store
        self._engine = engine
        self._bell = bell
        self._name = name
        self._forgot_at = time.monotonic()
        self.patience = Patience()

    def tick(self) -> bool:
        """Make lost tasks ready again; those that may not be are events of their executions.

        Returns False while nobody may be called lost.
        """
        leases = not self.patience.lasts(self._store.lease_seconds)
        beats = not self.patience.lasts(BEATS_TRUSTED_SECONDS)
        if beats:
            self._bury()
        if beats or leases:
            self._lapse(leases=leases)
        return beats or leases

    def _bury(self) -> None:
        dead = self._store.bury(self._name)
        if dead:
            log.warning("processes have died", processes=dead)
        if time.monotonic() - self._forgot_at >= FORGET_SECONDS:
            self._forgot_at = time.monotonic()
            self._store.forget_workers()

    def _lapse(self, *, leases: bool) -> None:
        lapses = self._store.lapse(SWEEP_BATCH, by=self._name, leases=leases)
        if lapses.given_back:
            log.warning("tasks of lost workers are ready again", queues=dict(lapses.given_back))
            self._bell.ring(lapses.given_back)
        if lapses.lost:
            self._engine.handle_many(lapses.lost)


class _Guard:
    """Lets ticks survive a database that is away, and says once for all of them that it is."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._outage = Outage()

    def run(self, name: str, tick: Callable[[], bool | None]) -> None:
        """Run a tick; whatever it raises, the next one goes on.

        A tick that returns False has asked the database nothing: it cannot tell that it is back.
        """
        began = time.monotonic()
        try:
            asked = tick() is not False
        except StoreUnavailable as reason:
            self.failed(reason)
        except Exception:  # a message loop: logged, and the next tick goes on
            log.exception("a tick failed", tick=name)
        else:
            if asked:
                self._outage.passed(began)

    def failed(self, reason: StoreUnavailable) -> None:
        """Note that the database was away: nobody is called lost for a while."""
        self._patience.renew()
        self._outage.failed(reason)


class _Heard:
    """A tick of a thread of its own: at once when its topic is heard of, else from time to time."""

    def __init__(self, topic: str, tick: Callable[[], None]) -> None:
        self.topic = topic
        self._tick = tick
        self._poked = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None

    def start(self, seconds: float) -> None:
        """Begin, with so many seconds at most between ticks."""
        self._thread = threading.Thread(
            target=self._run, args=(seconds,), name=f"orchestrator {self.topic}", daemon=True
        )
        self._thread.start()

    def poke(self) -> None:
        """Tick now, or again when the tick that runs has ended."""
        self._poked.set()

    def stop(self) -> None:
        """End after the tick that runs."""
        self._stopping = True
        self._poked.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, seconds: float) -> None:
        while not self._stopping:
            self._poked.clear()
            self._tick()
            self._poked.wait(seconds)


@dataclass
class Scheduler:
    """One process's share of the ticks."""

    store: Store
    engine: Engine
    bell: Bell
    poll_seconds: float
    sweep_seconds: float
    due: DueMoments = field(init=False)
    _ticks: BackgroundScheduler = field(init=False)
    _guard: _Guard = field(init=False)
    _lost: LostWorkers = field(init=False)
    _pulse: Pulse = field(init=False)
    _starts: StartTasks = field(init=False)
    _heard: list[_Heard] = field(init=False)
    _deaf: Callable[[], None] | None = field(default=None, init=False)
    _name: str = field(init=False)
    _announced: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        name = self._name = process_name()
        self._lost = LostWorkers(self.store, self.engine, self.bell, name)
        self._guard = _Guard(self._lost.patience)
        self._pulse = Pulse(self.store, name, self._report, self._guard.failed)
        self.due = DueMoments(self.store, self.engine, self.poll_seconds)
        limits, scope = self.store.limits, self.store.scope
        self._starts = StartTasks(self.store, self.engine, name, limits, scope)
        children = Children(self.store, self.engine, scope)
        self._heard = [
            _Heard(ENGINE_QUEUE, self._guarded("engine's tasks", self._starts.tick)),
            _Heard(CHILDREN, self._guarded("children", children.tick)),
        ]
        self._ticks = BackgroundScheduler(
            timezone=UTC,
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )

    def start(self) -> None:
        """Begin to tick, in threads of this process."""
        # A tick that outlasts its interval is expected under load; the next one finds what it left.
        logging.getLogger("apscheduler").setLevel(logging.ERROR)
        self._add("due moments", self.due.tick, self.poll_seconds)
        self._add("ready tasks", ReadyTasks(self.store, self.bell).tick, self.sweep_seconds)
        self._add("lost workers", self._lost.tick, self.sweep_seconds)
        self._add("deletions", Deletion(self.store, self.engine).tick, self.sweep_seconds)
        self._add("share", self._part, self.sweep_seconds)
        self._pulse.start()
        self._lost.patience.renew()
        self._guard.run("announcement", self._announce)
        self._add("announcement", self._announce, self.sweep_seconds)
        for heard in self._heard:
            heard.start(self.sweep_seconds)
        self._deaf = self.store.listen(self._hear)
        self._ticks.start()

    def _announce(self) -> bool:
        """Announce once what schedulers serve; a database that is away is asked again.

        Returns False when nothing was asked.
        """
        if self._announced:
            return False
        self._starts.announce()
        self._announced = True
        return True

    def poke(self, at: datetime) -> None:
        """Look at once whether something is due: this process has set a moment."""
        if at <= self.store.now() + timedelta(seconds=self.poll_seconds):
            self._look_now()

    def _look_now(self) -> None:
        self.due.poke()
        if self._ticks.running:
            self._ticks.modify_job("due moments", next_run_time=datetime.now(UTC))

    def stop(self) -> None:
        """End after the ticks that run now."""
        self.due.stop()
        if self._ticks.running:
            self._ticks.shutdown(wait=True)
        if self._deaf is not None:
            self._deaf()
        for heard in self._heard:
            heard.stop()
        self._pulse.stop()

    def _hear(self, topic: str | None) -> None:
        if topic == SOON:
            self._look_now()
        for heard in self._heard:
            if topic in (heard.topic, None):
                heard.poke()

    def _guarded(self, name: str, tick: Callable[[], None]) -> Callable[[], None]:
        return partial(self._guard.run, name, tick)

    def _part(self) -> None:
        """Part the executions among the schedulers that live; what is overdue is anybody's."""
        living = self.store.living(WorkerKind.SCHEDULER)
        if self._name in living:
            self.due.share = Share(living.index(self._name), len(living))
        else:
            self.due.share = Share()

    def _report(self) -> Report:
        return Report(WorkerKind.SCHEDULER, failed_bells=int(getattr(self.bell, "failures", 0)))

    def _add(self, name: str, tick: Callable[[], bool | None], seconds: float) -> None:
        self._ticks.add_job(
            self._guard.run,
            "interval",
            args=(name, tick),
            seconds=seconds,
            id=name,
            next_run_time=datetime.now(UTC),
        )
