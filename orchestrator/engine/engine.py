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
from orchestrator.engine.around import Mocks, no_mocks
from orchestrator.engine.arrival import Arrival, Handled, Outcome, Start
from orchestrator.engine.bell import Bell
from orchestrator.engine.callback import Callbacks
from orchestrator.engine.crowd import Crowds
from orchestrator.engine.decider import Decider, ReadMore
from orchestrator.engine.group import Group
from orchestrator.engine.inline import Prepared, view_in_hand
from orchestrator.engine.revision import Revisions
from orchestrator.engine.route import Routes
from orchestrator.engine.strikes import Kept, Strikes, Struck
from orchestrator.engine.surroundings import Surroundings
from orchestrator.engine.unknown_commit import UnknownCommits
from orchestrator.execution.call import Call
from orchestrator.execution.decision import Stale, View
from orchestrator.execution.events import (
    CallArrived,
    CompensationRetried,
    CompensationSkipped,
    EffectRetried,
    Event,
    StopRequested,
    frame_of,
)
from orchestrator.execution.frame import Scope
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

LOCKED_EVENTS: Final = 64
LOCKED_SECONDS: Final = 0.05
"""How much one transaction that holds an execution's lock may decide."""


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
        self._surroundings = surroundings or Surroundings()
        self._revisions = Revisions(store, limits, self._surroundings.parse)
        self._results: Group[Arrival, Handled] = Group(self.take, limits.group_transitions)
        self._starts: Group[Start, Started] = Group(self.start_many, limits.group_transitions)
        self._unknown = UnknownCommits()
        self._crowds = Crowds()
        self.routes = Routes(store, self._surroundings.monotonic)
        self._announcer = Announcer(store, bell, self.routes, wake)
        self.callbacks = Callbacks(partial(store.secret, "callbacks"))
        self._decider = Decider(
            store,
            self._revisions,
            self.routes,
            self._surroundings,
            limits=limits,
            scope=scope or Scope(),
            mocks=mocks,
        )

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
            prepared = [self._decider.begin(start) for start in starts]
            try:
                started = self._store.start([one.decision for one in prepared])
            except IdTaken:
                continue
            self._announcer.announce(
                one for one, answer in zip(prepared, started, strict=True) if answer.created
            )
            return started

    # -- events ----------------------------------------------------------------------------------

    def hand_in(self, arrival: Arrival) -> Handled:
        """Take one event to its execution, in one transaction with those of other threads."""
        return self._results.do(arrival)

    def handle_many(self, events: Sequence[Event]) -> list[Handled]:
        """Take events to their executions; those of one execution are decided one by one.

        Answers in the order of `events`. Raises StoreUnavailable when the database is away;
        handing the same events over again is then safe, since each names what it answers.
        """
        return self.take([Arrival(event) for event in events])

    def take(self, arrivals: Sequence[Arrival]) -> list[Handled]:
        """Take what has arrived to its executions, as handle_many does."""
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
            execution for execution, (_, arrival) in heads.items() if self._crowds.has(arrival)
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
            elif tries % 2 == 0 or self._crowds.is_one(view, arrival, len(waiting[execution])):
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
        read_more: ReadMore,
    ) -> Prepared | None:
        """The decision to be committed; None: it is settled without one, or to be tried again."""
        event = self._strikes.first(arrival.event, view)
        if isinstance(event, Kept):
            settled[place] = Handled(arrival.event, Outcome.KEPT, "its task has ended already")
            return None
        try:
            decided = self._decider.decide(view, replace(arrival, event=event), read_more)
        except StoreUnavailable:
            raise
        except Exception as exception:  # noqa: BLE001  # it must not sink its neighbours
            settled[place] = Struck(event, exception)
            return None
        if isinstance(decided, Stale):
            settled[place] = self._unknown.found(arrival.event, view) or Handled(
                arrival.event, Outcome.STALE, decided.reason
            )
            return None
        return decided

    def _commit(self, group: Sequence[_Decided]) -> _Settled:
        if not group:
            return {}
        try:
            results = self._store.commit([one.prepared.decision for one in group])
        except StoreUnavailable as away:
            if away.unknown:
                self._unknown.note((one.arrival.event, one.prepared) for one in group)
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
