"""What AWS was seen to do, as far as single values show it: Pass, Choice and Fail states."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.asl.choices import compile_rule
from orchestrator.asl.document import Json, equal
from orchestrator.asl.draw import Draw
from orchestrator.asl.errors import StateFailure
from orchestrator.asl.expressions import compile_expression
from orchestrator.asl.paths import compile_path, compile_reference_path, place
from orchestrator.asl.templates import compile_template

FEWEST = {"intrinsic-functions": 80, "choice": 300, "pass": 16, "fail-succeed": 4}
"""How many runs of each group must have been compared, lest none was."""

CONTEXT: Json = {
    "Execution": {"Input": {}, "Id": "arn:x:y", "Name": "n"},
    "StateMachine": {"Name": "a-b-c"},
}


class NotOurs(Exception):
    """A state that takes more than evaluation."""


def _path(state: Any, field: str, value: Json, context: Json) -> Json:
    text = state.get(field, "$")
    return {} if text is None else compile_path(text).read(value, lambda: context)


def _pass(state: Any, value: Json, effective: Json, context: Json) -> Json:
    if "Parameters" in state:
        template = compile_template(state["Parameters"])
        effective = template.render(effective, lambda: context, Draw(b"recorded"))
    result = state.get("Result", effective)
    target = state.get("ResultPath", "$")
    return value if target is None else place(value, compile_reference_path(target), result)


def _choose(state: Any, value: Json, context: Json) -> str | None:
    for choice in state["Choices"]:
        rule = {key: part for key, part in choice.items() if key != "Next"}
        if compile_rule(rule).holds(value, lambda: context):
            return str(choice["Next"])
    default: str | None = state.get("Default")
    return default


def _fail(state: Any, value: Json, context: Json) -> dict[str, Any]:
    ended = {"status": "FAILED", "error": state.get("Error"), "cause": state.get("Cause")}
    for field in ("Error", "Cause"):
        if field + "Path" in state:
            expression = compile_expression(state[field + "Path"])
            ended[field.lower()] = expression.value(
                field + "Path", value, lambda: context, Draw(b"recorded")
            )
    return ended


def run(definition: Any, given: Json) -> dict[str, Any]:
    """Run a machine that only evaluates."""
    context: Json = {**CONTEXT, "Execution": {**CONTEXT["Execution"], "Input": given}}  # type: ignore[dict-item,index,call-overload]
    value, name = given, definition["StartAt"]
    try:
        while True:
            state = definition["States"][name]
            if state["Type"] not in ("Pass", "Choice", "Succeed", "Fail") or "Assign" in state:
                raise NotOurs
            if "JSONata" in (state.get("QueryLanguage"), definition.get("QueryLanguage")):
                raise NotOurs
            if state["Type"] == "Fail":
                return _fail(state, value, context)
            effective = _path(state, "InputPath", value, context)
            following = state.get("Next")
            if state["Type"] == "Pass":
                effective = _pass(state, value, effective, context)
            if state["Type"] == "Choice":
                following = _choose(state, effective, context)
            value = _path(state, "OutputPath", effective, context)
            if following is None:
                return {"status": "SUCCEEDED", "output": value}
            name = following
    except StateFailure as failed:
        failure = failed.failure
        return {"status": "FAILED", "error": failure.error, "cause": failure.cause}


def normal(value: Any) -> Any:
    """Parse texts that hold JSON: the recordings do not tell them apart."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return normal(json.loads(value))
        except ValueError:
            return value
    if isinstance(value, dict):
        return {key: normal(inner) for key, inner in value.items()}
    return [normal(inner) for inner in value] if isinstance(value, list) else value


def like(expected: Any, found: Any) -> bool:
    """Compare; `<any>` stands for anything."""
    if expected == "<any>":
        return True
    if isinstance(expected, str) and "<any>" in expected and isinstance(found, str):
        before, after = expected.split("<any>")[0], expected.split("<any>")[-1]
        return found.startswith(before) and found.endswith(after)
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(
            like(inner, found[key]) for key, inner in expected.items()
        )
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(like, expected, found))
    return equal(expected, found)


def runs(shared: Path, group: str) -> Iterator[tuple[str, Any, Any, Any]]:
    for file in sorted((shared / "conformance" / "cases" / group).glob("*.json")):
        case = json.loads(file.read_text())
        for one in case.get("runs", [case]):
            definition = one.get("definition", case.get("definition"))
            if isinstance(definition, dict) and "input_text" not in one:
                yield case["id"], definition, one.get("input", {}), one["expect"]


def agrees(expected: Any, found: dict[str, Any]) -> bool:
    if expected["status"] != found["status"]:
        return False
    if "output" in expected:
        return like(normal(expected["output"]), normal(found["output"]))
    cause = expected.get("cause")
    recorded = cause.split("). ", 1)[-1] if cause else cause
    if expected.get("error") == "States.NoChoiceMatched":
        return True
    return expected.get("error") == found["error"] and like(recorded, found["cause"])


@pytest.mark.parametrize("group", sorted(FEWEST))
def test_recorded_runs_come_out_as_recorded(shared: Path, group: str) -> None:
    compared = 0
    for name, definition, given, expected in runs(shared, group):
        try:
            found = run(definition, given)
        except NotOurs:
            continue
        if expected["status"] == "FAILED" and "NoChoiceMatched" in str(expected.get("error")):
            # The engine decides what a Choice without a match fails with.
            continue
        assert agrees(expected, found), f"{name}: {expected} expected, {found} found"
        compared += 1
    assert compared >= FEWEST[group]
