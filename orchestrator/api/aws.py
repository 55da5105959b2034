"""The actions of AWS Step Functions, one method each, named as boto3 names them.

Methods run in a pool of threads; those that wait for something are coroutines and hold none.
"""

from __future__ import annotations

import asyncio
from typing import Final

from orchestrator.api import arn, shapes
from orchestrator.api.errors import (
    ApiError,
    invalid_value,
    no_activity,
    no_execution,
    no_machine,
)
from orchestrator.api.given import Given
from orchestrator.api.paging import Pages
from orchestrator.api.presence import Presence
from orchestrator.api.settings import encryption_of, logging_of, machine_settings, tracing_of
from orchestrator.api.words import words
from orchestrator.asl.diagnostics import Severity
from orchestrator.asl.document import Json
from orchestrator.asl.limits import Limits
from orchestrator.execution.frame import ExecutionStatus, Origin, Scope
from orchestrator.service import (
    EXPRESS,
    STANDARD,
    ActivityDoesNotExist,
    ExecutionAlreadyExists,
    ExecutionDoesNotExist,
    InvalidExecutionInput,
    MachineAlreadyExists,
    MachineChange,
    MachineDoesNotExist,
    MachineIsDeleting,
    Orchestrator,
    StartedExecution,
)
from orchestrator.service.activities import ACTIVITY, ENDED
from orchestrator.store import ActivityRow

Answer = dict[str, Json]

TYPES: Final = (STANDARD, EXPRESS)
STATUSES: Final = ("SUCCEEDED", "TIMED_OUT", "PENDING_REDRIVE", "ABORTED", "FAILED", "RUNNING")
DATA: Final = ("ALL_DATA", "METADATA_ONLY")
MOST_DEFINITION: Final = 1_048_576
MOST_DIAGNOSTICS: Final = 100
MOST_EXECUTION_TOKEN: Final = 3_096
MOST_TOKEN: Final = 2_048
POLL_SECONDS: Final = 60.0
"""How long GetActivityTask waits for a task."""
SYNC_SECONDS: Final = 310.0
"""How long StartSyncExecution waits: longer than an EXPRESS execution may take."""


class Aws:
    """What programs written for AWS ask."""

    def __init__(
        self, service: Orchestrator, scope: Scope, limits: Limits, *, test_cases: bool = False
    ) -> None:
        """`test_cases`: whether an ARN may name one, behind a `#`."""
        self._test_cases = test_cases
        self._service = service
        self._scope = scope
        self._limits = limits
        self._pages: Pages | None = None

    # -- machines --------------------------------------------------------------------------------

    def create_state_machine(self, given: Given) -> Answer:
        """Make a machine."""
        name = arn.checked_name(given)
        definition = given.text("definition", MOST_DEFINITION)
        settings = machine_settings(given)
        machine_type = given.one_of("type", TYPES) or STANDARD
        self._check_publish(given)
        if name is None:
            raise invalid_value(None, "name", "not be null")
        try:
            row = self._service.machines.create_state_machine(
                name, definition, machine_type, settings
            )
        except MachineAlreadyExists:
            there = self._scope.machine_arn(name)
            raise ApiError(
                "StateMachineAlreadyExists", f"State Machine Already Exists: '{there}'"
            ) from None
        except MachineIsDeleting:
            raise _deleting(self._scope.machine_arn(name)) from None
        return {
            "stateMachineArn": self._scope.machine_arn(name),
            "creationDate": shapes.seconds(row.created_at),
        }

    def update_state_machine(self, given: Given) -> Answer:
        """Give a machine a new revision; executions that run keep theirs."""
        machine = arn.machine_of(given)
        change = MachineChange(
            text=given.optional("definition", MOST_DEFINITION),
            role_arn=given.optional("roleArn", arn.MOST_CHARACTERS),
            logging=logging_of(given),
            tracing=tracing_of(given),
            encryption=encryption_of(given),
        )
        self._check_publish(given)
        if change == MachineChange():
            raise ApiError(
                "MissingRequiredParameter",
                "Either the definition, the role ARN, the LoggingConfiguration, or the "
                "TracingConfiguration must be specified",
            )
        try:
            revision = self._service.machines.update_state_machine(machine.name, change)
        except MachineDoesNotExist:
            raise no_machine(machine.arn) from None
        except MachineIsDeleting:
            raise _deleting(machine.arn) from None
        return {
            "updateDate": shapes.seconds(revision.created_at),
            "revisionId": revision.uid or "INITIAL",
        }

    def describe_state_machine(self, given: Given) -> Answer:
        """Show a machine."""
        machine = self._unqualified(given)
        with_data = _with_data(given)
        try:
            found = self._service.machines.describe_state_machine(machine.name)
        except MachineDoesNotExist:
            raise no_machine(machine.arn) from None
        shown = shapes.machine(found, self._scope, with_data=with_data)
        shown["status"] = found.machine.status.value
        shown["type"] = found.machine.type
        shown["creationDate"] = shapes.seconds(found.machine.created_at)
        return shown

    def describe_state_machine_for_execution(self, given: Given) -> Answer:
        """Show the revision that an execution runs."""
        text, address = arn.execution_of(given)
        with_data = _with_data(given)
        try:
            run = self._service.find_execution(address)
        except ExecutionDoesNotExist:
            raise no_execution(text) from None
        found = self._service.machines.describe_state_machine_for_execution(run)
        shown = shapes.machine(found, self._scope, with_data=with_data)
        shown["updateDate"] = shapes.seconds(found.revision.created_at)
        return shown

    def list_state_machines(self, given: Given) -> Answer:
        """Show machines, by name."""
        size, after = given.page_size(), self._position("machines", given.page_token())
        rows = self._service.machines.list_state_machines(after or "", size + 1)
        shown: Answer = {
            "stateMachines": [shapes.machine_item(row, self._scope) for row in rows[:size]]
        }
        return self._paged(shown, "machines", [row.name for row in rows], size)

    def delete_state_machine(self, given: Given) -> Answer:
        """Stop a machine's executions and let it go; one that is not there is gone already."""
        self._service.machines.delete_state_machine(self._unqualified(given).name)
        return {}

    def validate_state_machine_definition(self, given: Given) -> Answer:
        """Say what is wrong with a definition."""
        definition = given.text("definition", MOST_DEFINITION)
        machine_type = given.one_of("type", TYPES) or STANDARD
        severity = given.one_of("severity", ("ERROR", "WARNING")) or "ERROR"
        most = given.page_size(MOST_DIAGNOSTICS)
        found = self._service.machines.validate_state_machine_definition(definition, machine_type)
        errors = any(one.severity is Severity.ERROR for one in found)
        wanted = [one for one in found if severity == "WARNING" or one.severity is Severity.ERROR]
        return {
            "result": "FAIL" if errors else "OK",
            "diagnostics": [shapes.diagnostic(one) for one in wanted[:most]],
            "truncated": len(wanted) > most,
        }

    # -- executions ------------------------------------------------------------------------------

    def start_execution(self, given: Given) -> Answer:
        """Start an execution; the same start again is answered as the first was, while it runs."""
        machine = arn.machine_of(given, with_test_case=self._test_cases)
        started = self._start(given, machine)
        if not started.created and started.status is not ExecutionStatus.RUNNING:
            raise _exists(started.arn)
        return {
            "executionArn": started.arn,
            "startDate": 0 if started.started_at is None else shapes.seconds(started.started_at),
        }

    async def start_sync_execution(self, given: Given, presence: Presence) -> Answer:
        """Start an execution of an EXPRESS machine and answer once it has ended."""
        machine = arn.machine_of(given, with_test_case=self._test_cases)
        with_data = _with_data(given)
        started = await presence.run(self._start_express, given, machine)
        until = asyncio.get_running_loop().time() + SYNC_SECONDS
        with presence.waiting.place(f"{ENDED}{started.id}") as place:
            while True:
                place.looks()
                found = await presence.run(self._service.describe_execution, started.address)
                if found.execution.ended_at is not None:
                    return shapes.sync_execution(found, self._scope, with_data=with_data)
                if not await presence.woken(place, until):
                    raise ApiError("ServiceUnavailable", "The execution has not ended", 503)

    def stop_execution(self, given: Given) -> Answer:
        """End an execution as ABORTED; one that has ended stays as it is."""
        text, address = arn.execution_of(given)
        error = given.optional("error", self._limits.error_characters, least=0)
        cause = given.optional("cause", self._limits.cause_characters, least=0)
        try:
            run = self._service.stop_execution(address, error, cause)
        except ExecutionDoesNotExist:
            raise no_execution(text) from None
        return {"stopDate": shapes.seconds(run.ended_at or run.last_event_at)}

    def describe_execution(self, given: Given) -> Answer:
        """Show an execution with its input and output."""
        text, address = arn.execution_of(given)
        with_data = _with_data(given)
        try:
            found = self._service.describe_execution(address)
        except ExecutionDoesNotExist:
            raise no_execution(text) from None
        return shapes.execution(found, self._scope, with_data=with_data)

    def list_executions(self, given: Given) -> Answer:
        """Show a machine's executions, newest first."""
        machine = self._unqualified(given)
        status = given.one_of("statusFilter", STATUSES)
        given.one_of("redriveFilter", ("REDRIVEN", "NOT_REDRIVEN"))
        size = given.page_size()
        question = f"executions/{machine.name}/{status}"
        before = self._position(question, given.page_token(MOST_EXECUTION_TOKEN))
        try:
            row = self._service.machines.describe_state_machine(machine.name).machine
        except MachineDoesNotExist:
            raise no_machine(machine.arn) from None
        if row.type == EXPRESS:
            raise ApiError(
                "StateMachineTypeNotSupported",
                "This operation is not supported by this type of state machine",
            )
        if status == "PENDING_REDRIVE" or given.one_of("redriveFilter", ("REDRIVEN",)):
            return {"executions": []}
        runs = self._service.list_executions(
            machine.name,
            None if status is None else ExecutionStatus(status),
            size + 1,
            None if before is None else int(before),
        )
        shown: Answer = {
            "executions": [shapes.execution_item(run, self._scope) for run in runs[:size]]
        }
        return self._paged(shown, question, [str(run.id) for run in runs], size)

    def get_execution_history(self, given: Given) -> Answer:
        """Show what has happened in an execution."""
        text, address = arn.execution_of(given)
        size = given.page_size()
        reverse = given.flag("reverseOrder", default=False)
        with_data = given.flag("includeExecutionData", default=True)
        question = f"history/{address}/{reverse}"
        after = self._position(question, given.page_token())
        try:
            events = self._service.get_execution_history(
                address, int(after or 0), size + 1, reverse=reverse
            )
        except ExecutionDoesNotExist:
            raise no_execution(text) from None
        shown: Answer = {
            "events": [shapes.event(event, with_data=with_data) for event in events[:size]]
        }
        return self._paged(shown, question, [str(event.id) for event in events], size)

    # -- activities ------------------------------------------------------------------------------

    def create_activity(self, given: Given) -> Answer:
        """Make an activity, unless it is there already."""
        name = arn.checked_name(given)
        if name is None:
            raise invalid_value(None, "name", "not be null")
        row = self._service.activities.create_activity(name)
        return {
            "activityArn": self._scope.activity_arn(name),
            "creationDate": shapes.seconds(row.created_at),
        }

    def describe_activity(self, given: Given) -> Answer:
        """Show an activity."""
        text, name = arn.activity_of(given)
        shown = shapes.activity(self._activity(text, name), self._scope)
        shown["encryptionConfiguration"] = {"type": "AWS_OWNED_KEY"}
        return shown

    def list_activities(self, given: Given) -> Answer:
        """Show activities, by name."""
        size, after = given.page_size(), self._position("activities", given.page_token())
        rows = self._service.activities.list_activities(after or "", size + 1)
        shown: Answer = {"activities": [shapes.activity(row, self._scope) for row in rows[:size]]}
        return self._paged(shown, "activities", [row.name for row in rows], size)

    def delete_activity(self, given: Given) -> Answer:
        """Let an activity go; one that is not there is gone already."""
        _, name = arn.activity_of(given)
        self._service.activities.delete_activity(name)
        return {}

    async def get_activity_task(self, given: Given, presence: Presence) -> Answer:
        """Claim a task of an activity; wait for one for a minute."""
        text, name = arn.activity_of(given)
        worker = arn.plain_text(given, "workerName")
        await presence.run(self._activity, text, name)
        until = asyncio.get_running_loop().time() + POLL_SECONDS
        with presence.waiting.place(f"{ACTIVITY}{name}") as place:
            looks = presence.waiting.is_first(place)
            while presence.is_here():
                place.looks()
                if looks:
                    task = await presence.run(
                        self._service.activities.get_activity_task, name, worker
                    )
                    if task is not None and not presence.is_here():
                        await presence.run(self._service.activities.give_back, task)
                    elif task is not None:
                        presence.waiting.wake(place.topic)
                        return {"taskToken": task.token, "input": task.input.text}
                if not await presence.woken(place, until):
                    break
                looks = True
        return {}

    # -- answers to tasks ------------------------------------------------------------------------

    def send_task_success(self, given: Given) -> Answer:
        """End the task of a token with its output."""
        token = given.text("taskToken", MOST_TOKEN)
        output = given.text("output", self._limits.document_bytes, least=0)
        self._service.callbacks.send_task_success(token, output)
        return {}

    def send_task_failure(self, given: Given) -> Answer:
        """End the task of a token with a failure."""
        token = given.text("taskToken", MOST_TOKEN)
        error = given.optional("error", self._limits.error_characters, least=0)
        cause = given.optional("cause", self._limits.cause_characters, least=0)
        self._service.callbacks.send_task_failure(token, error, cause)
        return {}

    def send_task_heartbeat(self, given: Given) -> Answer:
        """Say that whoever works on the task of a token is alive."""
        self._service.callbacks.send_task_heartbeat(given.text("taskToken", MOST_TOKEN))
        return {}

    # -- within ----------------------------------------------------------------------------------

    def _start(self, given: Given, machine: arn.MachineName) -> StartedExecution:
        name = arn.checked_name(given)
        text = given.optional("input", self._limits.document_bytes, least=0)
        header = given.optional("traceHeader", arn.MOST_CHARACTERS, least=0)
        if machine.qualifier is not None:
            raise no_machine(machine.arn)
        if text == "":
            raise _bad_input("Invalid execution input.")
        try:
            return self._service.start_execution(
                machine.name,
                name,
                "{}" if text is None else text,
                Origin(header, machine.test_case),
            )
        except MachineDoesNotExist:
            raise no_machine(machine.arn) from None
        except MachineIsDeleting:
            raise _deleting(machine.arn) from None
        except InvalidExecutionInput as error:
            raise _bad_input(words(text or "", error.position, error.why)) from None
        except ExecutionAlreadyExists:
            raise _exists(self._scope.execution_arn(machine.name, name or "")) from None

    def _start_express(self, given: Given, machine: arn.MachineName) -> StartedExecution:
        try:
            found = self._service.machines.describe_state_machine(machine.name)
        except MachineDoesNotExist:
            raise no_machine(machine.arn) from None
        if found.machine.type != EXPRESS:
            raise ApiError(
                "StateMachineTypeNotSupported",
                "This operation is not supported by this type of state machine",
            )
        return self._start(given, machine)

    def _activity(self, text: str, name: str) -> ActivityRow:
        try:
            return self._service.activities.describe_activity(name)
        except ActivityDoesNotExist:
            raise no_activity(text) from None

    def _unqualified(self, given: Given) -> arn.MachineName:
        """The machine that is meant; versions and aliases come with a later release."""
        machine = arn.machine_of(given)
        if machine.qualifier is not None:
            raise no_machine(machine.arn)
        return machine

    def _check_publish(self, given: Given) -> None:
        publish = given.flag("publish", default=False)
        if given.optional("versionDescription", arn.MOST_CHARACTERS, least=0) and not publish:
            raise ApiError(
                "ValidationException", "Version description can only be set when publish is true"
            )
        if publish:
            raise ApiError("NotImplemented", "publish comes with a later release")

    # -- pages -----------------------------------------------------------------------------------

    def _position(self, question: str, token: str | None) -> str | None:
        return self._signed().position(question, token)

    def _paged(self, shown: Answer, question: str, names: list[str], size: int) -> Answer:
        """Say where the next page begins, if more was found than a page holds."""
        if len(names) > size:
            shown["nextToken"] = self._signed().token(question, names[size - 1])
        return shown

    def _signed(self) -> Pages:
        if self._pages is None:
            self._pages = Pages(self._service.paging_key())
        return self._pages


def _with_data(given: Given) -> bool:
    return given.one_of("includedData", DATA) != "METADATA_ONLY"


def _deleting(text: str) -> ApiError:
    return ApiError("StateMachineDeleting", f"State Machine is being deleted: '{text}'")


def _exists(text: str) -> ApiError:
    return ApiError("ExecutionAlreadyExists", f"Execution Already Exists: '{text}'")


def _bad_input(why: str) -> ApiError:
    return ApiError("InvalidExecutionInput", f"Invalid State Machine Execution Input: '{why}'")
