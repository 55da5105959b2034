"""The machines of revisions, parsed once per process: revisions never change."""

from __future__ import annotations

import threading
from collections.abc import Callable

from orchestrator.asl import definition
from orchestrator.asl.definition import Parsed
from orchestrator.asl.limits import Limits
from orchestrator.asl.machine import Machine
from orchestrator.store import Store


class UnreadableRevision(Exception):
    """A stored definition is not understood by this release."""

    def __init__(self, revision: int, message: str) -> None:
        super().__init__(f"revision {revision} is not understood by this release: {message}")


class Revisions:
    """The parsed machines of the revisions used last."""

    def __init__(
        self,
        store: Store,
        limits: Limits,
        parse: Callable[[str, Limits], Parsed] = definition.parse,
    ) -> None:
        self._store = store
        self._limits = limits
        self._parse = parse
        self._machines: dict[int, Machine] = {}
        self._lock = threading.Lock()

    def machine(self, revision: int) -> Machine:
        """The machine of a revision that the store holds; raises UnreadableRevision."""
        known = self._machines.get(revision)
        if known is not None:
            return known
        parsed = self._parse(self._store.machines.revision(revision).text, self._limits)
        if parsed.machine is None:
            raise UnreadableRevision(revision, parsed.findings[0].message)
        with self._lock:
            if len(self._machines) >= self._limits.cached_revisions:
                self._machines.pop(next(iter(self._machines)))
            self._machines[revision] = parsed.machine
        return parsed.machine
