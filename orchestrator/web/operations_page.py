"""What operators look at: what waits and how long, who works, and whether all is well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from orchestrator.service import Orchestrator, WaitingRow, WorkerRow
from orchestrator.web.request import Answer, Ask, Shown

SHOWN_WAITS = 200


@dataclass(frozen=True, slots=True)
class WaitGroup:
    """All that waits in one state, as far as it was read."""

    machine: str
    state: str
    rests_on: str
    count: int
    oldest: datetime


class OperationsPage:
    """Waits, workers, health."""

    def __init__(self, service: Orchestrator) -> None:
        self._service = service

    def waits(self, ask: Ask) -> Answer:
        """Show everything that rests, oldest first."""
        every = self._service.views.waiting()
        machine, state = ask.given("machine"), ask.given("state")
        rows = [
            row
            for row in every
            if (not machine or row.machine == machine) and (not state or row.state == state)
        ]
        values = {
            "rows": rows[:SHOWN_WAITS],
            "count": len(rows),
            "every": len(every),
            "most": self._service.views.most_waiting,
            "groups": _groups(every),
            "machine": machine,
            "state": state,
            "queues": self._service.views.queues(),
            "unserved": self._service.views.unserved(),
            "now": self._service.views.now(),
        }
        return Shown("waits.html", values)

    def workers(self, ask: Ask) -> Answer:
        """Show who is alive, what each serves and runs, and what nobody serves."""
        every = self._service.views.workers()
        gone = bool(ask.given("gone"))
        values = {
            "workers": [one for one in every if gone or one.died_at is None],
            "gone": sum(one.died_at is not None for one in every),
            "all": gone,
            "running": self._service.views.running(),
            "queues": self._service.views.queues(),
            "served": _served(every),
            "unserved": self._service.views.unserved(),
            "now": self._service.views.now(),
        }
        return Shown("workers.html", values)

    def health(self, ask: Ask) -> Answer:
        """Show what needs attention, how late timers are, and what the doctor finds when asked."""
        every = self._service.views.workers()
        values = {
            "attention": self._service.operations.attention(),
            "diagnosis": self._service.operations.diagnose() if ask.given("examine") else None,
            "lag": self._service.views.lag_seconds(),
            "unserved": self._service.views.unserved(),
            "queues": self._service.views.queues(),
            "kinds": _kinds(every),
            "failed_bells": sum(one.failed_bells for one in every if one.lives),
            "unhealthy": [one for one in every if one.lives and one.unhealthy],
            "now": self._service.views.now(),
        }
        return Shown("health.html", values)


def _groups(rows: Sequence[WaitingRow]) -> list[WaitGroup]:
    found: dict[tuple[str, str, str], WaitGroup] = {}
    for row in rows:
        key = (row.machine, row.state or "", row.rests_on)
        known = found.get(key)
        count = 1 if known is None else known.count + 1
        found[key] = WaitGroup(*key, count, row.since if known is None else known.oldest)
    return sorted(found.values(), key=lambda group: group.oldest)


def _served(workers: Sequence[WorkerRow]) -> dict[str, list[str]]:
    """Which resources living workers serve, by queue."""
    found: dict[str, set[str]] = {}
    for one in workers:
        for resource, queue in one.serves.items() if one.lives else ():
            found.setdefault(queue, set()).add(resource)
    return {queue: sorted(names) for queue, names in sorted(found.items())}


def _kinds(workers: Sequence[WorkerRow]) -> dict[str, int]:
    found = {"worker": 0, "scheduler": 0}
    for one in workers:
        if one.lives and one.kind.value in found:
            found[one.kind.value] += 1
    return found
