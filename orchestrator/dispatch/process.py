"""What one process needs to run handlers: made after the fork, and never inherited."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from orchestrator.dispatch.company import Company
from orchestrator.dispatch.leases import Leases
from orchestrator.dispatch.serving import Serving
from orchestrator.dispatch.slot import Desk, Slice, claims_of
from orchestrator.engine import Bell, Engine
from orchestrator.liveness import Pulse, process_name
from orchestrator.outage import Outage
from orchestrator.settings import Settings
from orchestrator.store import Claim, Report, Store, WorkerKind

EXIT_HUNG: Final = 70
"""The exit code of a process that ends because handlers hang."""


class Parts(Protocol):
    """What a process of a worker needs of the composition root."""

    @property
    def store(self) -> Store:
        """The database."""
        ...

    @property
    def engine(self) -> Engine:
        """Takes results to their executions."""
        ...


@dataclass(frozen=True, slots=True)
class Role:
    """What a process is in its worker, now."""

    kind: WorkerKind
    slots: int = 1
    announced: Serving | None = None
    unhealthy: str | None = None


class Process:
    """What the slots of one process share, its leases and its pulse."""

    def __init__(
        self,
        parts: Parts,
        bell: Bell,
        settings: Settings,
        *,
        role: Callable[[], Role],
        draining: Callable[[], bool],
        hung: Callable[[Claim, int], None],
    ) -> None:
        """`hung` hears of each handler that hangs, and how many do."""
        self.pid = os.getpid()
        self.outage = Outage()
        self._bell = bell
        self._role = role
        worker = process_name()
        company = Company(bell.ring)
        self.leases = Leases(
            parts.store,
            worker,
            settings.lease_seconds,
            self.outage,
            hung_seconds=settings.hung_seconds,
            hung=hung,
        )
        self.desk = Desk(
            worker=worker,
            store=parts.store,
            engine=parts.engine,
            bell=bell,
            leases=self.leases,
            outage=self.outage,
            company=company,
            claims=claims_of(worker, parts.store, company),
            slice=Slice(settings.slice_seconds, settings.slice_tasks),
            draining=draining,
        )
        self.pulse = Pulse(parts.store, worker, self._report, self.outage.failed)

    def end(self) -> None:
        """End in order: nothing is held any more."""
        self.leases.stop()
        self.pulse.stop()

    def _report(self) -> Report:
        role = self._role()
        return Report(
            role.kind,
            role.slots,
            given_up=self.leases.given_up,
            failed_bells=int(getattr(self._bell, "failures", 0)),
            serves=None if role.announced is None else role.announced.routes,
            unhealthy=role.unhealthy,
        )
