"""Takes events to their executions and starts new ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

from orchestrator.asl.limits import DEFAULT, Limits
from orchestrator.asl.machine import Machine
from orchestrator.engine.announcement import Announcer
from orchestrator.engine.around import Mocks, Surrounding, no_mocks
from orchestrator.engine.arrival import Arrival, Handled, Outcome, Start
from orchestrator.engine.bell import Bell
from orchestrator.engine.callback import Callbacks
from orchestrator.engine.group import Group
from orchestrator.engine.inline import Prepared, prepare, view_in_hand
from orchestrator.engine.revision import Revisions
from orchestrator.engine.route import Routes
from orchestrator.engine.strikes import Kept, Strikes, Struck
from orchestrator.engine.surroundings import Surroundings
from orchestrator.execution.call import Call
from orchestrator.execution.decide import begin, decide
from orchestrator.execution.decision import Decision, Missing, Stale, View
from orchestrator.execution.events import (
    CallArrived,
    CompensationRetried,
    CompensationSkipped,
    EffectRetried,
    Event,
    StopRequested,
    frame_of,
)
from orchestrator.execution.frame import (
    Execution,
    ExecutionStatus,
    Phase,
    Scope,
    parent_id,
)
from orchestrator.execution.needs import NeedsMore
from orchestrator.execution.payload import Payload
from orchestrator.store import (
    Committed,
    Failed,
    IdTaken,
    Pauses,
    Started,
    Store,
    StoreUnavailable,
)

MOST_TRIES: Final = 20
"""How often an event is decided again because something else came first."""

MOST_REMEMBERED: Final = 1_000
"""Large forks that a process remembers, so that it need not read to know that they are."""

SMALL_FORK: Final = 8
"""Events of larger forks meet all the time: they take the execution's lock before they decide."""

MOST_IN_TURN: Final = 3
"""More events of one execution than this are decided together, under its lock."""

TOKEN_BYTES: Final = 32
"""How much chance goes into the tokens of one decision."""

LOCKED_EVENTS: Final = 64
LOCKED_SECONDS: Final = 0.05
"""How much one transaction that holds an execution's lock may decide."""


MOST_UNKNOWN: Final = 1_000
"""Commits of unknown outcome that are remembered until their results are handed in again."""


@dataclass(frozen=True, slots=True)
class _Decided:
    place: int
    arrival: Arrival
    view: View
    prepared: Prepared


_ASKED: Final = (
    StopRequested,
    CallArrived,
    EffectRetried,
    CompensationRetried,
    CompensationSkipped,
)
"""Whoever asks is told if it fails."""

_Queue: TypeAlias = "Sequence[tuple[int, Arrival]]"
_Settled: TypeAlias = "dict[int, Handled | Struck]"


class Engine:
    """Reads, decides, commits, rings; threads of one process share it and each other's commits."""

    def __init__(
        self,
        store: Store,
        bell: Bell,
        *,
        limits: Limits = DEFAULT,
        scope: Scope | None = None,
        wake: Callable[[datetime], None] = lambda _at: None,
        surroundings: Surroundings | None = None,
        pauses: Pauses | None = None,
        mocks: Mocks = no_mocks,
    ) -> None:
        self._strikes = Strikes(store, pauses or Pauses())
        self._store = store
        self._limits = limits
        self._scope = scope or Scope()
        self._surroundings = surroundings or Surroundings()
        self._revisions = Revisions(store, limits, self._surroundings.parse)
        self._results: Group[Arrival, Handled] = Group(self._handle, limits.group_transitions)
        self._starts: Group[Start, Started] = Group(self.start_many, limits.group_transitions)
        self._unknown: dict[Event, Prepared] = {}
        """What was to be committed when the connection died, by the event that will come again."""
        self._large: set[tuple[int, str]] = set()
        self.routes = Routes(store, self._surroundings.monotonic)
        self._announcer = Announcer(store, bell, self.routes, wake)
        self.callbacks = Callbacks(partial(store.secret, "callbacks"))
        self._surrounding = Surrounding(store, mocks)

    def machine(self, revision: int) -> Machine:
        """The machine of a revision."""
        return self._revisions.machine(revision)

    # -- starts ----------------------------------------------------------------------------------

    def start(self, start: Start) -> Started:
        """Start an execution, together with those that other threads start now."""
        return self._starts.do(start)

    def start_many(self, starts: Sequence[Start]) -> list[Started]:
        """Start executions, each exactly once per machine and name; in the order of `starts`.

        An execution of that name that exists already is answered as it is (`created` False).
        """
        while True:
            prepared = [self._begin(start) for start in starts]
            try:
                started = self._store.start([one.decision for one in prepared])
            except IdTaken:
                continue
            self._announcer.announce(
                one for one, answer in zip(prepared, started, strict=True) if answer.created
            )
            return started

    def _begin(self, start: Start) -> Prepared:
        now = self._store.now()
        execution = Execution(
            id=self._surroundings.new_id(),
            machine=start.machine,
            revision=start.revision,
            name=start.name,
            status=ExecutionStatus.RUNNING,
            phase=Phase.OPEN,
            version=0,
            next_event_id=1,
            started_at=now,
            last_event_at=now,
            parent=start.parent,
            origin=start.origin,
        )
        machine = self._revisions.machine(start.revision)
        bits = self._surroundings.random_bytes(TOKEN_BYTES)
        decision = self._beginning(machine, execution, start.input, now, bits)
        return prepare(decision, None, self.routes.queue, None, now)

    def _beginning(
        self, machine: Machine, execution: Execution, given: Payload, now: datetime, bits: bytes
    ) -> Decision:
        around = self._surrounding.of(execution)
        while True:
            try:
                return begin(
                    machine,
                    execution,
                    self._scope,
                    given,
                    now,
                    bits,
                    self._limits,
                    self._surroundings.evaluate,
                    around=around,
                )
            except NeedsMore as needs:
                around = self._surrounding.more(around, needs.missing)

    # -- events ----------------------------------------------------------------------------------

    def hand_in(self, arrival: Arrival) -> Handled:
        """Take one event to its execution, in one transaction with those of other threads."""
        return self._results.do(arrival)

    def handle_many(self, events: Sequence[Event]) -> list[Handled]:
        """Take events to their executions; those of one execution are decided one by one.

        Answers in the order of `events`. Raises StoreUnavailable when the database is away;
        handing the same events over again is then safe, since each names what it answers.
        """
        return self._handle([Arrival(event) for event in events])

    def _handle(self, arrivals: Sequence[Arrival]) -> list[Handled]:
        answers: dict[int, Handled] = {}
        waiting: dict[int, list[tuple[int, Arrival]]] = {}
        for place, arrival in enumerate(arrivals):
            waiting.setdefault(arrival.event.execution, []).append((place, arrival))
        tries = 0
        while waiting:
            tries += 1
            settled = self._written(self._round(waiting, tries))
            answers |= settled
            waiting = {
                execution: rest
                for execution, queue in waiting.items()
                if (rest := [_anew(*item) for item in queue if item[0] not in settled])
            }
            if settled:
                tries = 0
            elif tries >= MOST_TRIES:
                return self._given_up(arrivals, answers)
        return [answers[place] for place in range(len(arrivals))]

    def _given_up(
        self, arrivals: Sequence[Arrival], answers: Mapping[int, Handled]
    ) -> list[Handled]:
        return [
            answers.get(place)
            or Handled(arrival.event, Outcome.FAILED, "something else always came first")
            for place, arrival in enumerate(arrivals)
        ]

    def _written(self, settled: _Settled) -> dict[int, Handled]:
        """Keep what could not be decided, each in a transaction of its own, outside all groups."""
        return {
            place: self._keep(one) if isinstance(one, Struck) else one
            for place, one in settled.items()
        }

    def _keep(self, struck: Struck) -> Handled:
        try:
            strikes = self._strikes.keep(struck)
        except Exception as exception:  # noqa: BLE001  # whoever has the event keeps it
            return Handled(struck.event, Outcome.FAILED, f"{struck.reason}; {exception}")
        if strikes is not None:
            return Handled(struck.event, Outcome.KEPT, struck.reason)
        told = isinstance(struck.event, _ASKED)
        return Handled(struck.event, Outcome.FAILED if told else Outcome.STALE, struck.reason)

    def _round(self, waiting: Mapping[int, _Queue], tries: int) -> _Settled:
        """Decide the first event of each execution in one group; crowded ones under their lock."""
        heads = {execution: queue[0] for execution, queue in waiting.items()}
        crowded = [
            execution
            for execution, (_, arrival) in heads.items()
            if _siblings(arrival) in self._large
        ]
        for execution in crowded:
            del heads[execution]
        views = self._views([arrival for _, arrival in heads.values()], tries)
        settled: _Settled = {}
        group: list[_Decided] = []
        for execution, (place, arrival) in heads.items():
            view = views.get(execution)
            if view is None:
                settled[place] = _nowhere(arrival.event)
            elif tries % 2 == 0 or self._is_crowded(view, arrival, len(waiting[execution])):
                crowded.append(execution)
            else:
                if tries > 1 and _is_known(arrival, place, settled, self._store.call):
                    continue
                decided = self._decided(place, arrival, view, settled, self._store.read_more)
                if decided is not None:
                    group.append(_Decided(place, arrival, view, decided))
        settled |= self._commit(group)
        for execution in crowded:
            settled |= self._decide_locked(execution, waiting[execution])
        return settled

    def _is_crowded(self, view: View, arrival: Arrival, waiting: int) -> bool:
        """Whether many events want, or many siblings may want, this execution at the same time."""
        frame = frame_of(arrival.event)
        if waiting > MOST_IN_TURN or not frame:
            return waiting > MOST_IN_TURN
        fork = view.forks.get(parent_id(frame))
        large = fork is not None and fork.total > SMALL_FORK
        siblings = _siblings(arrival)
        if large and siblings is not None:
            if len(self._large) >= MOST_REMEMBERED:
                self._large.clear()
            self._large.add(siblings)
        return large

    def _views(self, arrivals: Sequence[Arrival], tries: int) -> dict[int, View]:
        """What each execution's event finds: read at once, but for those who know already."""
        known: dict[int, View] = {}
        if tries == 1:
            known = {a.event.execution: a.view for a in arrivals if a.view is not None}
        keys = [
            (arrival.event.execution, frame_of(arrival.event))
            for arrival in arrivals
            if arrival.event.execution not in known
        ]
        if keys:
            known |= {key[0]: view for key, view in self._store.read(keys).items()}
        return known

    def _decided(
        self,
        place: int,
        arrival: Arrival,
        view: View,
        settled: _Settled,
        read_more: Callable[[View, Missing], View | None],
    ) -> Prepared | None:
        """The decision to be committed; None: it is settled without one, or to be tried again."""
        event = self._strikes.first(arrival.event, view)
        if isinstance(event, Kept):
            settled[place] = Handled(arrival.event, Outcome.KEPT, "its task has ended already")
            return None
        try:
            decided = self._decide(view, replace(arrival, event=event), read_more)
        except StoreUnavailable:
            raise
        except Exception as exception:  # noqa: BLE001  # it must not sink its neighbours
            settled[place] = Struck(event, exception)
            return None
        if isinstance(decided, Stale):
            settled[place] = self._proposed_before(arrival.event, view) or Handled(
                arrival.event, Outcome.STALE, decided.reason
            )
            return None
        return decided

    def _proposed_before(self, event: Event, view: View) -> Handled | None:
        """What a commit of unknown outcome has made of an event, if it stands: protocol, step 4.

        The frame then carries the token that this process proposed, and the claim is ours.
        """
        prepared = self._unknown.pop(event, None)
        if prepared is None or prepared.claim is None:
            return None
        frame = view.frames.get(prepared.claim.frame)
        task = None if frame is None else frame.task
        if task is None or (task.token, task.deliveries) != (prepared.claim.token, 1):
            return None
        if task.claimed_by != prepared.claim.worker:
            return None
        return Handled(event, Outcome.COMMITTED, claim=prepared.claim)

    def _note_unknown(self, group: Sequence[_Decided]) -> None:
        if len(self._unknown) > MOST_UNKNOWN:
            self._unknown.clear()  # their leases will lapse
        for one in group:
            if one.prepared.claim is not None:
                self._unknown[one.arrival.event] = one.prepared

    def _decide(
        self, view: View, arrival: Arrival, read_more: Callable[[View, Missing], View | None]
    ) -> Prepared | Stale | None:
        """Decide on the view; None: what was to be read has moved on meanwhile."""
        machine = self._revisions.machine(view.execution.revision)
        if machine.needs_execution_input and view.input is None:
            view = replace(view, input=self._store.read_input(view.execution.id))
        view = replace(view, around=self._surrounding.of(view.execution))
        bits = self._surroundings.random_bytes(TOKEN_BYTES)
        now = self._store.now()
        while True:
            decision = decide(
                machine,
                view,
                arrival.event,
                now,
                bits,
                self._limits,
                self._surroundings.evaluate,
            )
            match decision:
                case Missing() if decision.activities:
                    view = replace(view, around=self._surrounding.more(view.around, decision))
                case Missing():
                    more = read_more(view, decision)
                    if more is None:
                        return None
                    view = more
                case Stale():
                    return decision
                case Decision():
                    return prepare(decision, view, self.routes.queue, arrival.claimant, now)

    def _commit(self, group: Sequence[_Decided]) -> _Settled:
        if not group:
            return {}
        try:
            results = self._store.commit([one.prepared.decision for one in group])
        except StoreUnavailable as away:
            if away.unknown:
                self._note_unknown(group)
            raise
        settled: _Settled = {}
        committed: list[Prepared] = []
        for one, result in zip(group, results, strict=True):
            match result:
                case Committed():
                    settled[one.place] = _committed(one.arrival.event, one.prepared, one.view)
                    committed.append(one.prepared)
                case Failed(exception):
                    settled[one.place] = _failed(one.arrival.event, exception)
                case Stale():  # something else came first: decided again in the next round
                    pass
        self._strikes.over(one.decision for one in committed)
        self._announcer.announce(committed)
        return settled

    def _decide_locked(self, execution: int, queue: _Queue) -> _Settled:
        """Decide the next few events of one execution while holding its lock."""
        settled: _Settled = {}
        committed: list[Prepared] = []
        try:
            self._decide_under_lock(execution, queue[:LOCKED_EVENTS], settled, committed)
        except StoreUnavailable:
            raise
        except Exception as exception:  # noqa: BLE001  # it must not sink its neighbours
            if len(queue) > 1:
                return self._decide_locked(execution, queue[:1])
            place, arrival = queue[0]
            return {place: _failed(arrival.event, exception)}
        self._strikes.over(one.decision for one in committed)
        self._announcer.announce(committed)
        return settled

    def _decide_under_lock(
        self, execution: int, queue: _Queue, settled: _Settled, committed: list[Prepared]
    ) -> None:
        until = self._surroundings.monotonic() + LOCKED_SECONDS
        frames = list({frame_of(arrival.event): None for _, arrival in queue})
        with self._store.locked(execution, frames) as locked:
            for place, arrival in queue:
                view = locked.read(frame_of(arrival.event))
                if view is None:
                    settled[place] = _nowhere(arrival.event)
                    continue
                if _is_known(arrival, place, settled, lambda _, number: locked.call(number)):
                    continue
                decided = self._decided(place, arrival, view, settled, locked.read_more)
                if decided is None and place not in settled:
                    return
                if decided is not None:
                    if not locked.write(decided.decision):
                        return
                    settled[place] = _committed(arrival.event, decided, view)
                    committed.append(decided)
                if self._surroundings.monotonic() >= until:
                    return


def _anew(place: int, arrival: Arrival) -> tuple[int, Arrival]:
    """An arrival for the next round: what it has seen was not what is there."""
    return place, arrival if arrival.view is None else replace(arrival, view=None)


def _siblings(arrival: Arrival) -> tuple[int, str] | None:
    """The fork of whose children an event concerns one: its execution and their ids' prefix."""
    prefix, _, index = frame_of(arrival.event).rpartition(".")
    return (arrival.event.execution, prefix) if index else None


def _committed(event: Event, prepared: Prepared, view: View) -> Handled:
    in_hand = view_in_hand(prepared, view)
    call = None
    if isinstance(event, CallArrived):
        written = (*prepared.decision.calls_inserted, *prepared.decision.calls_decided)
        call = next((one for one in written if one.id == event.call.id), None)
    return Handled(event, Outcome.COMMITTED, claim=prepared.claim, view=in_hand, call=call)


def _is_known(
    arrival: Arrival,
    place: int,
    settled: _Settled,
    known: Callable[[int, str], Call | None],
) -> bool:
    """Whether it is a call that is on record already; then it is settled."""
    event = arrival.event
    if not isinstance(event, CallArrived):
        return False
    call = known(event.execution, event.call.id)
    if call is None:
        return False
    settled[place] = Handled(event, Outcome.STALE, "the call is on record", call=call)
    return True


def _nowhere(event: Event) -> Handled:
    return Handled(event, Outcome.STALE, "there is no such execution")


def _failed(event: Event, exception: Exception) -> Handled | Struck:
    """What becomes of an event whose decision could not be written."""
    if isinstance(exception, StoreUnavailable):
        return Handled(event, Outcome.FAILED, f"{type(exception).__name__}: {exception}")
    return Struck(event, exception)
