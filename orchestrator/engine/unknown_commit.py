"""Commits of unknown outcome: the connection died, and nobody knows whether they stand.

The same events are handed in again. What stands makes them stale; the claim that was made inside
the commit is found again here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from orchestrator.engine.arrival import Handled, Outcome
from orchestrator.engine.inline import Prepared
from orchestrator.execution.decision import View
from orchestrator.execution.events import Event

MOST_UNKNOWN: Final = 1_000
"""Commits that are remembered until their results are handed in again."""


class UnknownCommits:
    """What was to be committed when the connection died, by the event that will come again."""

    def __init__(self) -> None:
        self._prepared: dict[Event, Prepared] = {}

    def note(self, group: Iterable[tuple[Event, Prepared]]) -> None:
        """Remember those of a group of decisions that hold a claim."""
        if len(self._prepared) > MOST_UNKNOWN:
            self._prepared.clear()  # the leases of their claims will lapse
        self._prepared |= {event: one for event, one in group if one.claim is not None}

    def found(self, event: Event, view: View) -> Handled | None:
        """What a commit of unknown outcome has made of a stale event, if it stands.

        The frame then carries the token that this process proposed, and the claim is ours.
        """
        prepared = self._prepared.pop(event, None)
        if prepared is None or prepared.claim is None:
            return None
        frame = view.frames.get(prepared.claim.frame)
        task = None if frame is None else frame.task
        if task is None or (task.token, task.deliveries) != (prepared.claim.token, 1):
            return None
        if task.claimed_by != prepared.claim.worker:
            return None
        return Handled(event, Outcome.COMMITTED, claim=prepared.claim)
