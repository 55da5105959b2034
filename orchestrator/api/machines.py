"""The actions on machines, one method each, named as boto3 names them."""

from __future__ import annotations

from typing import Final

from orchestrator.api import arn, shapes
from orchestrator.api.desk import (
    TYPES,
    Answer,
    Desk,
    machine_is_deleting,
    unqualified,
    with_data_of,
)
from orchestrator.api.errors import ApiError, invalid_value, no_execution, no_machine
from orchestrator.api.given import Given
from orchestrator.api.settings import encryption_of, logging_of, machine_settings, tracing_of
from orchestrator.asl.diagnostics import Severity
from orchestrator.service import (
    STANDARD,
    ExecutionDoesNotExist,
    MachineAlreadyExists,
    MachineChange,
    MachineDoesNotExist,
    MachineIsDeleting,
)

MOST_DEFINITION: Final = 1_048_576
MOST_DIAGNOSTICS: Final = 100


class Machines:
    """Makes, changes, shows and deletes machines."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def create_state_machine(self, given: Given) -> Answer:
        """Make a machine."""
        name = arn.checked_name(given)
        definition = given.text("definition", MOST_DEFINITION)
        settings = machine_settings(given)
        machine_type = given.one_of("type", TYPES) or STANDARD
        _check_publish(given)
        if name is None:
            raise invalid_value(None, "name", "not be null")
        try:
            row = self._desk.service.machines.create_state_machine(
                name, definition, machine_type, settings
            )
        except MachineAlreadyExists:
            there = self._desk.scope.machine_arn(name)
            raise ApiError(
                "StateMachineAlreadyExists", f"State Machine Already Exists: '{there}'"
            ) from None
        except MachineIsDeleting:
            raise machine_is_deleting(self._desk.scope.machine_arn(name)) from None
        return {
            "stateMachineArn": self._desk.scope.machine_arn(name),
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
        _check_publish(given)
        if change == MachineChange():
            raise ApiError(
                "MissingRequiredParameter",
                "Either the definition, the role ARN, the LoggingConfiguration, or the "
                "TracingConfiguration must be specified",
            )
        try:
            revision = self._desk.service.machines.update_state_machine(machine.name, change)
        except MachineDoesNotExist:
            raise no_machine(machine.arn) from None
        except MachineIsDeleting:
            raise machine_is_deleting(machine.arn) from None
        return {
            "updateDate": shapes.seconds(revision.created_at),
            "revisionId": revision.uid or "INITIAL",
        }

    def describe_state_machine(self, given: Given) -> Answer:
        """Show a machine."""
        machine = unqualified(given)
        with_data = with_data_of(given)
        try:
            found = self._desk.service.machines.describe_state_machine(machine.name)
        except MachineDoesNotExist:
            raise no_machine(machine.arn) from None
        shown = shapes.machine(found, self._desk.scope, with_data=with_data)
        shown["status"] = found.machine.status.value
        shown["type"] = found.machine.type
        shown["creationDate"] = shapes.seconds(found.machine.created_at)
        return shown

    def describe_state_machine_for_execution(self, given: Given) -> Answer:
        """Show the revision that an execution runs."""
        text, address = arn.execution_of(given)
        with_data = with_data_of(given)
        try:
            run = self._desk.service.find_execution(address)
        except ExecutionDoesNotExist:
            raise no_execution(text) from None
        found = self._desk.service.machines.describe_state_machine_for_execution(run)
        shown = shapes.machine(found, self._desk.scope, with_data=with_data)
        shown["updateDate"] = shapes.seconds(found.revision.created_at)
        return shown

    def list_state_machines(self, given: Given) -> Answer:
        """Show machines, by name."""
        size, after = given.page_size(), self._desk.pages.position("machines", given.page_token())
        rows = self._desk.service.machines.list_state_machines(after or "", size + 1)
        shown: Answer = {
            "stateMachines": [shapes.machine_item(row, self._desk.scope) for row in rows[:size]]
        }
        return self._desk.pages.paged(shown, "machines", [row.name for row in rows], size)

    def delete_state_machine(self, given: Given) -> Answer:
        """Stop a machine's executions and let it go; one that is not there is gone already."""
        self._desk.service.machines.delete_state_machine(unqualified(given).name)
        return {}

    def validate_state_machine_definition(self, given: Given) -> Answer:
        """Say what is wrong with a definition."""
        definition = given.text("definition", MOST_DEFINITION)
        machine_type = given.one_of("type", TYPES) or STANDARD
        severity = given.one_of("severity", ("ERROR", "WARNING")) or "ERROR"
        most = given.page_size(MOST_DIAGNOSTICS)
        found = self._desk.service.machines.validate_state_machine_definition(
            definition, machine_type
        )
        errors = any(one.severity is Severity.ERROR for one in found)
        wanted = [one for one in found if severity == "WARNING" or one.severity is Severity.ERROR]
        return {
            "result": "FAIL" if errors else "OK",
            "diagnostics": [shapes.diagnostic(one) for one in wanted[:most]],
            "truncated": len(wanted) > most,
        }


def _check_publish(given: Given) -> None:
    publish = given.flag("publish", default=False)
    if given.optional("versionDescription", arn.MOST_CHARACTERS, least=0) and not publish:
        raise ApiError(
            "ValidationException", "Version description can only be set when publish is true"
        )
    if publish:
        raise ApiError("NotImplemented", "publish comes with a later release")
