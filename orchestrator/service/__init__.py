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
    NothingToRetry,
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
from orchestrator.service.operations import (
    Attention,
    AttentionKind,
    Diagnosis,
    Operations,
    Retried,
)
from orchestrator.store import StoreUnavailable
from orchestrator.verify import Contradiction

Unreachable = StoreUnavailable
"""The database is away."""

__all__ = [
    "EXPRESS",
    "STANDARD",
    "ActivityDoesNotExist",
    "Attention",
    "AttentionKind",
    "Contradiction",
    "Deployed",
    "Diagnosis",
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
    "NothingToRetry",
    "Operations",
    "Orchestrator",
    "Retried",
    "ServiceError",
    "StartedExecution",
    "TaskDoesNotExist",
    "TaskTimedOut",
    "Undecided",
    "Unreachable",
    "read_input",
]
