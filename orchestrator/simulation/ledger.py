"""What really happened: the truth that no process knows, by which the run is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from orchestrator.execution.events import Event
from orchestrator.store import Claim


@dataclass(slots=True)
class Run:
    """One run of a handler."""

    number: int
    claim: Claim
    succeeds: bool = False
    committed: bool = False
    """The engine has said so."""
    refused: bool = False
    """The engine has said so, and no earlier answer was unknown."""


@dataclass(slots=True)
class _Lease:
    worker: str
    until: datetime
    delivery: int


@dataclass(slots=True)
class Ledger:
    """Runs of handlers, leases, results and starts."""

    runs: list[Run] = field(default_factory=list)
    settled: list[Event] = field(default_factory=list)
    """Results that were committed or refused: nothing may come of them again."""
    moments: dict[Event, set[str]] = field(default_factory=dict)
    """By whom each moment was found."""
    committed_moments: set[Event] = field(default_factory=set)
    started: dict[str, int] = field(default_factory=dict)
    """The execution of each name."""
    asked_to_stop: set[int] = field(default_factory=set)
    asked_to_abort: set[int] = field(default_factory=set)
    stopped: set[int] = field(default_factory=set)
    """Executions of which a door has heard that the stop is committed."""
    run_again: set[tuple[int, str]] = field(default_factory=set)
    """Effects that an operator has had run once more."""
    _leases: dict[str, _Lease] = field(default_factory=dict)
    _by_token: dict[str, list[Run]] = field(default_factory=dict)

    def claimed(self, claim: Claim, now: datetime, buried: Callable[[str], bool]) -> str | None:
        """Note a claim; return what is wrong with it. `buried`: whose leases count no more."""
        wrong = None
        held = self._leases.get(claim.token)
        if held is not None and held.until > now and not buried(held.worker):
            wrong = f"{claim.worker} claims what {held.worker} holds until {held.until}"
        if claim.delivery < 1:
            wrong = f"a claim that is no delivery: {claim}"
        until = claim.task.lease_until
        if until is None or claim.task.claimed_by != claim.worker:
            wrong = f"a claim without a lease: {claim}"
        else:
            self._leases[claim.token] = _Lease(claim.worker, until, claim.delivery)
        return wrong

    def renewed(self, claim: Claim, until: datetime) -> None:
        """Note that a lease was extended."""
        held = self._leases.get(claim.token)
        if held is not None and held.worker == claim.worker:
            held.until = until

    def given_back(self, claim: Claim) -> None:
        """Note that a worker may have given a claim back."""
        self._leases.pop(claim.token, None)

    def began(self, claim: Claim) -> tuple[Run, str | None]:
        """Note that a handler is called; return the run, and what is wrong with it."""
        earlier = self._by_token.setdefault(claim.token, [])
        wrong = None
        if claim.at_most_once and earlier:
            wrong = f"an at-most-once handler runs again: {claim.resource} in {claim.state}"
        if any(run.claim.delivery == claim.delivery for run in earlier):
            wrong = f"delivery {claim.delivery} of {claim.state} runs twice"
        run = Run(len(self.runs) + 1, claim)
        earlier.append(run)
        self.runs.append(run)
        return run, wrong

    def holds(self, claim: Claim) -> bool:
        """Tell whether nobody has claimed the task since."""
        held = self._leases.get(claim.token)
        return held is not None and (held.worker, held.delivery) == (claim.worker, claim.delivery)

    def runs_of(self, execution: int) -> list[Run]:
        """Return the runs of an execution's handlers."""
        return [run for run in self.runs if run.claim.execution == execution]
