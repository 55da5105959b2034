"""What a decision raises when it depends on more than it was shown."""

from __future__ import annotations

from orchestrator.execution.decision import Missing


class NeedsMore(Exception):
    """The view does not hold what the decision depends on."""

    def __init__(self, missing: Missing) -> None:
        super().__init__(missing)
        self.missing = missing
