"""What machines of type EXPRESS may not do."""

from __future__ import annotations

from orchestrator.asl.diagnostics import Code, Finding, Severity, child
from orchestrator.asl.machine import Machine
from orchestrator.asl.resources import Kind, Pattern
from orchestrator.asl.states import Task


def express_findings(machine: Machine) -> tuple[Finding, ...]:
    """Return what an EXPRESS machine is refused for: it waits for nobody outside."""
    return tuple(
        Finding(
            Severity.ERROR,
            Code.SCHEMA_VALIDATION_FAILED,
            message,
            child(state.pointer, "Resource"),
        )
        for state in machine.every_state()
        if isinstance(state, Task) and (message := _refusal(state)) is not None
    )


def _refusal(state: Task) -> str | None:
    if state.resource.kind is Kind.ACTIVITY:
        return "Express state machine does not support activities"
    match state.resource.pattern:
        case Pattern.TASK_TOKEN:
            return "Express state machine does not support '.waitForTaskToken' service integration "
        case Pattern.SYNC | Pattern.SYNC_2:
            return "Express state machine does not support '.sync' service integration"
        case Pattern.REQUEST:
            return None
