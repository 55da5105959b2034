"""With what an execution ends, as far as it is decided: its status, its error, its last state."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from orchestrator.asl.errors import Failure
from orchestrator.execution.compensation import Undoing
from orchestrator.execution.frame import Execution, ExecutionStatus, Phase
from orchestrator.execution.payload import Payload


class Outcome:
    """What one transition decides of the execution as a whole."""

    def __init__(self, execution: Execution, now: datetime) -> None:
        self.execution = execution
        """The execution as it stands now, its counters aside."""
        self.ended = False
        """Whether this transition has ended it."""
        self.output: Payload | None = None
        self._now = now

    @property
    def decided(self) -> bool:
        """Whether it is decided with what the execution ends, or has ended."""
        return self.ended or self.execution.phase is Phase.UNDOING

    def end(
        self,
        status: ExecutionStatus,
        *,
        final_state: str | None,
        failure: Failure | None = None,
        output: Payload | None = None,
    ) -> None:
        """End the execution."""
        self.execution = replace(
            self.execution,
            status=status,
            outcome=None,
            phase=Phase.ENDED,
            ended_at=self._now,
            final_state=final_state,
            error=None if failure is None else failure.error,
            cause=None if failure is None else failure.cause,
        )
        self.ended = True
        self.output = output

    def settle(
        self, status: ExecutionStatus, *, final_state: str | None, failure: Failure | None
    ) -> None:
        """Fix with what the execution will end once all is undone."""
        self.execution = replace(
            self.execution,
            phase=Phase.UNDOING,
            outcome=status,
            final_state=final_state,
            error=None if failure is None else failure.error,
            cause=None if failure is None else failure.cause,
        )

    def undoes(self) -> None:
        """Note that something is being undone."""
        self.execution = replace(self.execution, undoing=Undoing.RUNNING)

    def has_undone(self) -> None:
        """Note that all is undone that was to be."""
        self.execution = replace(self.execution, undoing=Undoing.COMPLETED)

    def abandon(self) -> None:
        """Note that what is still to be undone will not be."""
        self.execution = replace(self.execution, undoing=Undoing.ABANDONED)
