"""Floor 4: read, decide, commit, ring.

A library hosted by any process: whoever starts, a worker that has finished a task, a scheduler
whose moment is due.
Knows when a transition is written and who hears of it; knows neither the language's rules nor SQL
nor any broker.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

import structlog

from orchestrator.asl import definition
from orchestrator.asl.limits import DEFAULT, Limits
from orchestrator.asl.machine import Machine
from orchestrator.execution.commands import RingBell, WakeAt
from orchestrator.execution.decide import begin, decide
from orchestrator.execution.decision import Decision, FrameUpdate, Missing, Stale, View
from orchestrator.execution.events import Event, frame_of
from orchestrator.execution.frame import (
    Execution,
    ExecutionStatus,
    Frame,
    Phase,
    RestsOn,
    Scope,
    parent_id,
)
from orchestrator.execution.payload import Payload
from orchestrator.store import Committed, Failed, IdTaken, Started, Store

log = structlog.get_logger(__name__)

ROUTES_SECONDS: Final = 5.0
"""How long a process trusts what it has read of who serves what."""

MOST_TRIES: Final = 20
"""How often an event is decided again because something else came first."""

SMALL_FORK: Final = 8
"""Events of larger forks meet each other all the time: they take the execution's lock before they
decide.
"""

LOCKED_EVENTS: Final = 20
LOCKED_SECONDS: Final = 0.05
"""How much one transaction that holds an execution's lock may decide."""

EPOCH_MS: Final = 1_704_067_200_000
"""2024-01-01: execution ids count milliseconds from here, above 22 random bits."""


class Bell(Protocol):
    """Tells workers that queues have work; what it says may be lost, doubled or late without harm.
    """

    def ring(self, queues: Mapping[str, int]) -> None:
        """Announce so many more ready tasks per queue; never raises for a broker that is away."""
        ...


class Silence:
    """A bell that nobody hears: every task is found by the sweeps."""

    def ring(self, queues: Mapping[str, int]) -> None:
        """Do nothing."""


class Outcome(StrEnum):
    """What became of an event."""

    COMMITTED = "committed"
    STALE = "stale"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Handled:
    """An event and what became of it; `reason` says why it was stale or failed."""

    event: Event
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """A wish to start an execution of one revision of a machine."""

    machine: str
    revision: int
    name: str
    input: Payload


class Revisions:
    """The machines of revisions, parsed once per process; revisions never change."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._limits = limits
        self._machines: dict[int, Machine] = {}
        self._lock = threading.Lock()

    def machine(self, revision: int) -> Machine:
        """The machine of a revision that the store holds."""
        known = self._machines.get(revision)
        if known is not None:
            return known
        parsed = definition.parse(self._store.revision(revision), self._limits)
        if parsed.machine is None:
            raise UnreadableRevision(revision, parsed.findings[0].message)
        with self._lock:
            if len(self._machines) >= self._limits.cached_revisions:
                self._machines.pop(next(iter(self._machines)))
            self._machines[revision] = parsed.machine
        return parsed.machine


class UnreadableRevision(Exception):
    """A stored definition is not understood by this release."""

    def __init__(self, revision: int, message: str) -> None:
        super().__init__(f"revision {revision} is not understood by this release: {message}")


class Routes:
    """Which queue serves a resource, as the workers have announced it; cached for a few seconds."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queues: Mapping[str, str] = {}
        self._read_at = -ROUTES_SECONDS

    def queue(self, resource: str) -> str | None:
        """The queue of a resource; None while no worker serves it."""
        if time.monotonic() - self._read_at >= ROUTES_SECONDS:
            self._queues = self._store.routes()
            self._read_at = time.monotonic()
        return self._queues.get(resource)

    def forget(self) -> None:
        """Read again at the next look-up."""
        self._read_at = -ROUTES_SECONDS


class Engine:
    """Takes events to their executions and starts new ones."""

    def __init__(
        self,
        store: Store,
        bell: Bell,
        *,
        limits: Limits = DEFAULT,
        scope: Scope | None = None,
        wake: Callable[[datetime], None] = lambda _at: None,
    ) -> None:
        self._store = store
        self._bell = bell
        self._limits = limits
        self._scope = scope or Scope()
        self._wake = wake
        self.revisions = Revisions(store, limits)
        self.routes = Routes(store)

    # -- starts ----------------------------------------------------------------------------------
    # --------------------

    def start_many(self, starts: Sequence[Start]) -> list[Started]:
        """Start executions, each exactly once per machine and name; in the order of `starts`.

        An execution of that name that exists already is answered as it is (`created` False).
        """
        while True:
            decisions = [self._begin(start) for start in starts]
            try:
                started = self._store.start(decisions)
            except IdTaken:
                continue
            self._announce(
                decision
                for decision, answer in zip(decisions, started, strict=True)
                if answer.created
            )
            return started

    def _begin(self, start: Start) -> Decision:
        now = self._store.now()
        execution = Execution(
            id=_new_id(),
            machine=start.machine,
            revision=start.revision,
            name=start.name,
            status=ExecutionStatus.RUNNING,
            phase=Phase.OPEN,
            version=0,
            next_event_id=1,
            started_at=now,
            last_event_at=now,
        )
        machine = self.revisions.machine(start.revision)
        bits = secrets.token_bytes(32)
        return self._routed(
            begin(machine, execution, self._scope, start.input, now, bits, self._limits)
        )

    # -- events ----------------------------------------------------------------------------------
    # --------------------

    def handle_many(self, events: Sequence[Event]) -> list[Handled]:
        """Take events to their executions; those of one execution are decided one after the other.

        Answers in the order of `events`. Raises StoreUnavailable when the database is away; handing
        the same events
        over again is then safe, since each names what it answers.
        """
        answers: dict[int, Handled] = {}
        waiting: dict[int, list[tuple[int, Event]]] = {}
        for place, event in enumerate(events):
            waiting.setdefault(event.execution, []).append((place, event))
        tries = 0
        while waiting:
            tries += 1
            settled = self._round(waiting, tries)
            answers |= settled
            waiting = {
                execution: rest
                for execution, queue in waiting.items()
                if (rest := [item for item in queue if item[0] not in settled])
            }
            if settled:
                tries = 0
            elif tries >= MOST_TRIES:
                for queue in waiting.values():
                    for place, event in queue:
                        answers[place] = Handled(event, Outcome.FAILED, "others always came first")
                break
        return [answers[place] for place in range(len(events))]

    def _round(
        self, waiting: Mapping[int, list[tuple[int, Event]]], tries: int
    ) -> dict[int, Handled]:
        """Decide the first event of each execution in one group; crowded executions under their
        lock.
        """
        heads = {execution: queue[0] for execution, queue in waiting.items()}
        views = self._store.read([(e, frame_of(event)) for e, (_, event) in heads.items()])
        settled: dict[int, Handled] = {}
        group: list[tuple[int, Event, Decision]] = []
        for execution, (place, event) in heads.items():
            view = views.get((execution, frame_of(event)))
            if view is None:
                settled[place] = Handled(event, Outcome.STALE, "there is no such execution")
            elif tries % 2 == 0 or _crowded(view, frame_of(event)):
                settled |= self._decide_locked(execution, waiting[execution])
            else:
                self._decide_one(place, event, view, settled, group)
        settled |= self._commit(group)
        return settled

    def _decide_one(
        self,
        place: int,
        event: Event,
        view: View,
        settled: dict[int, Handled],
        group: list[tuple[int, Event, Decision]],
    ) -> None:
        try:
            decision = self._decide(view, event, self._store.read_more)
        except Exception as exception:  # a decision that raises must not sink its neighbours
            settled[place] = _failed(event, exception)
            return
        match decision:
            case Stale(reason):
                settled[place] = Handled(event, Outcome.STALE, reason)
            case Decision():
                group.append((place, event, decision))
            case None:  # decided again in the next round
                pass

    def _decide(
        self, view: View, event: Event, read_more: Callable[[View, Missing], View | None]
    ) -> Decision | Stale | None:
        """Decide on the view; None: what was to be read has moved on meanwhile."""
        machine = self.revisions.machine(view.execution.revision)
        if machine.needs_execution_input and view.input is None:
            view = replace(view, input=self._store.read_input(view.execution.id))
        bits = secrets.token_bytes(32)
        while True:
            decision = decide(machine, view, event, self._store.now(), bits, self._limits)
            match decision:
                case Missing():
                    more = read_more(view, decision)
                    if more is None:
                        return None
                    view = more
                case Stale():
                    return decision
                case Decision():
                    return self._routed(decision)

    def _commit(self, group: list[tuple[int, Event, Decision]]) -> dict[int, Handled]:
        if not group:
            return {}
        results = self._store.commit([decision for _, _, decision in group])
        settled: dict[int, Handled] = {}
        committed: list[Decision] = []
        for (place, event, decision), result in zip(group, results, strict=True):
            match result:
                case Committed():
                    settled[place] = Handled(event, Outcome.COMMITTED)
                    committed.append(decision)
                case Failed(exception):
                    settled[place] = _failed(event, exception)
                case Stale():  # something else came first: decided again in the next round
                    pass
        self._announce(committed)
        return settled

    def _decide_locked(
        self, execution: int, queue: Sequence[tuple[int, Event]]
    ) -> dict[int, Handled]:
        """Decide the next few events of one execution while holding its lock."""
        settled: dict[int, Handled] = {}
        decisions: list[Decision] = []
        until = time.monotonic() + LOCKED_SECONDS
        with self._store.locked(execution) as locked:
            for place, event in queue[:LOCKED_EVENTS]:
                view = locked.read(frame_of(event))
                if view is None:
                    settled[place] = Handled(event, Outcome.STALE, "there is no such execution")
                    continue
                decision = self._decide(view, event, locked.read_more)
                match decision:
                    case Stale(reason):
                        settled[place] = Handled(event, Outcome.STALE, reason)
                    case Decision():
                        if not locked.write(decision):
                            break
                        settled[place] = Handled(event, Outcome.COMMITTED)
                        decisions.append(decision)
                if time.monotonic() >= until:
                    break
        self._announce(decisions)
        return settled

    # -- after the commit
    # --------------------------------------------------------------------------------------------

    def _routed(self, decision: Decision) -> Decision:
        """The decision with the queues of the tasks it schedules filled in."""
        if not any(isinstance(command, RingBell) for command in decision.commands):
            return decision
        return replace(
            decision,
            inserted=tuple(self._with_queue(frame) for frame in decision.inserted),
            updated=tuple(
                FrameUpdate(self._with_queue(update.frame), update.seen)
                for update in decision.updated
            ),
        )

    def _with_queue(self, frame: Frame) -> Frame:
        task = frame.task
        if task is None or task.queue is not None or frame.rests_on is not RestsOn.TASK:
            return frame
        return replace(frame, task=replace(task, queue=self.routes.queue(task.resource)))

    def _announce(self, decisions: Iterable[Decision]) -> None:
        """Let the world hear of what is committed now."""
        queues: dict[str, int] = {}
        for decision in decisions:
            for command in decision.commands:
                match command:
                    case RingBell(resource):
                        queue = self.routes.queue(resource)
                        if queue is not None:
                            queues[queue] = queues.get(queue, 0) + 1
                    case WakeAt(at):
                        self._wake(at)
        if queues:
            self._bell.ring(queues)


def _crowded(view: View, frame: str) -> bool:
    """Whether many siblings may want to write this execution at the same time."""
    if not frame:
        return False
    fork = view.forks.get(parent_id(frame))
    return fork is not None and fork.total > SMALL_FORK


def _failed(event: Event, exception: Exception) -> Handled:
    log.error(
        "an event could not be decided",
        execution=event.execution,
        frame=frame_of(event),
        event_type=type(event).__name__,
        exc_info=exception,
    )
    return Handled(event, Outcome.FAILED, f"{type(exception).__name__}: {exception}")


def _new_id() -> int:
    milliseconds = time.time_ns() // 1_000_000 - EPOCH_MS
    return (milliseconds << 22) | secrets.randbits(22)
