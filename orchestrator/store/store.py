"""The front of the store: what the engine and the service ask of the database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from orchestrator.asl.limits import DEFAULT, Limits
from orchestrator.execution.call import Call
from orchestrator.execution.compensation import Compensation, CompensationStatus
from orchestrator.execution.decision import Decision, Missing, View
from orchestrator.execution.events import DeadlinePassed, Event, MomentDue
from orchestrator.execution.frame import Execution, ExecutionStatus, Frame, Scope
from orchestrator.execution.history import HistoryEvent
from orchestrator.execution.payload import Payload
from orchestrator.store import (
    call,
    called,
    claim,
    compensation,
    execution,
    lease,
    locked,
    news,
    resource,
    schema,
    secret,
    start,
    sweep,
    transition,
    undecided,
    view,
    worker,
)
from orchestrator.store.activity import Activities
from orchestrator.store.address import Connecting
from orchestrator.store.called import Called, CallKey
from orchestrator.store.children import Children
from orchestrator.store.database import Database, Surroundings
from orchestrator.store.lifeline import Lifeline
from orchestrator.store.lists import Lists
from orchestrator.store.machine import Machines
from orchestrator.store.records import Records
from orchestrator.store.sweep import Share
from orchestrator.store.transition import Outcome
from orchestrator.store.undecided import Pauses
from orchestrator.store.values import (
    FIRST_CALL,
    Announcement,
    CallPlace,
    Claim,
    Lapses,
    ReadyQueue,
    Started,
    Undecided,
    Unserved,
    WorkerKind,
)

LEASE_SECONDS = 30.0
WHOLE = Share()
"""Everything is the share of a process that is alone."""


class Store:
    """One database. It connects when it is first asked; threads and forked processes may share it.

    Every method raises StoreUnavailable when the database is away, SchemaMismatch when its tables
    are not this release's.
    """

    def __init__(  # what a deployment may set
        self,
        url: str,
        *,
        limits: Limits = DEFAULT,
        scope: Scope | None = None,
        lease_seconds: float = LEASE_SECONDS,
        application_name: str = "",
        connecting: Connecting | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        self.limits = limits
        self.scope = scope or Scope()
        self.lease_seconds = lease_seconds
        self._database = Database(url, connecting or Connecting(), application_name, surroundings)
        self._checked = surroundings is not None and surroundings.engines is not None
        self.machines = Machines(self._ready)
        self.activities = Activities(self._ready)
        self.children = Children(self._ready)
        """Executions that others have started, and wait for or no more."""
        self.records = Records(self._ready)
        """What whoever looks for faults asks."""
        self.lists = Lists(self._ready)
        """What whoever looks at many things asks."""

    def check(self) -> None:
        """Raise SchemaMismatch unless the tables are this release's."""
        schema.check_schema(self._database)
        self._checked = True

    def dispose(self, *, after_fork: bool = False) -> None:
        """Close the connections of this process; it connects again when it is asked again.

        `after_fork`: leave those that were inherited to the parent.
        """
        self._database.dispose(close=not after_fork)

    def now(self) -> datetime:
        """Return an upper bound of the database's clock."""
        return self._ready().clock.now()

    # -- transitions -----------------------------------------------------------------------------

    def read(self, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], View]:
        """Return what decisions on these frames look at, by (execution, frame).

        A key whose execution is not there is absent; a frame that is not there is absent from its
        view. The execution's input is read apart where a decision needs it (`read_input`).
        """
        with self._ready().reading() as connection:
            return view.read_views(connection, keys, self.scope)

    def read_more(self, seen: View, missing: Missing) -> View | None:
        """Return the view with what was missing; None: the execution has moved on, read again."""
        with self._ready().reading() as connection:
            more = view.read_more(connection, seen, missing)
        if more.version != seen.execution.version:
            return None
        return view.extended(seen, missing, more)

    def commit(self, decisions: Sequence[Decision]) -> list[Outcome]:
        """Write decisions, each as a whole or not at all, and answer for each, in their order.

        Stale: something else came first, decide again. Failed: it cannot be written. Raises
        StoreUnavailable, with `unknown` if the connection died during COMMIT: then it stands or
        it does not, and the same decision committed again is stale if it stands.
        """
        return transition.commit(self._ready(), decisions, self.limits)

    def locked(
        self, execution_id: int, frames: Sequence[str] = ()
    ) -> AbstractContextManager[locked.Locked]:
        """Lock an execution to decide several of its events; they are committed at the end.

        `frames`: those that the events concern, read at once.
        """
        return locked.locked(self._ready(), execution_id, frames, self.scope)

    def start(self, decisions: Sequence[Decision]) -> list[Started]:
        """Start executions, each machine and name once; raises IdTaken."""
        return start.start(self._ready(), decisions, self.limits)

    # -- tasks -----------------------------------------------------------------------------------

    def claim(  # what a worker is
        self,
        worker: str,
        queues: Sequence[str],
        resources: Collection[str],
        *,
        limit: int,
        at_most_once: Collection[str] = frozenset(),
        lease_seconds: float | None = None,
        lost_from: int = 0,
        lost_to: int | None = None,
    ) -> list[Claim]:
        """Claim up to `limit` tasks of `resources` that are ready in `queues`, oldest first.

        Only those that were lost so often, from and to.
        """
        return claim.claim(
            self._ready(),
            worker,
            queues,
            resources,
            limit=limit,
            at_most_once=at_most_once,
            terms=claim.Terms(
                self.scope,
                self.lease_seconds if lease_seconds is None else lease_seconds,
                lost_from,
                lost_to,
            ),
        )

    def waits_alone(self, queues: Collection[str], resources: Collection[str]) -> bool:
        """Tell whether a task of `resources` waits that was lost so often that it runs alone."""
        return claim.waits_alone(self._ready(), queues, resources)

    def waits_long(
        self, queues: Collection[str], resources: Collection[str], seconds: float
    ) -> bool:
        """Tell whether a task of `resources` has been ready in `queues` for longer than that."""
        return claim.waits_long(self._ready(), queues, resources, seconds)

    def renew(self, worker: str, claims: Sequence[Claim]) -> list[Claim]:
        """Extend the leases of claims; return those that are lost."""
        return lease.renew(self._ready(), worker, claims, self.lease_seconds)

    def release(self, worker: str, claims: Sequence[Claim]) -> None:
        """Give tasks back whose handlers have not begun; the deliveries do not count."""
        lease.release(self._ready(), worker, claims)

    def heartbeat(self, held: Claim, progress: Payload | None = None) -> bool:
        """Note that a handler is alive, and what it reports; False if the claim is lost."""
        return lease.heartbeat(self._ready(), held, progress)

    def lapse(self, limit: int, *, by: str | None = None, leases: bool = True) -> Lapses:
        """Make tasks ready again whose workers are lost; hand out those that may not be.

        Lost is who has died (`bury`) and, with `leases`, whose lease is over. `by` names the
        process that asks: nothing lapses unless it was heard of just now.
        """
        return lease.lapse(self._ready(), limit, self.limits.deliveries, by, leases=leases)

    # -- what could not be decided ----------------------------------------------------------------

    def strike(self, event: Event, error: str, pauses: Pauses) -> int | None:
        """Keep an event that could not be decided for its next try, in a transaction of its own.

        Returns how often that was so by now; None: nobody asks for it any more.
        """
        return undecided.strike(self._ready(), event, error, pauses)

    def undecided(self, execution_id: int) -> list[Undecided]:
        """Return the events of an execution that wait to be decided again."""
        return undecided.undecided_of(self._ready(), execution_id)

    def settle(self, execution_id: int) -> None:
        """Forget the events of an execution that nobody waits for any more."""
        undecided.settle(self._ready(), execution_id)

    def retry(self, execution_id: int, who: str, reason: str) -> list[MomentDue | DeadlinePassed]:
        """Let what is kept of an execution be tried at once, and note who wants that and why.

        Returns the moments that wake it; empty: nothing is kept.
        """
        return undecided.retry(self._ready(), execution_id, who, reason)

    def note(self, execution_id: int | None, who: str, what: str, reason: str) -> None:
        """Note an operator's act in the trail."""
        undecided.add_to_trail(self._ready(), execution_id, who, what, reason)

    # -- workers ---------------------------------------------------------------------------------

    def lifeline(self, process: str) -> Lifeline:
        """Return what a process of this name holds while it lives."""
        return Lifeline(self._ready(), process)

    def bury(self, by: str | None = None) -> list[str]:
        """Note who has died: its last beat is old and its lock free. `by` as for `lapse`."""
        return worker.bury(self._ready(), by)

    def forget_workers(self, seconds: float = worker.FORGOTTEN_SECONDS) -> list[str]:
        """Remove the rows of processes that were not heard of for so long."""
        return worker.forget(self._ready(), seconds)

    def living(self, kind: WorkerKind) -> list[str]:
        """Return the processes of a kind that were heard of just now, in order."""
        return worker.living(self._ready(), kind)

    # -- sweeps ----------------------------------------------------------------------------------

    def due(
        self, limit: int, horizon_seconds: float = 0.0, share: Share = WHOLE
    ) -> list[MomentDue | DeadlinePassed]:
        """Return moments that are due by the database's clock, or will be within the horizon.

        Of executions that are the share of the asking process, or overdue.
        """
        return sweep.due(self._ready(), limit, horizon_seconds, share)

    def next_moment(self) -> datetime | None:
        """Return the earliest moment that anything waits for."""
        return sweep.next_moment(self._ready())

    def ready(self, grace_seconds: float = 0.0) -> list[ReadyQueue]:
        """Return the announced queues with tasks that have been ready for longer than a grace."""
        return sweep.ready(self._ready(), grace_seconds)

    def assign_queues(self) -> dict[str, int]:
        """Move tasks to the queues that serve them by now; how many came to each."""
        return resource.assign_queues(self._ready())

    def unserved(self) -> list[Unserved]:
        """Return the resources for which tasks wait and that no worker has announced."""
        return resource.unserved(self._ready())

    def announce(self, worker: str, served: Mapping[str, Announcement]) -> None:
        """Note that a worker serves these resources; the latest announcement of each counts."""
        resource.announce(self._ready(), worker, served)

    def routes(self) -> dict[str, str]:
        """Return the queue of each announced resource."""
        return resource.routes(self._ready())

    # -- keys, news ------------------------------------------------------------------------------

    def secret(self, name: str) -> bytes:
        """Return a key that all processes share."""
        return secret.secret(self._ready(), name)

    def tell(self, topics: Collection[str]) -> None:
        """Let every process hear that listens; what it hears may be lost or doubled."""
        news.tell(self._ready(), topics)

    def listen(self, hearer: news.Hearer) -> Callable[[], None]:
        """Hear of every topic until the function that is answered is called."""
        return news.listen(self._database, hearer)

    def beat(self, execution_id: int, frame: str, token: str) -> bool:
        """Note that whoever has a task's token is alive; False if the attempt is over."""
        return lease.beat(self._ready(), execution_id, frame, token)

    # -- executions ------------------------------------------------------------------------------

    def execution(self, execution_id: int) -> Execution | None:
        """Return an execution by its id."""
        return execution.execution(self._ready(), execution_id)

    def ended(self, ids: Sequence[int]) -> list[int]:
        """Return those of the executions that have ended."""
        return execution.ended(self._ready(), ids)

    def find(self, machine_name: str, name: str) -> Execution | None:
        """Return an execution by its machine and name."""
        return execution.find(self._ready(), machine_name, name)

    def read_input(self, execution_id: int) -> Payload:
        """Return the input of an execution; null if it is not there."""
        return execution.document(self._ready(), execution_id, "input") or Payload.of(None)

    def output(self, execution_id: int) -> Payload | None:
        """Return the output of an execution that has succeeded."""
        return execution.document(self._ready(), execution_id, "output")

    def frames(self, execution_id: int) -> list[Frame]:
        """Return the frames of an execution, by id, effects aside: none once it has ended."""
        return execution.frame_list(self._ready(), execution_id)

    def find_called(self, keys: Sequence[CallKey]) -> list[Called | None]:
        """Return executions by machine and name, as a decision on a call finds them.

        Each comes with its call of an id, if that is on record.
        """
        with self._ready().reading() as connection:
            return called.find_called(connection, keys, self.scope)

    def call(self, execution_id: int, call_id: str) -> Call | None:
        """Return a call of an execution by its id."""
        return call.call(self._ready(), execution_id, call_id)

    def calls_by_id(self, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], Call]:
        """Return the calls that there are of these ids of execution and call."""
        return call.by_id(self._ready(), keys)

    def calls(
        self, execution_id: int, after: CallPlace = FIRST_CALL, limit: int = 1_000
    ) -> list[Call]:
        """Return the calls of an execution behind a place, in order of what they found."""
        return call.call_list(self._ready(), execution_id, after, limit)

    def overdue_calls(self, seconds: float, limit: int = 100) -> list[tuple[str, Call]]:
        """Return calls that are kept for longer than so many seconds, with their addresses."""
        return call.overdue(self._ready(), seconds, limit)

    def frames_page(self, execution_id: int, after: str | None, limit: int) -> list[Frame]:
        """Return frames of an execution behind an id, by id; no effects."""
        return execution.frame_page(self._ready(), execution_id, after, limit)

    def effects(self, execution_id: int) -> list[Frame]:
        """Return the effects of an execution, by id: those that have ended, too."""
        return execution.effect_list(self._ready(), execution_id)

    def compensations(self, execution_id: int, limit: int) -> list[Compensation]:
        """Return what of an execution can be undone or was, in the order of doing."""
        return compensation.of_execution(self._ready(), execution_id, limit)

    def pending_compensations(self, execution_id: int, limit: int) -> list[Compensation]:
        """Return what of an execution is still to be undone, in the order of doing."""
        return compensation.pending_of(self._ready(), execution_id, limit)

    def skipped_compensations(self, execution_id: int) -> int:
        """Return how many compensations of an execution operators have passed over."""
        return compensation.count(self._ready(), execution_id, CompensationStatus.SKIPPED)

    def forget_compensations(self, execution_id: int) -> None:
        """Forget what is open of an execution that has ended: its parent has what it wanted."""
        compensation.forget(self._ready(), execution_id)

    def failed_effects(self, limit: int = 100) -> list[tuple[str, Frame]]:
        """Return effects and compensations that have failed for good, with their addresses."""
        return execution.failed_effects(self._ready(), limit)

    def list_executions(
        self,
        machine_name: str | None = None,
        status: ExecutionStatus | None = None,
        limit: int = 100,
        before: int | None = None,
    ) -> list[Execution]:
        """Return executions, newest first; `before`: the id of the last one of the page before."""
        return execution.list_executions(self._ready(), machine_name, status, limit, before)

    def history(
        self, execution_id: int, after: int = 0, limit: int = 1_000, reverse: bool = False
    ) -> list[HistoryEvent]:
        """Return history events behind the id `after`, or with `reverse` those before it."""
        return execution.read_history(self._ready(), execution_id, after, limit, reverse=reverse)

    # -- within ----------------------------------------------------------------------------------

    def _ready(self) -> Database:
        if not self._checked:
            self.check()
        return self._database
