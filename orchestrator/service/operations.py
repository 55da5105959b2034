"""What operators ask: what needs attention, what is wrong, and to try again what is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from orchestrator import doctor, verify
from orchestrator.asl import definition
from orchestrator.asl.limits import Limits
from orchestrator.engine import Engine, Outcome
from orchestrator.execution.frame import Execution, ExecutionStatus, Scope
from orchestrator.execution.history import HistoryEvent
from orchestrator.service.compensations import blocked_in
from orchestrator.service.errors import NothingToRetry
from orchestrator.store import Checkup, NoSuchRevision, Store, TrailRow, WorkerKind

BATCH: Final = 100
"""Executions that are examined together."""
MOST_ENDED: Final = 1_000
"""Of those that have ended, so many of each status are examined, the newest."""
MOST_LISTED: Final = 1_000
LOOKS: Final = 3
"""What goes on while it is examined may look wrong once: a fault is what is there at every look."""
LOOK_SECONDS: Final = 0.2
HISTORY_PAGE: Final = 1_000
KEPT_SECONDS: Final = 3_600.0
"""A call that waits longer than this for its verdict is listed."""
_NEWEST: Final = 2**63 - 1


class AttentionKind(StrEnum):
    """Why somebody should look at something."""

    POISON = "poison"
    """An event of an execution cannot be decided; it is kept until somebody retries it."""
    UNSERVED = "unserved"
    """Tasks wait for which no worker is there."""
    DEAD_QUEUE = "dead queue"
    """All workers of a queue are dead."""
    TWO_QUEUES = "two queues"
    """Living workers announce a name for different queues; the latest announcement counts."""
    COMPENSATION = "compensation blocked"
    """A compensation has failed for good: undoing stops there until it is retried or skipped."""
    EFFECT = "effect failed"
    """An effect has failed for good; it can be run again."""
    CALL = "call kept"
    """A call waits for its verdict for long."""


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that does not mend itself."""

    kind: AttentionKind
    subject: str
    """The address of an execution, the name of a resource or of a queue."""
    text: str
    since: datetime | None = None
    state: str | None = None
    """Of the execution: the state at which it is."""
    part: str | None = None
    """The id of the compensation, the effect or the call."""

    @property
    def of_execution(self) -> bool:
        """Whether the subject is an execution."""
        return self.kind in _OF_EXECUTIONS


_OF_EXECUTIONS: Final = frozenset(
    {
        AttentionKind.POISON,
        AttentionKind.COMPENSATION,
        AttentionKind.EFFECT,
        AttentionKind.CALL,
    }
)


@dataclass(frozen=True, slots=True)
class Retried:
    """What became of the events that were kept of an execution."""

    address: str
    applied: int
    failed: tuple[str, ...]
    """Why others could not be decided once more; they are kept."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What an examination has found."""

    findings: tuple[doctor.Finding, ...]
    schema: str
    examined: int
    """Executions."""
    living: dict[str, int]
    """Processes by kind."""
    failed_bells: int
    """Bells of living processes that did not reach the broker; tasks were found all the same."""


class Operations:
    """What operators can ask for; `find` finds an execution by its address."""

    def __init__(
        self,
        store: Store,
        engine: Engine,
        limits: Limits,
        scope: Scope,
        find: Callable[[str], Execution],
    ) -> None:
        self._store = store
        self._engine = engine
        self._limits = limits
        self._scope = scope
        self._find = find

    # -- attention -------------------------------------------------------------------------------

    def attention(self) -> list[Attention]:
        """Return everything that does not mend itself."""
        return [
            *self._poison(),
            *self._unserved(),
            *self._two_queues(),
            *self._effects(),
            *self._calls(),
        ]

    def _effects(self) -> Iterator[Attention]:
        for address, frame in self._store.failed_effects(MOST_LISTED):
            blocked = blocked_in(frame)
            if blocked is not None:
                yield Attention(
                    AttentionKind.COMPENSATION,
                    address,
                    blocked.text,
                    frame.entered_at,
                    blocked.state,
                    blocked.id,
                )
                continue
            resource = "" if frame.task is None else frame.task.resource
            note = frame.effect
            error = "" if note is None else ": ".join(filter(None, (note.error, note.cause)))
            text = (
                f"the effect {frame.id} of {frame.state} ({resource}) has failed for good: {error}"
            )
            yield Attention(
                AttentionKind.EFFECT, address, text, frame.entered_at, frame.state, frame.id
            )

    def _calls(self) -> Iterator[Attention]:
        for address, call in self._store.overdue_calls(KEPT_SECONDS, MOST_LISTED):
            text = f"the call {call.name} ({call.id}) waits for its verdict"
            yield Attention(AttentionKind.CALL, address, text, call.arrived_at, part=call.id)

    def _poison(self) -> Iterator[Attention]:
        for kept in self._store.records.left_to_operators(MOST_LISTED):
            run = self._store.execution(kept.execution)
            if run is not None:
                text = f"{type(kept.event).__name__} cannot be decided: {kept.error}"
                yield Attention(AttentionKind.POISON, _address(run), text, kept.stored_at)

    def _unserved(self) -> Iterator[Attention]:
        for one in self._store.unserved():
            text = f"no worker serves {one.resource}"
            yield Attention(AttentionKind.UNSERVED, one.resource, text, one.oldest_ready_at)
        workers, waiting = self._store.records.workers(), self._store.records.waiting()
        queues = {one.queue for one in waiting}
        for subject, text, since in doctor.unserved(workers, waiting):
            kind = AttentionKind.DEAD_QUEUE if subject in queues else AttentionKind.UNSERVED
            yield Attention(kind, subject, text, since)

    def _two_queues(self) -> Iterator[Attention]:
        for resource, text in doctor.announced_twice(self._store.records.workers()):
            yield Attention(AttentionKind.TWO_QUEUES, resource, text)

    # -- retry -----------------------------------------------------------------------------------

    def retry_execution(self, address: str, who: str, reason: str) -> Retried:
        """Decide again what is kept of an execution; who wants that and why is noted.

        Raises NothingToRetry, ExecutionDoesNotExist.
        """
        run = self._find(address)
        moments = self._store.retry(run.id, who, reason)
        if not moments:
            raise NothingToRetry(_address(run))
        handled = self._engine.handle_many(moments)
        failed = [one for one in handled if one.outcome in (Outcome.KEPT, Outcome.FAILED)]
        return Retried(
            _address(run), len(handled) - len(failed), tuple(one.reason for one in failed)
        )

    def trail(self, address: str) -> list[TrailRow]:
        """Return what operators did to an execution, in order; raises ExecutionDoesNotExist."""
        return self._store.records.trail(self._find(address).id)

    def note(self, address: str, who: str, what: str, reason: str) -> None:
        """Note an act in the trail of an execution; raises ExecutionDoesNotExist."""
        self._store.note(self._find(address).id, who, what, reason)

    # -- verify ----------------------------------------------------------------------------------

    def verify_execution(self, address: str) -> tuple[verify.Contradiction, ...]:
        """Read the history of an execution against its definition; empty: all agrees.

        Raises ExecutionDoesNotExist.
        """
        found: tuple[verify.Contradiction, ...] = ()
        for look in range(LOOKS):
            time.sleep(LOOK_SECONDS if look else 0.0)
            run = self._find(address)
            found = self._verified(run)
            if not found or run.status is not ExecutionStatus.RUNNING:
                break
        return found

    def _verified(self, run: Execution) -> tuple[verify.Contradiction, ...]:
        try:
            revision = self._store.machines.revision(run.revision)
        except NoSuchRevision as missing:
            return (verify.Contradiction(None, str(missing)),)
        parsed = definition.parse(revision.text, self._limits)
        if parsed.machine is None:
            text = f"its definition is not understood by this release: {parsed.findings[0]}"
            return (verify.Contradiction(None, text),)
        record = verify.Record(
            execution=run,
            input=self._store.read_input(run.id),
            output=self._store.output(run.id),
            history=self._history(run.id),
            frames=[*self._store.frames(run.id), *self._store.effects(run.id)],
        )
        return verify.verify(parsed.machine, record)

    def _history(self, execution: int) -> list[HistoryEvent]:
        events: list[HistoryEvent] = []
        while page := self._store.history(execution, events[-1].id if events else 0, HISTORY_PAGE):
            events += page
        return events

    # -- doctor ----------------------------------------------------------------------------------

    def diagnose(self) -> Diagnosis:
        """Examine the executions that run, the newest that ended, and the processes."""
        suspects: list[int] = []
        examined = running = 0
        for status in ExecutionStatus:
            for record in self._records(status):
                examined += 1
                running += status is ExecutionStatus.RUNNING
                if any(doctor.examine(record, self._store.now())):
                    suspects.append(record.execution.id)
        workers = self._store.records.workers()
        living = {
            kind.value: sum(one.lives and one.kind is kind for one in workers)
            for kind in WorkerKind
        }
        return Diagnosis(
            findings=(
                *self._confirmed(suspects),
                *self._of_workers(needed=running > 0),
            ),
            schema=self._store.records.schema(),
            examined=examined,
            living=living,
            failed_bells=sum(one.failed_bells for one in workers if one.lives),
        )

    def _records(self, status: ExecutionStatus) -> Iterator[Checkup]:
        running = status is ExecutionStatus.RUNNING
        after, read = (0, 0) if running else (_NEWEST, 0)
        while page := self._store.records.check_ups(status, after, BATCH):
            yield from page
            after, read = page[-1].execution.id, read + len(page)
            if not running and read >= MOST_ENDED:
                return

    def _confirmed(self, suspects: list[int]) -> Iterator[doctor.Finding]:
        """Look again, and keep what is wrong at every look."""
        faults: list[list[doctor.Finding]] = []
        for look in range(LOOKS if suspects else 0):
            time.sleep(LOOK_SECONDS if look else 0.0)
            faults.append([fault for one in suspects for fault in self._examined(one)])
        if faults:
            yield from (fault for fault in faults[0] if all(fault in one for one in faults[1:]))

    def _examined(self, execution: int) -> list[doctor.Finding]:
        record = self._store.records.check_up(execution)
        return [] if record is None else list(doctor.examine(record, self._store.now()))

    def _of_workers(self, *, needed: bool) -> Iterator[doctor.Finding]:
        workers = self._store.records.workers()
        yield from doctor.processes(workers, needed=needed)
        for one in self.attention():
            yield _finding(one)


def _finding(one: Attention) -> doctor.Finding:
    """What asks for attention as a fault; of an execution with its address."""
    match one.kind:
        case AttentionKind.UNSERVED | AttentionKind.DEAD_QUEUE:
            return doctor.Finding(doctor.Kind.UNSERVED, one.text)
        case AttentionKind.TWO_QUEUES:
            return doctor.Finding(doctor.Kind.TWO_QUEUES, one.text)
        case (
            AttentionKind.POISON
            | AttentionKind.COMPENSATION
            | AttentionKind.EFFECT
            | AttentionKind.CALL
        ):
            kind = doctor.Kind(one.kind.value)  # they have the same words
            return doctor.Finding(kind, one.text, one.subject, one.state, one.part)


def _address(run: Execution) -> str:
    return f"{run.machine}:{run.name}"
