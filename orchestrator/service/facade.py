"""The facade: AWS's verbs in snake_case, and ours; doors translate its errors."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from orchestrator.asl import definition, document, names
from orchestrator.asl.diagnostics import Finding
from orchestrator.asl.limits import DEFAULT, Limits
from orchestrator.drawing import Mark
from orchestrator.engine import Engine, Group, Outcome, Start
from orchestrator.execution.call import Call
from orchestrator.execution.compensation import Undoing
from orchestrator.execution.events import StopRequested
from orchestrator.execution.frame import (
    NO_ORIGIN,
    Execution,
    ExecutionStatus,
    Frame,
    Origin,
    Scope,
)
from orchestrator.execution.history import HistoryEvent
from orchestrator.execution.payload import Payload
from orchestrator.service.activities import Activities, Callbacks
from orchestrator.service.calls import LONGEST_WAIT_SECONDS, CallRequest, Calls, Waits
from orchestrator.service.compensations import Compensations, undoing_of
from orchestrator.service.errors import (
    ExecutionAlreadyExists,
    ExecutionDoesNotExist,
    ExecutionNotStopped,
    InvalidDefinition,
    InvalidExecutionInput,
    MachineDoesNotExist,
    MachineIsDeleting,
)
from orchestrator.service.machines import EXPRESS, Machines
from orchestrator.service.marks import MOST_EVENTS, MOST_FRAMES, marks
from orchestrator.service.operations import Operations
from orchestrator.service.views import Views
from orchestrator.store import FIRST_CALL, CallPlace, MachineRow, MachineStatus, Revision, Store

HISTORY_PAGE: Final = 1_000
LOOKED_UP_TOGETHER: Final = 200
"""How many starts look up their machines at once."""

Deployed: TypeAlias = Revision
"""The revision that a deployment has made or met."""


@dataclass(frozen=True, slots=True)
class StartedExecution:
    """An execution that a start made, or that the same start had made before (`created` False)."""

    id: int
    address: str
    arn: str
    created: bool
    status: ExecutionStatus
    started_at: datetime | None


@dataclass(frozen=True, slots=True)
class ExecutionDetail:
    """An execution with its documents and the frames that rest now."""

    execution: Execution
    arn: str
    input: Payload
    output: Payload | None
    frames: tuple[Frame, ...]
    skipped: int = 0
    """How many compensations operators have passed over: what they would undo stays done."""

    @property
    def address(self) -> str:
        """MACHINE:NAME."""
        return f"{self.execution.machine}:{self.execution.name}"

    @property
    def undoing(self) -> Undoing:
        """How far it has come with undoing."""
        return undoing_of(self.execution, self.frames)


class Orchestrator:
    """What people who define machines and submit executions can ask for."""

    def __init__(
        self, store: Store, engine: Engine, *, limits: Limits = DEFAULT, scope: Scope | None = None
    ) -> None:
        self._store = store
        self._engine = engine
        self._limits = limits
        self._scope = scope or Scope()
        self._before_names = self._scope.execution_arn("", "").removesuffix(":")
        self._found: Group[str, MachineRow | None] = Group(self._look_up, LOOKED_UP_TOGETHER)
        self.machines = Machines(store, engine, limits, self._scope)
        self.activities = Activities(store, engine)
        self.callbacks = Callbacks(store, engine, limits)
        self.operations = Operations(store, engine, limits, self._scope, self._find)
        self.compensations = Compensations(store, engine, self._find)
        self.calls = Calls(store, engine, limits)
        self.views = Views(store, engine, limits, self._scope, self.calls, self._find)

    # -- machines --------------------------------------------------------------------------------

    def validate_state_machine_definition(self, text: str) -> tuple[Finding, ...]:
        """All findings of a definition, errors and warnings, each with its JSON pointer."""
        return definition.parse(text, self._limits).findings

    def deploy(self, name: str, text: str) -> Deployed:
        """Store a definition as the newest revision of a machine.

        The same text again is the same revision. Raises InvalidName, InvalidDefinition.
        """
        names.check(name)
        parsed = definition.parse(text, self._limits)
        if parsed.machine is None:
            raise InvalidDefinition(parsed.findings)
        return self._store.machines.put(name, text)

    def list_state_machines(self) -> list[MachineRow]:
        """All machines, by name."""
        return self._store.machines.page()

    # -- executions ------------------------------------------------------------------------------

    def start_execution(
        self,
        machine: str,
        name: str | None = None,
        input: str = "{}",  # noqa: A002  # as AWS calls it
        origin: Origin = NO_ORIGIN,
    ) -> StartedExecution:
        """Start an execution of the newest revision.

        With the name and input of one that exists, that one is the answer. `input` is JSON text.
        Of an EXPRESS machine every start makes a new execution. Raises MachineDoesNotExist,
        MachineIsDeleting, InvalidName, InvalidExecutionInput, ExecutionAlreadyExists.
        """
        name = names.check(name) if name is not None else str(uuid.uuid4())
        payload = read_input(input, self._limits)
        row = self._machine(machine)
        if row.status is MachineStatus.DELETING:
            raise MachineIsDeleting(machine)
        if row.type == EXPRESS:
            name = f"{name}:{uuid.uuid4()}"
        start = Start(machine, row.revision, name, payload, origin=origin)
        started = self._engine.start(start)
        if not started.created and not started.same_input:
            raise ExecutionAlreadyExists(machine, name)
        return StartedExecution(
            started.id,
            f"{machine}:{name}",
            self._scope.execution_arn(machine, name),
            started.created,
            started.status,
            started.started_at,
        )

    def describe_execution(self, address: str) -> ExecutionDetail:
        """An execution by its address MACHINE:NAME or its ARN; raises ExecutionDoesNotExist."""
        execution = self._find(address)
        return ExecutionDetail(
            execution,
            self._scope.execution_arn(execution.machine, execution.name),
            self._store.read_input(execution.id),
            self._store.output(execution.id),
            tuple(self._store.frames(execution.id)),
            0
            if execution.undoing is Undoing.NONE
            else self._store.skipped_compensations(execution.id),
        )

    def list_executions(
        self,
        machine: str | None = None,
        status: ExecutionStatus | None = None,
        limit: int = 100,
        before: int | None = None,
    ) -> list[Execution]:
        """Executions, newest first; `before` is the id of the last one of the page before."""
        if machine is not None:
            self._machine(machine)
        return self._store.list_executions(machine, status, limit, before)

    def get_execution_history(
        self, address: str, after: int = 0, limit: int = HISTORY_PAGE, *, reverse: bool = False
    ) -> list[HistoryEvent]:
        """History events behind the id `after`, in order of id; raises ExecutionDoesNotExist."""
        return self._store.history(self._find(address).id, after, limit, reverse)

    def whole_history(self, address: str) -> list[HistoryEvent]:
        """Every history event there is by now; raises ExecutionDoesNotExist."""
        events = self.get_execution_history(address)
        while page := self.get_execution_history(address, events[-1].id):
            events += page
        return events

    def execution_marks(self, address: str) -> Mapping[str, Mark]:
        """What has become of each state, for a picture; raises ExecutionDoesNotExist."""
        execution = self._find(address)
        events: list[HistoryEvent] = []
        before = 0
        while len(events) < MOST_EVENTS:
            page = self._store.history(execution.id, before, HISTORY_PAGE, True)
            events += page
            if not page or page[-1].id == 1:
                break
            before = page[-1].id
        frames = self._store.frames_page(execution.id, None, MOST_FRAMES)
        machine = self._engine.machine(execution.revision)
        return marks(machine, execution, reversed(events), frames)

    def unserved(self) -> list[str]:
        """The resources that tasks wait for and no worker serves."""
        return [unserved.resource for unserved in self._store.unserved()]

    def stop_execution(
        self,
        address: str,
        error: str | None = None,
        cause: str | None = None,
        *,
        abort: bool = False,
    ) -> Execution:
        """End an execution as ABORTED, once what it has done is undone; `abort`: now.

        One that has ended already, or undoes, stays as it is.
        """
        execution = self._find(address)
        stop = StopRequested(execution.id, error, cause, abort)
        (handled,) = self._engine.handle_many([stop])
        if handled.outcome is Outcome.FAILED:
            raise ExecutionNotStopped(address, handled.reason)
        return self._find(address)

    # -- calls -----------------------------------------------------------------------------------

    def call_execution(  # what a call is
        self,
        address: str,
        name: str,
        input: str = "{}",  # noqa: A002  # as everywhere
        call_id: str | None = None,
        wait_seconds: float = 0.0,
        at: str | None = None,
    ) -> Call:
        """Call an execution; what is on record of it, with the verdict if there is one by then.

        `input` is JSON text, `at` the frame of a Map's iteration; the same `call_id` again is the
        same call. Raises ExecutionDoesNotExist, UnknownCall, MalformedCall, InvalidCallInput,
        CallIdTaken, Undecided.
        """
        request = self.call_request(address, name, input, call_id, at)
        execution, call = self.calls.call(request)
        return self.calls.wait(execution.id, call, min(wait_seconds, LONGEST_WAIT_SECONDS))

    def call_request(
        self, address: str, name: str, given: str, call_id: str | None = None, at: str | None = None
    ) -> CallRequest:
        """What `calls.call_many` takes; raises ExecutionDoesNotExist for what is no address."""
        return CallRequest(*self._named(address), name, given, call_id, at)

    def execution_waits(
        self, address: str, after: str | None = None, limit: int = 1_000
    ) -> list[Waits]:
        """What an execution waits for, frame by frame; raises ExecutionDoesNotExist."""
        return self.calls.waits(self._find(address), after, limit)

    def execution_calls(
        self, address: str, after: CallPlace = FIRST_CALL, limit: int = 1_000
    ) -> list[Call]:
        """The calls of an execution on record; raises ExecutionDoesNotExist."""
        return self.calls.page(self._find(address).id, after, limit)

    def execution_call(self, address: str, call_id: str) -> Call:
        """One call on record; raises ExecutionDoesNotExist, CallDoesNotExist."""
        return self.calls.verdict(self._find(address).id, call_id)

    def execution_effects(self, address: str) -> list[Frame]:
        """What became of the effects of an execution; raises ExecutionDoesNotExist."""
        return self._store.effects(self._find(address).id)

    def run_effect_again(self, address: str, frame: str) -> None:
        """Run an effect again that failed for good; raises ExecutionDoesNotExist, EffectNotRun."""
        self.calls.run_effect_again(self._find(address).id, frame)

    def find_execution(self, address: str) -> Execution:
        """An execution without its documents; raises ExecutionDoesNotExist."""
        return self._find(address)

    def listen(self, hearer: Callable[[str | None], None]) -> Callable[[], None]:
        """Hear of topics until the function that is answered is called; None: of any of them."""
        return self._store.listen(hearer)

    def paging_key(self) -> bytes:
        """The key that signs paging tokens."""
        return self._store.secret("pages")

    def console_key(self) -> bytes:
        """The key of the tokens in the console's forms."""
        return self._store.secret("console")

    def _named(self, address: str) -> tuple[str, str]:
        machine, _, name = address.removeprefix(self._before_names).partition(":")
        if not _nameable(machine) or not all(map(_nameable, name.split(":", 1))):
            raise ExecutionDoesNotExist(address)
        return machine, name

    def _find(self, address: str) -> Execution:
        execution = self._store.find(*self._named(address))
        if execution is None:
            raise ExecutionDoesNotExist(address)
        return execution

    def _machine(self, name: str) -> MachineRow:
        row = self._found.do(name) if _nameable(name) else None
        if row is None:
            raise MachineDoesNotExist(name)
        return row

    def _look_up(self, wanted: list[str]) -> list[MachineRow | None]:
        found = {name: self._store.machines.find(name) for name in set(wanted)}
        return [found[name] for name in wanted]


def read_input(text: str, limits: Limits = DEFAULT) -> Payload:
    """The input of an execution, from JSON text; raises InvalidExecutionInput."""
    try:
        return Payload.of(document.read(text, limits=limits))
    except document.DocumentError as error:
        raise InvalidExecutionInput(str(error), error.position) from None


def _nameable(name: str) -> bool:
    """Whether anything could have this name; what could not is not even looked for."""
    try:
        names.check(name)
    except names.InvalidName:
        return False
    return True
