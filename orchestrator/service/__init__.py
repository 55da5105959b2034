"""Floor 6: what can be asked of the engine, whichever door the question comes through.

Knows machines, executions and their names; knows neither HTTP nor a command line.
"""

from orchestrator.asl.undoing import order_of_undoing
from orchestrator.drawing import STYLE, Drawing, Mark, draw
from orchestrator.engine import topic_of_call
from orchestrator.service.calls import LONGEST_WAIT_SECONDS, CallRequest, Made, NextTimer, Waits
from orchestrator.service.compensations import Blocked, Compensations, Undoable, blocked_in
from orchestrator.service.course import Attempt, Course, Iteration, Outcome, Visit
from orchestrator.service.errors import (
    ActivityDoesNotExist,
    CallDoesNotExist,
    CallIdTaken,
    CompensationNotBlocked,
    EffectNotRun,
    ExecutionAlreadyExists,
    ExecutionDoesNotExist,
    ExecutionNotStopped,
    InvalidCallInput,
    InvalidDefinition,
    InvalidExecutionInput,
    InvalidOutput,
    MachineAlreadyExists,
    MachineDoesNotExist,
    MachineIsDeleting,
    MalformedCall,
    NothingToRetry,
    ReasonMissing,
    ServiceError,
    TaskDoesNotExist,
    TaskTimedOut,
    Undecided,
    UnknownCall,
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
from orchestrator.service.marks import marks
from orchestrator.service.operations import (
    Attention,
    AttentionKind,
    Diagnosis,
    Operations,
    Retried,
)
from orchestrator.service.undoing_words import NOTHING_UNDONE, told
from orchestrator.service.views import Look, Page, Views, Wanted
from orchestrator.store import StoreUnavailable, WorkerRow
from orchestrator.store import Waiting as WaitingRow
from orchestrator.verify import Contradiction

Unreachable = StoreUnavailable
"""The database is away."""

__all__ = [
    "EXPRESS",
    "LONGEST_WAIT_SECONDS",
    "NOTHING_UNDONE",
    "STANDARD",
    "STYLE",
    "ActivityDoesNotExist",
    "Attempt",
    "Attention",
    "AttentionKind",
    "Blocked",
    "CallDoesNotExist",
    "CallIdTaken",
    "CallRequest",
    "CompensationNotBlocked",
    "Compensations",
    "Contradiction",
    "Course",
    "Deployed",
    "Diagnosis",
    "Drawing",
    "EffectNotRun",
    "ExecutionAlreadyExists",
    "ExecutionDetail",
    "ExecutionDoesNotExist",
    "ExecutionNotStopped",
    "InvalidCallInput",
    "InvalidDefinition",
    "InvalidExecutionInput",
    "InvalidOutput",
    "Iteration",
    "Look",
    "MachineAlreadyExists",
    "MachineChange",
    "MachineDetail",
    "MachineDoesNotExist",
    "MachineIsDeleting",
    "MachineSettings",
    "Machines",
    "Made",
    "MalformedCall",
    "Mark",
    "NextTimer",
    "NothingToRetry",
    "Operations",
    "Orchestrator",
    "Outcome",
    "Page",
    "ReasonMissing",
    "Retried",
    "ServiceError",
    "StartedExecution",
    "TaskDoesNotExist",
    "TaskTimedOut",
    "Undecided",
    "Undoable",
    "UnknownCall",
    "Unreachable",
    "Views",
    "Visit",
    "WaitingRow",
    "Waits",
    "Wanted",
    "WorkerRow",
    "blocked_in",
    "draw",
    "marks",
    "order_of_undoing",
    "read_input",
    "told",
    "topic_of_call",
]
