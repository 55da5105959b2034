"""Makes the databases of tests/fixtures/upgrade: executions of this release in every kind of rest.

`python -m tests.robustness.upgrade` writes a folder named after the schema; those of earlier
releases stay as they are, and later code goes on with each of them. Run it once per release that
changes the schema, or what stands in it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from orchestrator.asl.document import Json
from orchestrator.engine import StartTasks
from orchestrator.execution.events import TaskFailed, TaskSucceeded
from orchestrator.execution.payload import Payload
from orchestrator.store import Claim, Pauses, migrate
from orchestrator.store.schema import newest
from orchestrator.store.tables import metadata
from tests.engine.pump import QUEUE, RESOURCE, Pump
from tests.servers import PostgresServer, create_database

FIXTURES: Final = Path(__file__).resolve().parent.parent / "fixtures" / "upgrade"
SQLITE: Final = "orchestrator.sqlite"
POSTGRES: Final = "rows.json"
LOST: Final = "a worker that is gone"

TASK: Final[dict[str, Any]] = {"Type": "Task", "Resource": RESOURCE, "End": True}
WAIT: Final = {"Type": "Wait", "Seconds": 2, "End": True}


def _one(state: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    return {"StartAt": "S", "States": {"S": dict(state)}, **fields}


_EACH: Final = {
    "Type": "Map",
    "ItemsPath": "$",
    "MaxConcurrency": 2,
    "ItemProcessor": {"StartAt": "C", "States": {"C": TASK}},
    "End": True,
}
_BOTH: Final = {
    "Type": "Parallel",
    "Branches": [
        {"StartAt": "L", "States": {"L": WAIT}},
        {"StartAt": "R", "States": {"R": {**_EACH, "MaxConcurrency": 0}}},
    ],
    "End": True,
}
_RETRY: Final = [{"ErrorEquals": ["Busy"], "IntervalSeconds": 2, "MaxAttempts": 1}]
_CATCH: Final = [{"ErrorEquals": ["Task.WorkerLost"], "Next": "Caught"}]
_SILENT: Final = [{"ErrorEquals": ["States.Timeout"], "Next": "Caught"}]
MACHINES: Final[dict[str, dict[str, Any]]] = {
    "ready": _one(TASK),
    "claimed": _one(TASK),
    "once": {
        "StartAt": "S",
        "States": {"S": {**TASK, "Catch": _CATCH}, "Caught": {"Type": "Succeed"}},
    },
    "kept": _one(TASK),
    "again": _one({**TASK, "Retry": _RETRY}),
    "heartbeat": {
        "StartAt": "S",
        "States": {
            "S": {**TASK, "HeartbeatSeconds": 2, "Catch": _SILENT},
            "Caught": {"Type": "Succeed"},
        },
    },
    "waits": _one(WAIT),
    "each": _one(_EACH),
    "both": _one(_BOTH),
    "deadline": _one({"Type": "Wait", "Seconds": 86_400, "End": True}, TimeoutSeconds=2),
    "unserved": _one({**TASK, "Resource": "celery:later"}),
    "succeeded": _one({"Type": "Succeed"}),
    "failed": _one({"Type": "Fail", "Error": "E", "Cause": "as it should"}),
    "aborted": _one({"Type": "Wait", "Seconds": 86_400, "End": True}),
    "called": {
        "Calls": {"go": {}, "later": {}},
        "StartAt": "S",
        "States": {
            "S": {
                "Type": "Await",
                "OnEnter": {"Resource": RESOURCE},
                "OnExit": {"Resource": RESOURCE},
                "On": {"go": {"Refuse": "not yet"}, "later": {"Postpone": True}},
                "After": [
                    {"Seconds": 1, "Effect": {"Resource": RESOURCE}},
                    {"Seconds": 2, "Next": "B"},
                ],
            },
            "B": {
                "Type": "Await",
                "On": {"go": {"Refuse": "not now"}, "later": {"Next": "Over"}},
                "After": [{"Seconds": 86_400, "Next": "Over"}],
            },
            "Over": {"Type": "Succeed"},
        },
    },
    "activity": {
        "StartAt": "S",
        "States": {
            "S": {
                "Type": "Task",
                "Resource": "arn:aws:states:us-east-1:000000000000:activity:press",
                "TimeoutSeconds": 2,
                "Catch": _SILENT,
                "End": True,
            },
            "Caught": {"Type": "Succeed"},
        },
    },
    "parent": _one(
        {
            "Type": "Task",
            "Resource": "arn:aws:states:::states:startExecution.sync:2",
            "Parameters": {
                "StateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:waits",
                "Name": "child",
            },
            "End": True,
        }
    ),
}
INPUT: Final[list[Json]] = [1, 2, 3, 4, 5]
CLAIMED: Final = ("claimed", "kept", "again", "heartbeat")
AT_ONCE: Final = Pauses(first_seconds=0.0)


def fill(pump: Pump) -> None:
    """Start an execution per machine and leave each at its kind of rest."""
    for name, definition in MACHINES.items():
        pump.service.deploy(name, json.dumps(definition))
    for name in CLAIMED:
        claim = _begin(pump, name)
        if name == "kept":
            pump.store.strike(_result(claim), "ValueError: a fault of that release", AT_ONCE)
        if name == "again":
            busy = TaskFailed(*_answers(claim), "Busy", None, claim.claimed_at)
            pump.engine.handle_many([busy])
    _begin(pump, "once", at_most_once={RESOURCE})
    _begin(pump, "each")
    (claim,) = pump.store.claim(LOST, [QUEUE], {RESOURCE}, limit=1)
    pump.engine.handle_many([_result(claim)])
    for name in (
        "ready",
        "both",
        "waits",
        "deadline",
        "unserved",
        "succeeded",
        "failed",
        "aborted",
    ):
        pump.service.start_execution(name, "one", json.dumps(INPUT))
    pump.service.stop_execution("aborted:one", "Enough")
    pump.service.activities.create_activity("press")
    for name in ("called", "activity", "parent"):
        pump.service.start_execution(name, "one", json.dumps(INPUT))
    pump.service.call_execution("called:one", "go", "{}", "refused")
    pump.service.call_execution("called:one", "later", "{}", "kept")
    starts_of(pump).tick()


def starts_of(pump: Pump) -> StartTasks:
    """Return what a scheduler serves: executions that others start."""
    starts = StartTasks(pump.store, pump.engine, LOST, pump.limits, pump.store.scope)
    starts.announce()
    return starts


def _begin(pump: Pump, name: str, **options: Any) -> Claim:
    pump.service.start_execution(name, "one", json.dumps(INPUT))
    (claim,) = pump.store.claim(LOST, [QUEUE], {RESOURCE}, limit=1, lease_seconds=0.0, **options)
    return claim


def _answers(claim: Claim) -> tuple[int, str, str, int, str]:
    return claim.execution, claim.frame, claim.token, claim.delivery, claim.worker


def _result(claim: Claim) -> TaskSucceeded:
    return TaskSucceeded(*_answers(claim), Payload.of("kept"), claim.claimed_at)


def _dump(url: str, path: Path) -> None:
    """Write all rows as JSON: the schema is made by the migrations, which never change."""
    engine = sa.create_engine(url)
    rows: dict[str, list[dict[str, object]]] = {}
    with engine.connect() as connection:
        for table in metadata.sorted_tables:
            found = connection.execute(sa.select(table)).mappings()
            rows[table.name] = [
                {name: _text(value) for name, value in row.items() if value is not None}
                for row in found
            ]
    engine.dispose()
    path.write_text(json.dumps(rows, indent=1) + "\n")


def _text(value: object) -> object:
    return {"moment": value.isoformat()} if isinstance(value, datetime) else value


def main() -> None:
    """Write the fixtures of this release."""
    folder = FIXTURES / newest()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / SQLITE
        migrate(f"sqlite:///{path}")
        with Pump(f"sqlite:///{path}") as pump:
            fill(pump)
        engine = sa.create_engine(f"sqlite:///{path}", isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            (folder / SQLITE).unlink(missing_ok=True)
            connection.execute(sa.text(f"VACUUM INTO '{folder / SQLITE}'"))
        engine.dispose()
    server = PostgresServer()
    try:
        server.start()
        url = create_database(server.admin_url).render_as_string(hide_password=False)
        migrate(url)
        with Pump(url) as pump:
            fill(pump)
        _dump(url, folder / POSTGRES)
    finally:
        server.remove()
    sys.stdout.write(f"{folder}\n")


if __name__ == "__main__":
    main()
