"""Definitions and verdicts of others: what people run, and what AWS and its tools accept.

The data is third-party and stays outside the checkout: the fixture `shared` finds it or skips.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.asl.definition import express_findings, parse
from orchestrator.asl.diagnostics import Severity
from orchestrator.asl.document import Json


@dataclass(frozen=True, slots=True)
class Verdict:
    """What we say of a definition."""

    valid: bool
    errors: tuple[str, ...]


def verdict(text: str, *, express: bool = False) -> Verdict:
    read = parse(text)
    findings = read.findings
    if express and read.machine is not None:
        findings += express_findings(read.machine)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    return Verdict(not errors, tuple(str(finding) for finding in errors))


def test_definitions_from_the_wild_are_read(shared: Path) -> None:
    files = [one for one in (shared / "definitions").glob("*.json") if one.name != "index.json"]
    said = {one.name: verdict(one.read_text()) for one in files}
    assert len(said) == 236
    assert {name: one.errors for name, one in said.items() if not one.valid} == {}


# How much of a group must agree; third parties want blanks around an expression, AWS does not.
AGREEMENT = {"validation": 1.0, "validation-third-party": 0.9}


@pytest.mark.parametrize("group", AGREEMENT)
def test_verdicts_and_messages_agree_with_others(shared: Path, group: str) -> None:
    agreed, differing = 0, []
    for file in sorted((shared / "conformance" / "cases" / group).glob("*.json")):
        case = json.loads(file.read_text())
        for text, express, expected, message in judgements(case):
            said = verdict(text, express=express)
            words = f"Invalid State Machine Definition: '{', '.join(said.errors)}'"
            if said.valid is expected and message in (None, words):
                agreed += 1
            else:
                differing.append(f"{file.stem}: {said.errors}")
    total = agreed + len(differing)
    print(f"\n{group}: {agreed} of {total} agree")  # noqa: T201  # the figures are what this test is for
    assert agreed >= AGREEMENT[group] * total, differing


def judgements(case: dict[str, Json]) -> Iterator[tuple[str, bool, bool, str | None]]:
    """Yield text, whether it is for EXPRESS, whether it is valid, and the message if recorded."""
    expected = case.get("expect")
    if isinstance(expected, dict) and "valid" in expected:
        yield definition_of(case), False, expected["valid"] is True, text_of(expected, "message")
    for step in items(case.get("steps")):
        params = step.get("params")
        if not isinstance(params, dict) or "definition" not in params:
            continue
        refused = step.get("expect_error")
        answer = step.get("expect")
        message = text_of(refused, "message") if isinstance(refused, dict) else None
        failed = isinstance(answer, dict) and answer.get("result") == "FAIL"
        valid = not failed and refused is None
        yield definition_of(params), params.get("type") == "EXPRESS", valid, message


def definition_of(holder: dict[str, Json]) -> str:
    text = holder.get("definition_text", holder.get("definition"))
    return text if isinstance(text, str) else json.dumps(text)


def items(value: Json) -> list[dict[str, Json]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text_of(holder: dict[str, Json], key: str) -> str | None:
    value = holder.get(key)
    return value if isinstance(value, str) else None


def test_what_ran_on_aws_is_accepted(shared: Path) -> None:
    seen, refused = 0, []
    for file in sorted((shared / "conformance" / "cases").glob("*/*.json")):
        case = json.loads(file.read_text())
        expected = case.get("expect")
        if not case.keys() & {"definition", "definition_text"}:
            continue
        if not isinstance(expected, dict) or "status" not in expected:
            continue
        said = verdict(definition_of(case))
        seen += 1
        if not said.valid:
            refused.append(f"{file.stem}: {said.errors}")
    assert seen > 400
    assert refused == []
