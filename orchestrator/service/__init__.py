"""Floor 6: what can be asked of the engine, whichever door the question comes through.

Knows machines, executions and their names; knows neither HTTP nor a command line.
"""

from orchestrator.service.errors import (
    ExecutionAlreadyExists,
    ExecutionDoesNotExist,
    ExecutionNotStopped,
    InvalidDefinition,
    InvalidExecutionInput,
    MachineDoesNotExist,
    ServiceError,
)
from orchestrator.service.facade import (
    Deployed,
    ExecutionDetail,
    Orchestrator,
    StartedExecution,
)

__all__ = [
    "Deployed",
    "ExecutionAlreadyExists",
    "ExecutionDetail",
    "ExecutionDoesNotExist",
    "ExecutionNotStopped",
    "InvalidDefinition",
    "InvalidExecutionInput",
    "MachineDoesNotExist",
    "Orchestrator",
    "ServiceError",
    "StartedExecution",
]
