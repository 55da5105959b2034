"""What one decision does, collected while it is made.

Mutable inside, frozen outside: the tree of frames, what becomes of calls, effects and
compensations, the outcome, the history, and what is still to be followed. Knows no state type but
those that open forks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from orchestrator.asl.draw import Draw
from orchestrator.asl.errors import RUNTIME, Failure
from orchestrator.asl.jsonata import Answer, Question
from orchestrator.asl.limits import Limits
from orchestrator.asl.machine import Machine
from orchestrator.asl.states import Map, Parallel, State
from orchestrator.execution.book import Book
from orchestrator.execution.decision import Missing, View
from orchestrator.execution.evaluate import Evaluate
from orchestrator.execution.frame import ExecutionStatus, Parent
from orchestrator.execution.history import Detail, HistoryEvent
from orchestrator.execution.needs import NeedsMore
from orchestrator.execution.outcome import Outcome
from orchestrator.execution.payload import Payload
from orchestrator.execution.pending import Pending
from orchestrator.execution.thread import Tally, Thread
from orchestrator.execution.tree import Tree


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
        self.tree = Tree(view)
        self.book = Book(view)
        self.pending = Pending(view)
        self.outcome = Outcome(view.execution, self.now)
        self.history: list[HistoryEvent] = []
        self.next_event_id = view.execution.next_event_id
        self.promised: dict[str, str] = {}
        """Tokens of attempts that are about to be made, by frame."""
        self.orphans: list[str] = []
        """Of executions that are waited for no more: what they have as their parent."""
        self._states = 0
        self._bytes = 0
        self._entered_with: set[int] = set()
        self._evaluate = evaluate
        self._seconds = 0.0
        self._state_seconds = 0.0
        self._bits = bits
        self._tokens = 0

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
        if most is not None and self.next_event_id >= most and not self.outcome.decided:
            raise HistoryFull
        return self._append(event_type, previous, details, at or self.now)

    def _append(
        self, event_type: str, previous: int, details: Mapping[str, Detail], at: datetime
    ) -> int:
        event_id = self.next_event_id
        self.next_event_id = event_id + 1
        self.history.append(HistoryEvent(event_id, previous, at, event_type, details))
        return event_id

    def overflow(self, final_state: str | None) -> None:
        """End the execution because its history is full; this is its last event."""
        failure = self.fullness
        details = {"error": RUNTIME, "cause": failure.cause or ""}
        self._append("ExecutionFailed", self.next_event_id - 1, details, self.now)
        self.outcome.end(ExecutionStatus.FAILED, final_state=final_state, failure=failure)

    @property
    def fullness(self) -> Failure:
        """With what an execution fails whose history is full."""
        most = self.limits.history_events
        cause = f"The execution reached the maximum number of history events ({most})."
        return Failure(RUNTIME, cause)

    # --------------------------------------------------------------------------------- states

    def state_of(self, thread: Thread) -> State:
        """Return the state in which a frame stands."""
        return self.machine.state(thread.state or "")

    def fork_state(self, tally: Tally) -> Parallel | Map:
        """Return the state that opened a fork."""
        state = self.machine.state(self.tree.standing(tally.fork.frame).state or "")
        if not isinstance(state, Parallel | Map):
            raise TypeError(f"the state {state.name} opens no fork")
        return state

    # --------------------------------------------------------------------------------- budget

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

    # --------------------------------------------------------------------------------- tokens

    def token(self) -> str:
        """Return a new token, as random as the bits that were handed in."""
        self._tokens += 1
        return sha256(self._bits + self._tokens.to_bytes(4, "big")).hexdigest()

    def promise(self, thread: Thread) -> str:
        """Return a new token for the attempt that a frame is about to make: its context has it."""
        token = self.promised[thread.id] = self.token()
        return token

    def orphan(self, thread: Thread) -> None:
        """Wait no more for the execution that a frame's task has started."""
        if thread.task is not None:
            parent = Parent(self.view.execution.id, thread.id, thread.task.token)
            self.orphans.append(str(parent))

    def require_activity(self, name: str) -> bool:
        """Tell whether an activity is there; asks for it if that is not known."""
        known = self.view.around.activities
        if name not in known:
            raise NeedsMore(Missing(activities=(name,)))
        return known[name]

    def draw(self, place: str) -> Draw:
        """Return the draws of an evaluation, the same when the decision is computed again."""
        return Draw(f"{self.view.execution.id}/{self.next_event_id}/{place}".encode())
