"""An execution whose history is gone goes on as if it were there: nothing reads it to decide."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import create_engine, delete

from orchestrator.execution.frame import ExecutionStatus
from orchestrator.store.tables import history
from tests.engine.pump import RESOURCE, Pump

TASK = {"Type": "Task", "Resource": RESOURCE}


def _each(**more: object) -> dict[str, object]:
    processor = {"StartAt": "Do", "States": {"Do": TASK | {"Next": "Rest"}, "Rest": _rest()}}
    return {"Type": "Map", "ItemProcessor": processor, "ItemsPath": "$.items", **more}


def _rest() -> dict[str, object]:
    return {"Type": "Wait", "Seconds": 0, "End": True}


DEFINITION = json.dumps(
    {
        "StartAt": "First",
        "States": {
            "First": TASK | {"Next": "Each"},
            "Each": _each(ResultPath="$.done", Next="Last"),
            "Last": TASK | {"End": True},
        },
    }
)


@pytest.mark.parametrize("items", [3, 20])
def test_an_execution_ends_the_same_without_its_history(database_url: str, items: int) -> None:
    given = {"items": list(range(items))}
    engine = create_engine(database_url)
    with Pump(database_url) as pump:
        address = pump.start(DEFINITION, json.dumps(given))
        while pump.turn():
            with engine.begin() as connection:
                connection.execute(delete(history))
        found = pump.service.describe_execution(address)
    engine.dispose()
    assert found.execution.status is ExecutionStatus.SUCCEEDED
    assert found.output is not None
    assert found.output.value == given | {"done": given["items"]}
