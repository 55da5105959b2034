"""Executions that others have started: their ends are told, and who is waited for no more stops."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import structlog

from orchestrator import crashpoint
from orchestrator.asl.document import Json
from orchestrator.asl.states import Task
from orchestrator.engine.arrival import Outcome
from orchestrator.engine.engine import Engine
from orchestrator.engine.starting import began
from orchestrator.execution.compensation import Compensation, CompensationStatus, terms_of
from orchestrator.execution.events import ChildEnded, StopRequested
from orchestrator.execution.frame import Execution, ExecutionStatus, Parent, Scope
from orchestrator.execution.payload import Payload
from orchestrator.store import Store

log = structlog.get_logger(__name__)

BATCH: Final = 100
MOST_LEFT: Final = 50_000
"""Compensations of one execution: it has no more frames."""


class Children:
    """Sweeps the ends that nobody has heard of, and the orphans."""

    def __init__(self, store: Store, engine: Engine, scope: Scope) -> None:
        self._store = store
        self._engine = engine
        self._scope = scope

    def tick(self) -> None:
        """Tell parents of their children's ends; stop children without parents."""
        while self._tell() == BATCH:
            pass
        orphans = self._store.children.orphaned(BATCH)
        if orphans:
            self._engine.handle_many([StopRequested(run.id, None, None) for run in orphans])

    def _tell(self) -> int:
        ended = self._store.children.untold(BATCH)
        pairs = [(run, run.parent) for run in ended if run.parent is not None]
        events = [self._event(run, parent) for run, parent in pairs]
        for (run, _), handled in zip(pairs, self._engine.handle_many(events), strict=True):
            if handled.outcome is Outcome.FAILED:
                log.warning("a parent could not be told", child=run.id, reason=handled.reason)
                return 0
            crashpoint.reach("taken over")
            if self._engine.machine(run.revision).undoes:
                self._store.forget_compensations(run.id)
                crashpoint.reach("forgotten")
            # The last: until then a crash leaves it to the next sweep.
            self._store.children.told(run.id)
        return len(ended)

    def _event(self, run: Execution, parent: Parent) -> ChildEnded:
        given = self._store.read_input(run.id)
        output = self._store.output(run.id)
        arn = self._scope.execution_arn(run.machine, run.name)
        return ChildEnded(
            parent.execution,
            parent.frame,
            parent.token,
            run.status is ExecutionStatus.SUCCEEDED,
            began(arn, run.started_at.timestamp()),
            self._described(run, arn, given.text, None if output is None else output.text),
            self._described(run, arn, given.value, None if output is None else output.value),
            self._left_to_undo(run, parent),
        )

    def _left_to_undo(self, run: Execution, parent: Parent) -> tuple[Compensation, ...]:
        """What an execution that has succeeded leaves to its parent, if that wants it."""
        machine = self._engine.machine(run.revision)
        if not machine.undoes or run.status is not ExecutionStatus.SUCCEEDED:
            return ()
        if not self._adopts(parent):
            return ()
        return tuple(
            replace(one, terms=one.terms or terms_of(machine.effect(one.pointer)))
            for one in self._store.pending_compensations(run.id, MOST_LEFT)
            if one.status is CompensationStatus.PENDING
        )

    def _adopts(self, parent: Parent) -> bool:
        """Tell whether any state of a parent's machine takes over what its children leave."""
        run = self._store.execution(parent.execution)
        return run is not None and any(
            isinstance(state, Task) and state.adopts
            for state in self._engine.machine(run.revision).every_state()
        )

    def _described(self, run: Execution, arn: str, given: Json, output: Json) -> Payload:
        """An execution as the task that waits for it is told, its keys in AWS's order."""
        shown: dict[str, Json] = {
            "Cause": run.cause,
            "Error": run.error,
            "ExecutionArn": arn,
            "Input": given,
            "InputDetails": {"Included": True},
            "Name": run.given_name,
            "Output": output,
            "OutputDetails": {"Included": True},
            "StartDate": round(run.started_at.timestamp() * 1_000),
            "StateMachineArn": self._scope.machine_arn(run.machine),
            "Status": run.status.value,
            "StopDate": round((run.ended_at or run.last_event_at).timestamp() * 1_000),
        }
        absent = {name for name in ("Cause", "Error") if shown[name] is None}
        if run.status is not ExecutionStatus.SUCCEEDED:
            absent |= {"Output", "OutputDetails"}
        return Payload.of({name: value for name, value in shown.items() if name not in absent})
