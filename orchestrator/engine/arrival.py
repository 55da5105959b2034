"""What is handed to the engine, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.engine.inline import Claimant
from orchestrator.execution.call import Call
from orchestrator.execution.decision import View
from orchestrator.execution.events import Event
from orchestrator.execution.frame import NO_ORIGIN, Origin, Parent
from orchestrator.execution.payload import Payload
from orchestrator.store import Claim


class Outcome(StrEnum):
    """What became of an event."""

    COMMITTED = "committed"
    STALE = "stale"
    FAILED = "failed"
    KEPT = "kept"
    """It could not be decided; it is stored and will be decided later."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event, who wants to go on with what it makes ready, and what is known already."""

    event: Event
    claimant: Claimant | None = None
    view: View | None = None
    """As the last commit of the same slot left it: saves a read."""


@dataclass(frozen=True, slots=True)
class Handled:
    """An event and what became of it; `reason` says why it was stale or failed."""

    event: Event
    outcome: Outcome
    reason: str = ""
    claim: Claim | None = None
    """The claimant's next task."""
    view: View | None = None
    """What the result of that task will find."""
    call: Call | None = None
    """Of a call that has arrived: what is on record of it now."""


@dataclass(frozen=True, slots=True)
class Start:
    """A wish to start an execution of one revision of a machine."""

    machine: str
    revision: int
    name: str
    input: Payload
    parent: Parent | None = None
    origin: Origin = NO_ORIGIN
