"""What is told of a Map says which iteration it is of."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from orchestrator.cli.story import Story
from orchestrator.handlers import handler
from orchestrator.main import embedded
from tests.cli.conftest import Call, definition
from tests.conftest import ROOT
from tests.workers.deployment import until

File = Callable[[str, str], Path]

PASS = {"Type": "Pass", "End": True}


def each(states: dict[str, object], **more: object) -> dict[str, object]:
    processor = {"StartAt": next(iter(states)), "States": states}
    return {"Type": "Map", "ItemProcessor": processor, **more}


NESTED = definition(
    Outer=each({"Inner": each({"Deep": PASS}, Next="After"), "After": PASS}, Next="Last"), Last=PASS
)
IN_TURN = definition(
    Each=each({"One": {"Type": "Pass", "Next": "Two"}, "Two": PASS}, MaxConcurrency=1, Next="Last"),
    Last=PASS,
)


def told(answer: str) -> list[str]:
    return re.findall(r"^ +[\d.]+ s  (\w+(?: \[\d+\])?) ", answer, re.MULTILINE)


def test_states_of_a_map_are_told_with_their_iteration(call: Call, file: File) -> None:
    answer = call("run", file("nested.json", NESTED), "--input", "[[1, 2], [3]]")
    inner = ["Inner [0]", "Inner [1]", "Deep [0]", "Deep [0]", "Deep [1]", "After [0]", "After [1]"]
    assert sorted(told(answer.err)) == sorted(["Outer", *inner, "Last"])


def test_iterations_that_begin_when_others_have_ended_are_told_as_well(
    call: Call, file: File
) -> None:
    answer = call("run", file("turns.json", IN_TURN), "--input", "[1, 2]")
    assert told(answer.err) == ["Each", "One [0]", "Two [0]", "One [1]", "Two [1]", "Last"]


def test_every_state_of_an_execution_that_has_ended_was_left(tmp_path: Path) -> None:
    story = Story()
    with embedded(tmp_path, []) as parts:
        parts.service.deploy("nested", NESTED)
        start = parts.service.start_execution("nested", "n", json.dumps([[1, 2], [3]]))
        list(story.tell(parts.service.whole_history(start.address)))
    assert [line.title for line in story.states if line.left_at is None] == []


def test_what_is_undone_is_told_of_the_state_that_did_it(call: Call) -> None:
    folder = ROOT / "definitions"
    given = f"@{folder / 'inputs' / 'order-fulfilment' / 'declined.json'}"
    answer = call("run", folder / "order-fulfilment.asl.json", "--input", given)
    assert answer.code == 1
    lines = [" ".join(line.split()[2:]) for line in answer.err.splitlines()]
    for n, sku in enumerate(("TEAPOT", "CUP")):
        assert f"ReserveItem [{n}] undoing asks celery:inventory.release" in lines
        (undone,) = [line for line in lines if line.startswith(f"ReserveItem [{n}] is undone")]
        assert sku in undone
    undoing = lines.index("GiveBack undoes what was done, newest first")
    assert undoing < lines.index("NotifyCancelled begins")


def test_a_state_that_undoes_is_left_like_any_other(tmp_path: Path) -> None:
    undoes = definition(
        A={
            "Type": "Task",
            "Resource": "celery:undone.a",
            "Compensate": {"Resource": "celery:undone.a", "Parameters": {}},
            "Next": "Undo",
        },
        Undo={"Type": "Compensate", "Next": "Last"},
        Last=PASS,
    )
    handler("undone.a")(lambda: None)
    story = Story()
    with embedded(tmp_path, []) as parts:
        parts.service.deploy("undoes", undoes)
        address = parts.service.start_execution("undoes", "n").address
        until(lambda: parts.service.find_execution(address).ended_at is not None)
        list(story.tell(parts.service.whole_history(address)))
    assert [(line.title, line.said) for line in story.states] == [
        ("A", "undone"),
        ("Undo", "done"),
        ("Last", "done"),
    ]
    assert all(line.left_at for line in story.states)
