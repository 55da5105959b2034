"""What decisions ask of the world around their executions: activities, and mocked states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from orchestrator.execution.decision import NOTHING_AROUND, Around, Missing
from orchestrator.execution.frame import Execution
from orchestrator.store import Store

Mocks: TypeAlias = "Callable[[Execution], frozenset[str]]"
"""The states of an execution whose tasks a mock configuration answers."""


def no_mocks(_execution: Execution) -> frozenset[str]:
    """Answer as where no mock configuration is served."""
    return frozenset()


class Surrounding:
    """Looks up what a decision asks for."""

    def __init__(self, store: Store, mocks: Mocks) -> None:
        self._store = store
        self._mocks = mocks

    def of(self, execution: Execution) -> Around:
        """What is known before anything is asked."""
        if execution.origin.test_case is None:
            return NOTHING_AROUND
        return Around(mocked=self._mocks(execution))

    def more(self, known: Around, missing: Missing) -> Around:
        """What is known, and what is missing."""
        there = {name: self._store.activities.find(name) is not None for name in missing.activities}
        return replace(known, activities={**known.activities, **there})
