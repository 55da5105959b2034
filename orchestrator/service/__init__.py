"""Floor 6: what can be asked of the engine, whichever door the question comes through.

Knows machines, executions and their names; knows neither HTTP nor a command line.
"""

from orchestrator.service.errors import (
    ActivityDoesNotExist,
    ExecutionAlreadyExists,
    ExecutionDoesNotExist,
    ExecutionNotStopped,
    InvalidDefinition,
    InvalidExecutionInput,
    InvalidOutput,
    MachineAlreadyExists,
    MachineDoesNotExist,
    MachineIsDeleting,
    ServiceError,
    TaskDoesNotExist,
    TaskTimedOut,
    Undecided,
)
from orchestrator.service.facade import (
    Deployed,
    ExecutionDetail,
    Orchestrator,
    StartedExecution,
    read_input,
)
from orchestrator.service.machines import (
    EXPRESS,
    STANDARD,
    MachineChange,
    MachineDetail,
    Machines,
    MachineSettings,
)
from orchestrator.store import StoreUnavailable

Unreachable = StoreUnavailable
"""The database is away."""

__all__ = [
    "EXPRESS",
    "STANDARD",
    "ActivityDoesNotExist",
    "Deployed",
    "ExecutionAlreadyExists",
    "ExecutionDetail",
    "ExecutionDoesNotExist",
    "ExecutionNotStopped",
    "InvalidDefinition",
    "InvalidExecutionInput",
    "InvalidOutput",
    "MachineAlreadyExists",
    "MachineChange",
    "MachineDetail",
    "MachineDoesNotExist",
    "MachineIsDeleting",
    "MachineSettings",
    "Machines",
    "Orchestrator",
    "ServiceError",
    "StartedExecution",
    "TaskDoesNotExist",
    "TaskTimedOut",
    "Undecided",
    "Unreachable",
    "read_input",
]
