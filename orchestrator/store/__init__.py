"""Floor 3: durability.

Knows how decisions are written, who may claim a task, and how PostgreSQL and SQLite want it said:
everything that is SQL is here, and nothing else. Decides nothing: what it reads and writes are the
values of floor 2. Every write is guarded, so that repeating one is harmless.
"""

from orchestrator.store.address import Connecting
from orchestrator.store.called import Called, CallKey
from orchestrator.store.claim import LONELY_FROM
from orchestrator.store.errors import (
    GroupBroken,
    IdTaken,
    NoSuchRevision,
    SchemaMismatch,
    StoreUnavailable,
    TooManyWriters,
    UnsupportedDatabase,
)
from orchestrator.store.lifeline import Lifeline
from orchestrator.store.listing import Child, Listed, Page, Sought
from orchestrator.store.locked import Locked
from orchestrator.store.resting import RunningTask, Waiting
from orchestrator.store.schema import migrate
from orchestrator.store.store import LEASE_SECONDS, Store
from orchestrator.store.sweep import Share
from orchestrator.store.transition import Outcome
from orchestrator.store.undecided import MOST_STRIKES, Pauses
from orchestrator.store.values import (
    FIRST_CALL,
    ActivityRow,
    Announcement,
    CallPlace,
    Checkup,
    Claim,
    Committed,
    Failed,
    FrameSummary,
    Lapses,
    MachineRow,
    MachineStatus,
    MachineWish,
    ReadyQueue,
    Report,
    Revision,
    Started,
    TrailRow,
    Undecided,
    Unserved,
    WaitingResource,
    WorkerKind,
    WorkerRow,
)

__all__ = [
    "FIRST_CALL",
    "LEASE_SECONDS",
    "LONELY_FROM",
    "MOST_STRIKES",
    "ActivityRow",
    "Announcement",
    "CallKey",
    "CallPlace",
    "Called",
    "Checkup",
    "Child",
    "Claim",
    "Committed",
    "Connecting",
    "Failed",
    "FrameSummary",
    "GroupBroken",
    "IdTaken",
    "Lapses",
    "Lifeline",
    "Listed",
    "Locked",
    "MachineRow",
    "MachineStatus",
    "MachineWish",
    "NoSuchRevision",
    "Outcome",
    "Page",
    "Pauses",
    "ReadyQueue",
    "Report",
    "Revision",
    "RunningTask",
    "SchemaMismatch",
    "Share",
    "Sought",
    "Started",
    "Store",
    "StoreUnavailable",
    "TooManyWriters",
    "TrailRow",
    "Undecided",
    "Unserved",
    "UnsupportedDatabase",
    "Waiting",
    "WaitingResource",
    "WorkerKind",
    "WorkerRow",
    "migrate",
]
