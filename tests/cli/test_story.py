"""What is told of a Map says which iteration it is of."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from orchestrator.cli.story import Story
from orchestrator.main import embedded
from tests.cli.conftest import Call, definition

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
