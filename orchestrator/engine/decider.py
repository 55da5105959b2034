"""Decides for the engine: hands `begin` and `decide` all that they may not fetch themselves.

Knows time, randomness, machines, and how to read what a decision misses; writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeAlias

from orchestrator.asl.limits import Limits
from orchestrator.asl.machine import Machine
from orchestrator.engine.around import Mocks, Surrounding
from orchestrator.engine.arrival import Arrival, Start
from orchestrator.engine.inline import Prepared, prepare
from orchestrator.engine.revision import Revisions
from orchestrator.engine.route import Routes
from orchestrator.engine.surroundings import Surroundings
from orchestrator.execution.decide import begin, decide
from orchestrator.execution.decision import Decision, Missing, Stale, View
from orchestrator.execution.frame import Execution, ExecutionStatus, Phase, Scope
from orchestrator.execution.needs import NeedsMore
from orchestrator.execution.payload import Payload
from orchestrator.store import Store

TOKEN_BYTES: Final = 32
"""How much chance goes into the tokens of one decision."""

ReadMore: TypeAlias = "Callable[[View, Missing], View | None]"
"""Reads what a view misses; None: what was to be read has moved on meanwhile."""


class Decider:
    """Decides what becomes of starts and events, up to what is to be committed."""

    def __init__(
        self,
        store: Store,
        revisions: Revisions,
        routes: Routes,
        surroundings: Surroundings,
        *,
        limits: Limits,
        scope: Scope,
        mocks: Mocks,
    ) -> None:
        self._store = store
        self._revisions = revisions
        self._routes = routes
        self._surroundings = surroundings
        self._limits = limits
        self._scope = scope
        self._surrounding = Surrounding(store, mocks)

    def begin(self, start: Start) -> Prepared:
        """Decide how a new execution begins, under an id of its own."""
        now = self._store.now()
        execution = Execution(
            id=self._surroundings.new_id(),
            machine=start.machine,
            revision=start.revision,
            name=start.name,
            status=ExecutionStatus.RUNNING,
            phase=Phase.OPEN,
            version=0,
            next_event_id=1,
            started_at=now,
            last_event_at=now,
            parent=start.parent,
            origin=start.origin,
        )
        machine = self._revisions.machine(start.revision)
        bits = self._surroundings.random_bytes(TOKEN_BYTES)
        decision = self._beginning(machine, execution, start.input, now, bits)
        return prepare(decision, None, self._routes.queue, None, now)

    def _beginning(
        self, machine: Machine, execution: Execution, given: Payload, now: datetime, bits: bytes
    ) -> Decision:
        around = self._surrounding.of(execution)
        while True:
            try:
                return begin(
                    machine,
                    execution,
                    self._scope,
                    given,
                    now,
                    bits,
                    self._limits,
                    self._surroundings.evaluate,
                    around=around,
                )
            except NeedsMore as needs:
                around = self._surrounding.more(around, needs.missing)

    def decide(self, view: View, arrival: Arrival, read_more: ReadMore) -> Prepared | Stale | None:
        """Decide on the view; None: what was to be read has moved on meanwhile."""
        machine = self._revisions.machine(view.execution.revision)
        if machine.needs_execution_input and view.input is None:
            view = replace(view, input=self._store.read_input(view.execution.id))
        view = replace(view, around=self._surrounding.of(view.execution))
        bits = self._surroundings.random_bytes(TOKEN_BYTES)
        now = self._store.now()
        while True:
            decision = decide(
                machine,
                view,
                arrival.event,
                now,
                bits,
                self._limits,
                self._surroundings.evaluate,
            )
            match decision:
                case Missing() if decision.activities:
                    view = replace(view, around=self._surrounding.more(view.around, decision))
                case Missing():
                    more = read_more(view, decision)
                    if more is None:
                        return None
                    view = more
                case Stale():
                    return decision
                case Decision():
                    return prepare(decision, view, self._routes.queue, arrival.claimant, now)
