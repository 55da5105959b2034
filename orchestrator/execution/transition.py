"""What one decision does, collected while it is made.

Mutable inside, frozen outside: the frames that move, the tallies of their forks, the history, and
what is still to be followed. Knows no state type but those that open forks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from hashlib import sha256

from orchestrator.asl.document import Json
from orchestrator.asl.draw import Draw
from orchestrator.asl.errors import RUNTIME, Failure
from orchestrator.asl.jsonata import Answer, Question
from orchestrator.asl.limits import Limits
from orchestrator.asl.machine import Machine
from orchestrator.asl.paths import NO_VARIABLES, ContextSource, Variables
from orchestrator.asl.states import Map, Parallel, State
from orchestrator.asl.states import Task as TaskState
from orchestrator.execution.book import Book, is_open
from orchestrator.execution.commands import Command, RingBell, TellCalls, TellEnd, WakeAt
from orchestrator.execution.compensation import Undoing
from orchestrator.execution.context import context_object, moment_text
from orchestrator.execution.decision import Decision, FrameUpdate, Missing, Seen, View
from orchestrator.execution.evaluate import Evaluate
from orchestrator.execution.frame import (
    Execution,
    ExecutionStatus,
    Fork,
    Frame,
    FrameStatus,
    Parent,
    Phase,
    RestsOn,
    is_effect,
    lineage,
)
from orchestrator.execution.history import Detail, HistoryEvent
from orchestrator.execution.needs import NeedsMore
from orchestrator.execution.payload import Payload
from orchestrator.execution.pending import Pending
from orchestrator.execution.thread import Tally, Thread


class HistoryFull(Exception):
    """The next event is the last that the history may hold."""


class Admission:
    """Children of a fork that may still begin in this decision, and how many at most."""

    __slots__ = ("left", "parent", "tally")

    def __init__(self, parent: Thread, tally: Tally, left: int) -> None:
        self.parent = parent
        self.tally = tally
        self.left = left


@dataclass(frozen=True, slots=True)
class Undone:
    """A frame may go on: what it has done is undone."""

    frame: str


class Transition:
    """One transition of one execution, from what was seen of it to what is decided."""

    def __init__(
        self,
        machine: Machine,
        view: View,
        now: datetime,
        bits: bytes,
        limits: Limits,
        evaluate: Evaluate,
    ) -> None:
        self.machine = machine
        self.view = view
        self.now = max(now, view.execution.last_event_at)
        self.limits = limits
        self.agenda: list[Thread | Admission | Undone] = []
        """What is still to be followed; the last comes first."""
        self.frames = view.execution.frames
        self.book = Book(view)
        self.pending = Pending(view)
        self._kept: list[Thread] = []
        self._run = view.execution
        """The execution as it stands now, its counters aside."""
        self._threads: dict[str, Thread] = {}
        self._tallies: dict[str, Tally] = {}
        self._closed: list[Tally] = []
        self._history: list[HistoryEvent] = []
        self._next_event_id = view.execution.next_event_id
        self._states = 0
        self._bytes = 0
        self._entered_with: set[int] = set()
        self._evaluate = evaluate
        self._seconds = 0.0
        self._state_seconds = 0.0
        self._bits = bits
        self._tokens = 0
        self._promised: dict[str, str] = {}
        self._orphans: list[str] = []
        self._ended: Execution | None = None
        self._output: Payload | None = None

    # -------------------------------------------------------------------------------- history

    def record(
        self,
        event_type: str,
        previous: int,
        details: Mapping[str, Detail],
        at: datetime | None = None,
    ) -> int:
        """Record an event and return its id."""
        most = self.limits.history_events
        if most is not None and self._next_event_id >= most and not self.decided:
            raise HistoryFull
        return self._append(event_type, previous, details, at or self.now)

    def _append(
        self, event_type: str, previous: int, details: Mapping[str, Detail], at: datetime
    ) -> int:
        event_id = self._next_event_id
        self._next_event_id = event_id + 1
        self._history.append(HistoryEvent(event_id, previous, at, event_type, details))
        return event_id

    @property
    def next_event_id(self) -> int:
        """The id of the next event."""
        return self._next_event_id

    # --------------------------------------------------------------------------------- frames

    def thread(self, frame_id: str) -> Thread:
        """Return a frame that is in hand."""
        thread = self._threads.get(frame_id)
        if thread is None:
            thread = self._threads[frame_id] = Thread.of(self.view.frames[frame_id])
        return thread

    def create(self, thread: Thread) -> None:
        """Take up a new frame."""
        thread.changed = True
        self._threads[thread.id] = thread

    def leave_out(self, thread: Thread) -> None:
        """Let a frame go that is as it was seen, or else nothing of this holds."""
        thread.changed = True
        thread.gone = True

    def keep(self, thread: Thread) -> None:
        """Keep a cancelled frame, wherever it stands in the tree."""
        if thread.id:
            thread.gone = True
            self._kept.append(thread)

    def require_frames(self, frame_ids: Iterable[str]) -> None:
        """Ask for frames that may or may not be there, unless they are in hand."""
        wanted = [one for one in frame_ids if not self.knows(one)]
        missing = tuple(one for one in wanted if one not in self.view.looked_for)
        if missing:
            raise NeedsMore(Missing(frames=missing))

    def surround(self, thread: Thread) -> None:
        """Give a frame what it sees of those around it, which it will not find any more."""
        seen = self.variables(thread)
        thread.variables = Payload.of(dict(seen)) if seen else None
        if thread.item is None and (here := self._item_around(thread.id)) is not None:
            thread.item = here[1]

    def state_of(self, thread: Thread) -> State:
        """Return the state in which a frame stands."""
        return self.machine.state(thread.state or "")

    def count_state(self, given: Payload) -> None:
        """Count a state that is entered, and its input unless another was entered with it."""
        self._states += 1
        self._state_seconds = 0.0
        if id(given) not in self._entered_with:  # the history holds it: the id stays its own
            self._entered_with.add(id(given))
            self._bytes += len(given.text)

    @property
    def spent(self) -> bool:
        """Whether this decision has entered as many states as one may."""
        return self._states >= self.limits.states_per_transaction or self._exhausted

    @property
    def overspent(self) -> bool:
        """Whether the state entered last is one too many to be carried out now."""
        return self._states > self.limits.states_per_transaction or self._exhausted

    @property
    def _exhausted(self) -> bool:
        limits = self.limits
        return (
            self._seconds > limits.state_evaluation_seconds or self._bytes > limits.decision_bytes
        )

    def ask(self, question: Question) -> Answer:
        """Have an expression evaluated, unless those of this state have taken too long already."""
        most = self.limits.state_evaluation_seconds
        if self._state_seconds > most:
            return Answer(reason=f"was not evaluated: its state takes more than {most:g} seconds.")
        found = self._evaluate(question)
        self._seconds += found.seconds
        self._state_seconds += found.seconds
        return found

    def token(self) -> str:
        """Return a new token, as random as the bits that were handed in."""
        self._tokens += 1
        return sha256(self._bits + self._tokens.to_bytes(4, "big")).hexdigest()

    def promise(self, thread: Thread) -> str:
        """Return a new token for the attempt that a frame is about to make: its context has it."""
        token = self._promised[thread.id] = self.token()
        return token

    def orphan(self, thread: Thread) -> None:
        """Wait no more for the execution that a frame's task has started."""
        if thread.task is not None:
            parent = Parent(self.view.execution.id, thread.id, thread.task.token)
            self._orphans.append(str(parent))

    def require_activity(self, name: str) -> bool:
        """Tell whether an activity is there; asks for it if that is not known."""
        known = self.view.around.activities
        if name not in known:
            raise NeedsMore(Missing(activities=(name,)))
        return known[name]

    def draw(self, place: str) -> Draw:
        """Return the draws of an evaluation, the same when the decision is computed again."""
        return Draw(f"{self.view.execution.id}/{self._next_event_id}/{place}".encode())

    # ------------------------------------------------------------------------------ variables

    def variables(self, thread: Thread) -> Variables:
        """Return the variables that a frame sees, its own and those around it."""
        if not self.machine.assigns:
            return NO_VARIABLES
        outer = self.outer_variables(thread)
        own = _value(thread.variables)
        return {**outer, **own} if outer and own else outer or own

    def outer_variables(self, thread: Thread) -> Variables:
        """Return the variables of the frames around a frame."""
        found: dict[str, Json] = {}
        for variables in self._around(thread):
            found.update(_value(variables))
        return found or NO_VARIABLES

    def outer_texts(self, thread: Thread) -> list[str]:
        """Return the variables of the frames around a frame as texts."""
        return [variables.text for variables in self._around(thread)]

    def _around(self, thread: Thread) -> list[Payload]:
        if not self.machine.assigns or not thread.id:
            return []
        found: list[Payload] = []
        for one in lineage(thread.id)[:-1]:
            if not self.knows(one):
                continue  # it was cancelled together with this one
            place = self.standing(one)
            if place.variables is not None:
                found.append(place.variables)
            around = self.machine.state(place.state or "")
            if isinstance(around, Map) and around.distributed:
                found.clear()  # its children are executions of their own
        return found

    # -------------------------------------------------------------------------------- context

    def context(self, thread: Thread, item: tuple[int, Payload] | None = None) -> ContextSource:
        """Return where an evaluation finds the context object; ItemSelector hands in its item."""
        return partial(self._context, thread, item)

    def _context(self, thread: Thread, item: tuple[int, Payload] | None) -> Json:
        about: dict[str, Json] = {
            "Name": thread.state,
            "EnteredTime": moment_text(thread.entered_at or self.now),
        }
        state = self.state_of(thread)
        if isinstance(state, TaskState | Parallel | Map):
            about["RetryCount"] = thread.retries.total
        view = self.view
        here = item or self._item_around(thread.id)
        token = None
        if isinstance(state, TaskState) and state.resource.waits_for_token:
            token = self._promised.get(thread.id) if thread.task is None else thread.task.token
        call = self.book.call
        return context_object(view.execution, view.scope, view.input, about, here, token, call)

    def _item_around(self, frame_id: str) -> tuple[int, Payload] | None:
        for one in reversed(lineage(frame_id)):
            item = self.standing(one).item if self.knows(one) else None
            if item is not None:
                return int(one.rsplit(".", 1)[1]), item
        return None

    def knows(self, frame_id: str) -> bool:
        """Tell whether a frame is at hand."""
        return frame_id in self._threads or frame_id in self.view.frames

    def standing(self, frame_id: str) -> Thread | Frame:
        """Return a frame as it stands now, only to look at it."""
        return self._threads.get(frame_id) or self.view.frames[frame_id]

    # ---------------------------------------------------------------------------------- forks

    def open_fork(self, fork: Fork, children: Iterable[Thread]) -> Tally:
        """Take up a new fork; children that have to wait for others are stored, pending.

        Without a limit of concurrency nobody waits but for the next batch, which can be made
        again when it begins: then a child is a frame only from its beginning.
        """
        tally = Tally(fork, fresh=True)
        self._tallies[fork.frame] = tally
        if not fork.max_concurrency:
            tally.coming = iter(children)
            return tally
        tally.threads = list(children)
        self.frames += fork.total
        for child in tally.threads:
            self.create(child)
        return tally

    def open_undoing(self, fork: Fork, children: Iterable[Thread]) -> Tally:
        """Take up a new fork of frames that undo, which count among no frames."""
        tally = Tally(fork, fresh=True)
        self._tallies[fork.frame] = tally
        tally.threads = list(children)
        for child in tally.threads:
            self.create(child)
        return tally

    def tally(self, frame_id: str) -> Tally:
        """Return the tally of the fork that a frame rests on."""
        tally = self._tallies.get(frame_id)
        if tally is None:
            tally = self._tallies[frame_id] = Tally(self.view.forks[frame_id], fresh=False)
        return tally

    def fork_state(self, tally: Tally) -> Parallel | Map:
        """Return the state that opened a fork."""
        state = self.machine.state(self.standing(tally.fork.frame).state or "")
        if not isinstance(state, Parallel | Map):
            raise TypeError(f"the state {state.name} opens no fork")
        return state

    def require_children(self, tally: Tally, count: int, at_least: int | None = None) -> None:
        """Ask for the next children to begin unless they, or at least so many, are in hand."""
        prefix = tally.fork.prefix
        ids = [f"{prefix}{tally.admitted + n}" for n in range(count)]
        known = self.view.frames
        if all(one in known for one in ids[:at_least]):
            return
        missing = [one for one in ids if one not in known]
        if missing:
            raise NeedsMore(Missing(frames=tuple(missing)))

    def next_child(self, tally: Tally) -> Thread:
        """Return the next child of a fork to begin."""
        if tally.coming is not None:
            child = next(tally.coming)
            self.frames += 1
            self.create(child)
            tally.threads.append(child)
            return child
        if tally.fresh:
            return tally.threads[tally.admitted]
        # Whoever begins one after the other in this decision goes on doing so: ask for ever more.
        left = tally.fork.total - tally.admitted
        self.require_children(tally, min(max(1, 2 * len(tally.threads)), left), at_least=1)
        child = self.thread(f"{tally.fork.prefix}{tally.admitted}")
        tally.threads.append(child)
        return child

    def outputs(self, tally: Tally) -> list[Payload]:
        """Return what the children of a fork have ended with, by index."""
        if tally.fresh:
            return [thread.input for thread in tally.threads]
        self._require_below(tally)
        prefix = tally.fork.prefix
        return [self.standing(f"{prefix}{n}").input for n in range(tally.fork.total)]

    def open_frames(self) -> list[Frame]:
        """Return all frames that rest somewhere; asks for those that are not in hand."""
        root = self.view.frames.get("")
        fork = self.view.forks.get("")
        loaded = fork is not None and fork.prefix in self.view.below
        if root is not None and root.fork is not None and not loaded:
            raise NeedsMore(Missing(all_frames=True))
        return [frame for frame in self.view.frames.values() if is_open(frame)]

    def below(self, tally: Tally) -> dict[str, Thread | Frame]:
        """Return all frames under a fork as they stand now, effects aside.

        Asks for those that are not in hand.
        """
        found: dict[str, Thread | Frame] = {}
        if not tally.fresh:
            self._require_below(tally)
            prefix = tally.fork.prefix
            over = tuple(closed.fork.prefix for closed in self._closed)
            found = {
                one: self.standing(one)
                for one in self.view.frames
                if one.startswith(prefix) and not one.startswith(over) and not is_effect(one)
            }
        for thread in self._in_hand(tally):
            found[thread.id] = thread
        return {
            one: place
            for one, place in found.items()
            if not (isinstance(place, Thread) and place.gone)
        }

    def _require_below(self, tally: Tally) -> None:
        if tally.fork.prefix not in self.view.below:
            raise NeedsMore(Missing(below=(tally.fork.prefix,)))

    def _in_hand(self, tally: Tally) -> Iterator[Thread]:
        """Yield the frames under a fork that this decision has taken up: begun, or woken."""
        for thread in self._children_in_hand(tally):
            yield thread
            inner = None if thread.fork is None else self._tallies.get(thread.id)
            if inner is not None:
                yield from self._in_hand(inner)

    def _children_in_hand(self, tally: Tally) -> Collection[Thread]:
        if tally.fresh:
            return tally.threads
        prefix = tally.fork.prefix
        woken = [
            thread
            for thread in self._threads.values()
            if thread.id.startswith(prefix) and "/" not in thread.id[len(prefix) :]
        ]
        return {thread.id: thread for thread in (*tally.threads, *woken)}.values()

    def close_fork(self, tally: Tally, frames: int) -> None:
        """Let a fork and everything under it go; `frames` tells how many frames that are."""
        # Whoever stands inside goes, whether or not what lies between is in hand.
        beneath = tally.fork.prefix
        inside = [one for one in self._threads.values() if one.id.startswith(beneath)]
        for thread in (*self._in_hand(tally), *inside):
            thread.gone = True
        for frame_id, inner in self._tallies.items():
            if frame_id.startswith(beneath):
                inner.closed = True
        tally.closed = True
        del self._tallies[tally.fork.frame]
        self.frames = max(self.frames - frames, 1)
        if not tally.fresh:
            self._closed.append(tally)

    # ------------------------------------------------------------------------------- outcome

    def end(
        self,
        status: ExecutionStatus,
        *,
        final_state: str | None,
        failure: Failure | None = None,
        output: Payload | None = None,
    ) -> None:
        """End the execution."""
        self._ended = replace(
            self._run,
            status=status,
            outcome=None,
            phase=Phase.ENDED,
            ended_at=self.now,
            final_state=final_state,
            error=None if failure is None else failure.error,
            cause=None if failure is None else failure.cause,
        )
        self._output = output

    def overflow(self, final_state: str | None) -> None:
        """End the execution because its history is full; this is its last event."""
        failure = self.fullness
        details = {"error": RUNTIME, "cause": failure.cause or ""}
        self._append("ExecutionFailed", self._next_event_id - 1, details, self.now)
        self.end(ExecutionStatus.FAILED, final_state=final_state, failure=failure)

    @property
    def fullness(self) -> Failure:
        """With what an execution fails whose history is full."""
        most = self.limits.history_events
        cause = f"The execution reached the maximum number of history events ({most})."
        return Failure(RUNTIME, cause)

    def undoes(self) -> None:
        """Note that something is being undone."""
        self._run = replace(self._run, undoing=Undoing.RUNNING)

    def has_undone(self) -> None:
        """Note that all is undone that was to be."""
        self._run = replace(self._run, undoing=Undoing.COMPLETED)

    def abandon(self) -> None:
        """Note that what is still to be undone will not be."""
        self._run = replace(self._run, undoing=Undoing.ABANDONED)

    def settle_outcome(
        self, status: ExecutionStatus, *, final_state: str | None, failure: Failure | None
    ) -> None:
        """Fix with what the execution will end once all is undone."""
        self._run = replace(
            self._run,
            phase=Phase.UNDOING,
            outcome=status,
            final_state=final_state,
            error=None if failure is None else failure.error,
            cause=None if failure is None else failure.cause,
        )

    @property
    def execution(self) -> Execution:
        """The execution as it stands now, its counters aside."""
        return self._ended or self._run

    @property
    def decided(self) -> bool:
        """Whether it is decided with what the execution ends, or has ended."""
        return self.ended or self._run.phase is Phase.UNDOING

    @property
    def ended(self) -> bool:
        """Whether the execution has ended."""
        return self._ended is not None

    @property
    def final_state(self) -> str | None:
        """The state in which the execution has ended or will end, if that is decided."""
        return self.execution.final_state

    def decision(self) -> Decision:
        """Return what was decided."""
        before = self.view.execution
        accepted = [
            one.call.accepted(one.origin, self._rest_of(one.frame), self.now)
            for one in self.book.accepted
        ]
        arrived, decided = self.book.verdicts(accepted, before.version + 1)
        after = replace(
            self.execution,
            version=before.version + 1,
            next_event_id=self._next_event_id,
            last_event_at=self.now,
            frames=0 if self._ended else self.frames,
            kept=before.kept - len(decided),
            effects=self.book.unended,
        )
        history = tuple(self._history)
        if self._ended is not None:
            told = (TellEnd(),) if after.is_express or after.parent else ()
            return Decision(
                before.version,
                after,
                inserted=self.book.inserted(),
                updated=self.book.updated(),
                gone=self._gone(),
                history=history,
                output=self._output,
                calls_inserted=arrived,
                calls_decided=decided,
                commands=(*told, *([TellCalls()] if decided else ()), *self.book.commands()),
                leaves_children=self.machine.starts_executions,
                orphans=tuple(self._orphans),
                registered=self.pending.registered,
                marked=self.pending.marked,
                dropped=self.pending.dropped,
            )
        going_on = self._going_on(before.version, after, history)
        if arrived or decided:
            commands = (*going_on.commands, TellCalls()) if decided else going_on.commands
            going_on = replace(
                going_on, calls_inserted=arrived, calls_decided=decided, commands=commands
            )
        return going_on

    def _rest_of(self, frame_id: str) -> str | None:
        """Return the state in which a frame, or what it was joined into, has come to rest."""
        if self._ended is not None:
            return self._ended.final_state
        for one in reversed(lineage(frame_id)):
            place = self.standing(one)
            if not (isinstance(place, Thread) and place.gone):
                return place.state
        return None

    def _going_on(
        self, seen_version: int, after: Execution, history: tuple[HistoryEvent, ...]
    ) -> Decision:
        inserted: list[Frame] = []
        updated: list[FrameUpdate] = []
        for thread in self._threads.values():
            if thread.gone or not thread.changed:
                continue
            if thread.before is None:
                inserted.append(thread.frame())
            else:
                updated.append(FrameUpdate(thread.frame(), _seen(thread.before)))
        tallies = self._tallies.values()
        return Decision(
            seen_version=seen_version,
            execution=after,
            inserted=(*inserted, *self.book.inserted()),
            updated=(*updated, *self.book.updated()),
            kept=tuple(self._keeping()),
            registered=self.pending.registered,
            marked=self.pending.marked,
            dropped=self.pending.dropped,
            removed=tuple(tally.fork.prefix for tally in self._closed),
            gone=self._gone(),
            forks_inserted=tuple(one.value() for one in tallies if one.fresh and not one.closed),
            forks_updated=tuple(
                one.value() for one in tallies if one.changed and not one.fresh and not one.closed
            ),
            forks_removed=tuple((one.fork.frame, one.fork.entry) for one in self._closed),
            history=history,
            commands=self._commands(),
            leaves_children=bool(self._closed) and self.machine.starts_executions,
            orphans=tuple(self._orphans),
        )

    def _keeping(self) -> Iterator[FrameUpdate]:
        for thread in self._kept:
            if thread.before is not None:
                yield FrameUpdate(thread.frame(), _seen(thread.before))

    def _gone(self) -> tuple[tuple[str, Seen], ...]:
        """Return what was seen of frames that have moved to their end, or to that of all."""
        kept = {thread.id for thread in self._kept} if not self.ended else frozenset[str]()
        return tuple(
            (thread.id, _seen(thread.before))
            for thread in self._threads.values()
            if thread.changed and thread.before is not None and (thread.gone or self.ended)
            if thread.id not in kept
        )

    def _commands(self) -> tuple[Command, ...]:
        commands: list[Command] = []
        execution = self.view.execution
        earliest = execution.deadline_at if execution.version == 0 else None
        for thread in self._threads.values():
            if thread.gone or not thread.changed:
                continue
            if thread.task is not None and _is_ready(thread):
                commands.append(RingBell(thread.task.resource))
            if thread.wake_at is not None and (earliest is None or thread.wake_at < earliest):
                earliest = thread.wake_at
        commands += self.book.commands()
        moments = [] if earliest is None else [earliest]
        moments += self.book.moments()
        return (*commands, WakeAt(min(moments))) if moments else tuple(commands)


def _is_ready(thread: Thread) -> bool:
    return thread.rests_on is RestsOn.TASK and thread.status is FrameStatus.RESTING


def _value(variables: Payload | None) -> Variables:
    value = NO_VARIABLES if variables is None else variables.value
    return value if isinstance(value, Mapping) else NO_VARIABLES


def _seen(frame: Frame) -> Seen:
    task = frame.task
    if task is None:
        return Seen(None, 0, frame.wake_at)
    return Seen(task.token, task.deliveries, frame.wake_at)
