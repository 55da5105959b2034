"""The actions on executions, one method each, named as boto3 names them."""

from __future__ import annotations

import asyncio
from typing import Final

from orchestrator.api import arn, shapes
from orchestrator.api.desk import Answer, Desk, machine_is_deleting, unqualified, with_data_of
from orchestrator.api.errors import ApiError, no_execution, no_machine
from orchestrator.api.given import Given
from orchestrator.api.presence import Presence
from orchestrator.api.words import words
from orchestrator.execution.frame import ExecutionStatus, Origin
from orchestrator.service import (
    EXPRESS,
    ExecutionAlreadyExists,
    ExecutionDoesNotExist,
    InvalidExecutionInput,
    MachineDoesNotExist,
    MachineIsDeleting,
    StartedExecution,
)
from orchestrator.service.activities import ENDED

STATUSES: Final = ("SUCCEEDED", "TIMED_OUT", "PENDING_REDRIVE", "ABORTED", "FAILED", "RUNNING")
MOST_EXECUTION_TOKEN: Final = 3_096
SYNC_SECONDS: Final = 310.0
"""How long StartSyncExecution waits: longer than an EXPRESS execution may take."""


class Executions:
    """Starts, stops and shows executions; what waits is a coroutine and holds no thread."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def start_execution(self, given: Given) -> Answer:
        """Start an execution; the same start again is answered as the first was, while it runs."""
        machine = arn.machine_of(given, with_test_case=self._desk.test_cases)
        started = self._start(given, machine)
        if not started.created and started.status is not ExecutionStatus.RUNNING:
            raise _exists(started.arn)
        return {
            "executionArn": started.arn,
            "startDate": 0 if started.started_at is None else shapes.seconds(started.started_at),
        }

    async def start_sync_execution(self, given: Given, presence: Presence) -> Answer:
        """Start an execution of an EXPRESS machine and answer once it has ended."""
        machine = arn.machine_of(given, with_test_case=self._desk.test_cases)
        with_data = with_data_of(given)
        started = await presence.run(self._start_express, given, machine)
        until = asyncio.get_running_loop().time() + SYNC_SECONDS
        with presence.waiting.place(f"{ENDED}{started.id}") as place:
            while True:
                place.looks()
                found = await presence.run(self._desk.service.describe_execution, started.address)
                if found.execution.ended_at is not None:
                    return shapes.sync_execution(found, self._desk.scope, with_data=with_data)
                if not await presence.woken(place, until):
                    raise ApiError("ServiceUnavailable", "The execution has not ended", 503)

    def stop_execution(self, given: Given) -> Answer:
        """End an execution as ABORTED; one that has ended stays as it is."""
        text, address = arn.execution_of(given)
        error = given.optional("error", self._desk.limits.error_characters, least=0)
        cause = given.optional("cause", self._desk.limits.cause_characters, least=0)
        try:
            run = self._desk.service.stop_execution(address, error, cause)
        except ExecutionDoesNotExist:
            raise no_execution(text) from None
        return {"stopDate": shapes.seconds(run.ended_at or run.last_event_at)}

    def describe_execution(self, given: Given) -> Answer:
        """Show an execution with its input and output."""
        text, address = arn.execution_of(given)
        with_data = with_data_of(given)
        try:
            found = self._desk.service.describe_execution(address)
        except ExecutionDoesNotExist:
            raise no_execution(text) from None
        return shapes.execution(found, self._desk.scope, with_data=with_data)

    def list_executions(self, given: Given) -> Answer:
        """Show a machine's executions, newest first."""
        machine = unqualified(given)
        status = given.one_of("statusFilter", STATUSES)
        given.one_of("redriveFilter", ("REDRIVEN", "NOT_REDRIVEN"))
        size = given.page_size()
        question = f"executions/{machine.name}/{status}"
        before = self._desk.pages.position(question, given.page_token(MOST_EXECUTION_TOKEN))
        try:
            row = self._desk.service.machines.describe_state_machine(machine.name).machine
        except MachineDoesNotExist:
            raise no_machine(machine.arn) from None
        if row.type == EXPRESS:
            raise ApiError(
                "StateMachineTypeNotSupported",
                "This operation is not supported by this type of state machine",
            )
        if status == "PENDING_REDRIVE" or given.one_of("redriveFilter", ("REDRIVEN",)):
            return {"executions": []}
        runs = self._desk.service.list_executions(
            machine.name,
            None if status is None else ExecutionStatus(status),
            size + 1,
            None if before is None else int(before),
        )
        shown: Answer = {
            "executions": [shapes.execution_item(run, self._desk.scope) for run in runs[:size]]
        }
        return self._desk.pages.paged(shown, question, [str(run.id) for run in runs], size)

    def get_execution_history(self, given: Given) -> Answer:
        """Show what has happened in an execution."""
        text, address = arn.execution_of(given)
        size = given.page_size()
        reverse = given.flag("reverseOrder", default=False)
        with_data = given.flag("includeExecutionData", default=True)
        question = f"history/{address}/{reverse}"
        after = self._desk.pages.position(question, given.page_token())
        try:
            events = self._desk.service.get_execution_history(
                address, int(after or 0), size + 1, reverse=reverse
            )
        except ExecutionDoesNotExist:
            raise no_execution(text) from None
        shown: Answer = {
            "events": [shapes.event(event, with_data=with_data) for event in events[:size]]
        }
        return self._desk.pages.paged(shown, question, [str(event.id) for event in events], size)

    # -- within ----------------------------------------------------------------------------------

    def _start(self, given: Given, machine: arn.MachineName) -> StartedExecution:
        name = arn.checked_name(given)
        text = given.optional("input", self._desk.limits.document_bytes, least=0)
        header = given.optional("traceHeader", arn.MOST_CHARACTERS, least=0)
        if machine.qualifier is not None:
            raise no_machine(machine.arn)
        if text == "":
            raise _bad_input("Invalid execution input.")
        try:
            return self._desk.service.start_execution(
                machine.name,
                name,
                "{}" if text is None else text,
                Origin(header, machine.test_case),
            )
        except MachineDoesNotExist:
            raise no_machine(machine.arn) from None
        except MachineIsDeleting:
            raise machine_is_deleting(machine.arn) from None
        except InvalidExecutionInput as error:
            raise _bad_input(words(text or "", error.position, error.why)) from None
        except ExecutionAlreadyExists:
            raise _exists(self._desk.scope.execution_arn(machine.name, name or "")) from None

    def _start_express(self, given: Given, machine: arn.MachineName) -> StartedExecution:
        try:
            found = self._desk.service.machines.describe_state_machine(machine.name)
        except MachineDoesNotExist:
            raise no_machine(machine.arn) from None
        if found.machine.type != EXPRESS:
            raise ApiError(
                "StateMachineTypeNotSupported",
                "This operation is not supported by this type of state machine",
            )
        return self._start(given, machine)


def _exists(text: str) -> ApiError:
    return ApiError("ExecutionAlreadyExists", f"Execution Already Exists: '{text}'")


def _bad_input(why: str) -> ApiError:
    return ApiError("InvalidExecutionInput", f"Invalid State Machine Execution Input: '{why}'")
