"""What the methods of all actions have at hand, and how they read what many requests hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from orchestrator.api import arn
from orchestrator.api.errors import ApiError, no_machine
from orchestrator.api.given import Given
from orchestrator.api.paging import Pages
from orchestrator.asl.document import Json
from orchestrator.asl.limits import Limits
from orchestrator.execution.frame import Scope
from orchestrator.service import EXPRESS, STANDARD, Orchestrator

Answer: TypeAlias = "dict[str, Json]"

TYPES: Final = (STANDARD, EXPRESS)
DATA: Final = ("ALL_DATA", "METADATA_ONLY")


@dataclass(frozen=True, slots=True)
class Desk:
    """Whom to ask, and what holds here."""

    service: Orchestrator
    scope: Scope
    limits: Limits
    pages: Pages
    test_cases: bool = False
    """Whether the ARN of a machine may name one, behind a `#`."""


def with_data_of(given: Given) -> bool:
    """Whether an answer is to hold documents."""
    return given.one_of("includedData", DATA) != "METADATA_ONLY"


def unqualified(given: Given) -> arn.MachineName:
    """The machine that is meant; versions and aliases come with a later release."""
    machine = arn.machine_of(given)
    if machine.qualifier is not None:
        raise no_machine(machine.arn)
    return machine


def machine_is_deleting(text: str) -> ApiError:
    """The machine is about to go."""
    return ApiError("StateMachineDeleting", f"State Machine is being deleted: '{text}'")
