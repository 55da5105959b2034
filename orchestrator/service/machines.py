"""Machines as AWS's door knows them: with a type, a role, and what logs and traces are wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from orchestrator.asl import definition, document, names
from orchestrator.asl.diagnostics import Finding, refused
from orchestrator.asl.document import Json
from orchestrator.asl.limits import Limits
from orchestrator.asl.undoing import Failure, order_of_undoing
from orchestrator.engine import Deletion, Engine
from orchestrator.execution.frame import Execution, Scope
from orchestrator.service.errors import (
    InvalidDefinition,
    MachineAlreadyExists,
    MachineDoesNotExist,
    MachineIsDeleting,
)
from orchestrator.service.express import express_findings
from orchestrator.store import MachineRow, MachineStatus, MachineWish, Revision, Store

EXPRESS = "EXPRESS"
STANDARD = "STANDARD"


@dataclass(frozen=True, slots=True)
class MachineSettings:
    """What came with a definition: kept and shown, none of it is acted upon."""

    role_arn: str
    logging: Json
    tracing: Json
    encryption: Json

    @property
    def text(self) -> str:
        """As it is stored."""
        return document.write([self.role_arn, self.logging, self.tracing, self.encryption])

    @classmethod
    def parse(cls, text: str | None, scope: Scope) -> MachineSettings:
        """Read what was stored; a machine that the command deployed has the defaults."""
        value = None if text is None else document.read(text)
        match value:
            case [str(role), logging, tracing, encryption]:
                return cls(role, logging, tracing, encryption)
            case _:
                return replace(PLAIN, role_arn=scope.role_arn)


PLAIN = MachineSettings(
    role_arn="",
    logging={"includeExecutionData": False, "level": "OFF"},
    tracing={"enabled": False},
    encryption={"type": "AWS_OWNED_KEY"},
)


@dataclass(frozen=True, slots=True)
class MachineDetail:
    """A machine, or the revision of it that an execution runs."""

    machine: MachineRow
    revision: Revision
    settings: MachineSettings
    variable_references: Mapping[str, list[str]]
    """The variables that its states read."""


@dataclass(frozen=True, slots=True)
class MachineChange:
    """What an update says; what it leaves out stays as it is."""

    text: str | None = None
    role_arn: str | None = None
    logging: Json = None
    tracing: Json = None
    encryption: Json = None


class Machines:
    """Creates, changes, shows and deletes machines."""

    def __init__(self, store: Store, engine: Engine, limits: Limits, scope: Scope) -> None:
        self._store = store
        self._engine = engine
        self._deletion = Deletion(store, engine)
        self._limits = limits
        self._scope = scope

    def validate_state_machine_definition(
        self, text: str, machine_type: str = STANDARD
    ) -> tuple[Finding, ...]:
        """All findings of a definition, errors and warnings, each with its JSON pointer."""
        parsed = definition.parse(text, self._limits)
        if parsed.machine is None or machine_type != EXPRESS:
            return parsed.findings
        return (*parsed.findings, *express_findings(parsed.machine))

    def create_state_machine(
        self, name: str, text: str, machine_type: str, settings: MachineSettings
    ) -> MachineRow:
        """Make a machine; one that is the same already is answered as it is.

        Raises InvalidName, InvalidDefinition, MachineAlreadyExists, MachineIsDeleting.
        """
        names.check(name)
        self._check(text, machine_type)
        wish = MachineWish(name, text, machine_type, settings.text)
        while True:
            there = self._store.machines.find(name)
            if there is not None:
                return self._same(there, wish, settings)
            if self._store.machines.write(wish, None) is not None:
                return self._machine(name)

    def update_state_machine(self, name: str, change: MachineChange) -> Revision:
        """Add a revision; executions that run keep theirs. Raises as create does."""
        if change.text is not None:
            self._check(change.text, self._active(name).type)
        while True:
            row = self._active(name)
            before = self._store.machines.revision(row.revision)
            settings = MachineSettings.parse(before.settings, self._scope)
            wish = MachineWish(
                name,
                before.text if change.text is None else change.text,
                row.type,
                _changed(settings, change).text,
            )
            made = self._store.machines.write(wish, row.revision)
            if made is not None:
                return made

    def describe_state_machine(self, name: str) -> MachineDetail:
        """A machine with its newest revision; raises MachineDoesNotExist."""
        row = self._machine(name)
        return self._detail(row, row.revision)

    def describe_state_machine_for_execution(self, execution: Execution) -> MachineDetail:
        """The revision that an execution runs, whatever has become of its machine."""
        revision = self._store.machines.revision(execution.revision)
        row = self._store.machines.find(execution.machine) or MachineRow(
            execution.machine,
            revision.id,
            revision.number,
            revision.created_at,
            revision.created_at,
            MachineStatus.DELETED,
            EXPRESS if execution.is_express else STANDARD,
        )
        return self._detail(row, revision.id)

    def order_of_undoing(self, name: str) -> tuple[Failure, ...]:
        """What is undone where the newest revision fails; raises MachineDoesNotExist."""
        return order_of_undoing(self._engine.machine(self._machine(name).revision))

    def list_state_machines(self, after: str, limit: int) -> list[MachineRow]:
        """A page of machines by name, behind the name `after`."""
        return self._store.machines.page(after, limit)

    def delete_state_machine(self, name: str) -> None:
        """Begin to delete a machine: its executions are stopped, then it is gone."""
        if self._store.machines.set_status(name, MachineStatus.ACTIVE, MachineStatus.DELETING):
            self._deletion.go_on(name)

    # -- within ----------------------------------------------------------------------------------

    def _check(self, text: str, machine_type: str) -> None:
        findings = self.validate_state_machine_definition(text, machine_type)
        if refused(findings):
            raise InvalidDefinition(findings)

    def _machine(self, name: str) -> MachineRow:
        row = self._store.machines.find(name)
        if row is None:
            raise MachineDoesNotExist(name)
        return row

    def _active(self, name: str) -> MachineRow:
        row = self._machine(name)
        if row.status is MachineStatus.DELETING:
            raise MachineIsDeleting(name)
        return row

    def _detail(self, row: MachineRow, revision: int) -> MachineDetail:
        found = self._store.machines.revision(revision)
        settings = MachineSettings.parse(found.settings, self._scope)
        references = self._engine.machine(revision).variable_references()
        return MachineDetail(row, found, settings, references)

    def _same(self, row: MachineRow, wish: MachineWish, wanted: MachineSettings) -> MachineRow:
        """The machine that is there already, if it is what somebody wants to make."""
        if row.status is MachineStatus.DELETING:
            raise MachineIsDeleting(row.name)
        there = self._detail(row, row.revision)
        same = (
            there.revision.text == wish.text
            and row.type == wish.type
            and replace(there.settings, role_arn="") == replace(wanted, role_arn="")
        )
        if not same:
            raise MachineAlreadyExists(row.name)
        return row


def _changed(settings: MachineSettings, change: MachineChange) -> MachineSettings:
    return MachineSettings(
        role_arn=settings.role_arn if change.role_arn is None else change.role_arn,
        logging=settings.logging if change.logging is None else change.logging,
        tracing=settings.tracing if change.tracing is None else change.tracing,
        encryption=settings.encryption if change.encryption is None else change.encryption,
    )
