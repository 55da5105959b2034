"""`orchestrator saga`: the order of undoing, as text and as JSON, for the service's callers too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator import main
from orchestrator.asl.definition import parse
from orchestrator.service import MachineDoesNotExist, order_of_undoing
from tests.cli.conftest import PASSES, Call, definition

File = Callable[[str, str], Path]


def task(then: str | None, undo: str | None = None, **fields: Any) -> dict[str, Any]:
    way = {"End": True} if then is None else {"Next": then}
    saga = {} if undo is None else {"Compensate": {"Resource": f"celery:{undo}"}}
    return {"Type": "Task", "Resource": "celery:do", **way, **saga, **fields}


def scope(**states: Any) -> dict[str, Any]:
    return {"StartAt": next(iter(states)), "States": states}


SAGA = definition(
    Begin=task("Rooms", "close"),
    Rooms={
        "Type": "Map",
        "MaxConcurrency": 2,
        "ItemProcessor": scope(Room=task("Key", "free"), Key=task(None)),
        "Next": "Both",
    },
    Both={
        "Type": "Parallel",
        "Branches": [scope(Car=task(None, "return")), scope(Flight=task(None))],
        "Catch": [{"ErrorEquals": ["NoCar"], "Compensate": True, "Next": "Rest"}],
        "Next": "Again",
    },
    Again=task("Which", "erase"),
    Which={
        "Type": "Choice",
        "Choices": [{"Variable": "$.n", "IsNull": True, "Next": "Again"}],
        "Default": "Pay",
    },
    Pay=task("Rest", "refund", Pivot=True, CompensateUnknown=True),
    Rest={"Type": "Wait", "Seconds": 1, "Next": "Undo"},
    Undo={"Type": "Compensate", "Next": "Stop"},
    Stop={"Type": "Fail"},
)

SAID = """\
Begin fails: nothing is undone
Rooms fails:
  1. Rooms, side by side, 2 at most:
     - each iteration:
         free (Room), if it was done
  2. close (Begin)
Room fails:
  1. Rooms, side by side, 2 at most:
     - each other iteration:
         free (Room), if it was done
  2. close (Begin)
Key fails:
  1. Rooms, side by side, 2 at most:
     - the iteration that failed:
         free (Room)
     - each other iteration:
         free (Room), if it was done
  2. close (Begin)
Both fails:
  Both catches NoCar → Rest:
    Both, side by side:
    - return (Car), if it was done
  nothing catches it:
    1. Both, side by side:
       - return (Car), if it was done
    2. Rooms, side by side, 2 at most:
       - each iteration:
           free (Room)
    3. close (Begin)
"""


def test_saga_prints_what_is_undone_at_each_failure(call: Call, file: File) -> None:
    answer = call("saga", file("saga.asl.json", SAGA))
    assert answer.code == 0
    assert answer.out.startswith(SAID)
    lines = answer.out.splitlines()
    which = lines.index("Again or Which fails:")
    assert lines[which + 1 : which + 3] == [
        "  1. each of these as often as it was done, newest first:",
        "       erase (Again), if it was done",
    ]
    pay = lines.index("Pay fails:")
    assert lines[pay + 1] == "  1. refund (Pay), if nobody knows whether it was done"
    rest = lines.index("Rest is stopped:")
    assert lines[rest + 1].startswith("  1. Rooms, if it was done, side by side")
    assert "Undo undoes:" in lines
    assert lines[-1] == "Stop is reached: nothing is undone"


def test_saga_as_json_is_what_the_service_answers(call: Call, file: File) -> None:
    found = call("saga", file("saga.asl.json", SAGA), "--json").json
    machine = parse(SAGA).machine
    assert machine is not None
    assert found == [failure.value for failure in order_of_undoing(machine)]
    assert found[0] == {
        "state": "Begin",
        "type": "Task",
        "outcomes": [{"then": "end", "at": None, "errors": [], "next": None, "undone": []}],
        "leftOut": 0,
    }


def test_the_service_tells_it_of_a_deployed_machine(sqlite_url: str) -> None:
    parts = main.build(main.settings(sqlite_url))
    try:
        parts.service.deploy("trip", PASSES)
        parts.service.deploy("trip", SAGA)
        told = parts.service.machines.order_of_undoing("trip")
        with pytest.raises(MachineDoesNotExist):
            parts.service.machines.order_of_undoing("other")
    finally:
        parts.store.dispose()
    machine = parse(SAGA).machine
    assert machine is not None
    assert told == order_of_undoing(machine)


def test_saga_says_what_keeps_it_from_reading(call: Call, file: File) -> None:
    bad = call("saga", file("bad.asl.json", definition(A={"Type": "Pass"})))
    assert bad.code == 2
    assert "has errors: orchestrator validate" in bad.err
    assert call("saga", "nowhere.json").code == 2
    assert call("saga", file("greet.asl.json", PASSES)).out == "nothing is undone\n"
