"""Tasks that start executions: schedulers claim them, and the engine serves them itself.

A start is idempotent by the child's name, which is the task's key where the task gives none, so
that a start whose report was lost is found again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.asl import document, names
from orchestrator.asl.document import DocumentError, Json
from orchestrator.asl.limits import Limits
from orchestrator.engine.arrival import Start
from orchestrator.engine.engine import Engine
from orchestrator.engine.topic import ENGINE_QUEUE
from orchestrator.execution.events import TaskFailed, TaskSucceeded
from orchestrator.execution.frame import ExecutionStatus, Parent, Scope
from orchestrator.execution.payload import Payload
from orchestrator.execution.served import START
from orchestrator.store import Announcement, Claim, MachineStatus, Started, Store

BATCH: Final = 100
"""Tasks that are served at once."""
EXPRESS: Final = "EXPRESS"


class Refused(Exception):
    """A start that cannot be; `name` is AWS's, without the service."""

    def __init__(self, name: str, cause: str) -> None:
        super().__init__(f"{name}: {cause}")
        self.name = name
        self.cause = cause


@dataclass(frozen=True, slots=True)
class _Wish:
    claim: Claim
    service: str
    start: Start


class StartTasks:
    """Serves the tasks that start executions."""

    def __init__(
        self, store: Store, engine: Engine, worker: str, limits: Limits, scope: Scope
    ) -> None:
        self._store = store
        self._engine = engine
        self._worker = worker
        self._limits = limits
        self._scope = scope

    def announce(self) -> None:
        """Say that the engine serves them."""
        self._store.announce(self._worker, {START: Announcement(ENGINE_QUEUE)})
        self._engine.routes.forget()

    def tick(self) -> None:
        """Serve what waits, batch by batch."""
        while claims := self._store.claim(self._worker, [ENGINE_QUEUE], [START], limit=BATCH):
            self._serve(claims)

    def _serve(self, claims: Sequence[Claim]) -> None:
        began = self._store.now()
        events: list[TaskSucceeded | TaskFailed] = []
        wishes: list[_Wish] = []
        for claim in claims:
            service = _service(claim)
            try:
                wishes.append(_Wish(claim, service, self._wish(claim)))
            except Refused as refused:
                events.append(_failed(claim, refused, service))
        started = self._engine.start_many([wish.start for wish in wishes]) if wishes else []
        for wish, answer in zip(wishes, started, strict=True):
            try:
                result = self._answer(wish, answer)
            except Refused as refused:
                events.append(_failed(wish.claim, refused, wish.service))
            else:
                events.append(TaskSucceeded(*_of(wish.claim), result, began))
        self._engine.handle_many(events)

    def _wish(self, claim: Claim) -> Start:
        match self._engine.callbacks.filled(claim).value:
            case {"waits": bool(waits), "parameters": dict(parameters)}:
                pass
            case _:
                raise Refused("ValidationException", "The Parameters are no object")
        machine = self._machine(parameters)
        row = self._store.machines.find(machine)
        if row is None or row.status is not MachineStatus.ACTIVE:
            arn = self._scope.machine_arn(machine)
            raise Refused("StateMachineDoesNotExist", f"State Machine Does Not Exist: '{arn}'")
        name = _name(parameters, claim.key)
        if row.type == EXPRESS:
            name = f"{name}:{claim.key}"
        parent = Parent(claim.execution, claim.frame, claim.token) if waits else None
        return Start(machine, row.revision, name, self._input(parameters), parent)

    def _machine(self, parameters: dict[str, Json]) -> str:
        arn = parameters.get("StateMachineArn")
        machine = arn.rpartition(":")[2] if isinstance(arn, str) else ""
        try:
            return names.check(machine)
        except names.InvalidName:
            raise Refused("InvalidArn", f"Invalid Arn: 'Invalid ARN prefix: {arn}'") from None

    def _input(self, parameters: dict[str, Json]) -> Payload:
        given = parameters.get("Input")
        if given is None:
            return Payload.of({})
        if not isinstance(given, str):
            return Payload.of(given)
        try:
            return Payload.of(document.read(given, limits=self._limits))
        except DocumentError as error:
            why = f"Invalid State Machine Execution Input: '{error}'"
            raise Refused("InvalidExecutionInput", why) from None

    def _answer(self, wish: _Wish, answer: Started) -> Payload:
        """What a start is answered with: the execution is ours, or is taken for ours by AWS."""
        start = wish.start
        arn = self._scope.execution_arn(start.machine, start.name)
        ours = answer.created or (
            answer.parent == start.parent
            if start.parent is not None
            else answer.same_input and answer.status is ExecutionStatus.RUNNING
        )
        again = not answer.created and start.name.startswith(wish.claim.key)
        if not ours and not again:
            raise Refused("ExecutionAlreadyExists", f"Execution Already Exists: '{arn}'")
        started_at = answer.started_at or wish.claim.claimed_at
        return began(arn, started_at.timestamp())


def began(arn: str, seconds: float) -> Payload:
    """Return what a task is told of the execution that it has started."""
    return Payload.of({"ExecutionArn": arn, "StartDate": round(seconds * 1_000)})


def _service(claim: Claim) -> str:
    match claim.arguments.value:
        case {"resource": str(resource)} if ":aws-sdk:" in resource:
            return "Sfn"
        case _:
            return "StepFunctions"


def _name(parameters: dict[str, Json], key: str) -> str:
    name = parameters.get("Name")
    if name is None:
        return key
    try:
        return names.check(name if isinstance(name, str) else "")
    except names.InvalidName:
        raise Refused("InvalidName", f"Invalid Name: '{name}'") from None


def _of(claim: Claim) -> tuple[int, str, str, int, str]:
    return claim.execution, claim.frame, claim.token, claim.delivery, claim.worker


def _failed(claim: Claim, refused: Refused, service: str) -> TaskFailed:
    name = f"{service}.{refused.name}Exception"
    return TaskFailed(*_of(claim), name, refused.cause, claim.claimed_at)
