"""Faults that people met in other interpreters of the language: here the right value comes out.

The reports are third-party data and stay outside the checkout: the fixture `shared` finds them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

from orchestrator.asl.limits import DEFAULT, STRICT_AWS
from tests.execution.harness import World
from tests.execution.outcomes import Call, Handler, Outcome, Raised, Returned

STRICT = {"A43", "A44"}
"""They are about limits, which only strict-aws has."""

LAMBDA = "arn:aws:lambda:us-east-1:123456789012:function:"

Case = dict[str, Any]


def expanded(value: Any) -> Any:
    """Return a value with its repetitions written out."""
    match value:
        case {"$repeat": [str(text), int(times)]}:
            return text * times
        case dict():
            return {key: expanded(inner) for key, inner in value.items()}
        case list():
            return [expanded(inner) for inner in value]
        case _:
            return value


def scripted(tasks: dict[str, list[Case]], started: list[float], world: list[World]) -> Handler:
    turns: Counter[str] = Counter()

    def handle(call: Call) -> Outcome:
        (name,) = (one for one in tasks if one.endswith(call.resource.rpartition(":")[2]))
        behaviour = tasks[name][turns[name]]
        turns[name] += 1
        started.append(world[0].seconds)
        after = behaviour.get("sleep", 0)
        if "error" in behaviour:
            return Raised(behaviour["error"], behaviour.get("cause"), after)
        return Returned(expanded(behaviour["result"]), after)

    return handle


def faults(case: Case) -> list[str]:
    """Return what is not as it must be."""
    test = case["test"]
    started: list[float] = []
    worlds: list[World] = []
    handler = scripted(test.get("tasks", {}), started, worlds)
    limits = STRICT_AWS if case["id"] in STRICT else DEFAULT
    definition = json.dumps(test["definition"]).replace(LAMBDA, "celery:")  # which adds nothing
    world = World(definition, handler, limits)
    worlds.append(world)
    world.run(expanded(test["input"]))
    wanted = [test["expect"], *test["expect"].get("any_of", [])]
    return min((differences(world, started, one) for one in wanted if "status" in one), key=len)


def differences(world: World, started: list[float], expected: Case) -> list[str]:
    output = None if world.output is None else world.output.value
    seen: Case = {
        "status": world.status,
        "error": world.error,
        "output": output,
        "task_calls": len(world.calls),
        "task_inputs": [call.input for call in world.calls],
    }
    found = [
        f"{name}: {str(seen[name])[:200]}, not {str(wanted)[:200]}"
        for name, wanted in expected.items()
        if name in seen and seen[name] != expanded(wanted)
    ]
    if world.seconds > expected.get("max_seconds", world.seconds):
        found.append(f"it took {world.seconds} s")
    bounds = expected.get("seconds_between", [])
    for (least, most), (one, after) in zip(bounds, pairwise(started), strict=False):
        if not least <= after - one <= most:
            found.append(f"{after - one} s between two attempts, not {least} to {most}")
    for key, pattern in expected.get("output_regex", {}).items():
        if not isinstance(output, dict) or not re.fullmatch(pattern, str(output[key])):
            found.append(f"{key}: {output}")
    types = Counter(world.types)
    found += [
        f"{types[one]} times {one}, not {count}"
        for one, count in expected.get("history", {}).items()
        if types[one] != count
    ]
    numbers = expected.get("output_exact_text_numbers")
    if numbers is not None and world.output is not None:
        found += [one for one in numbers.values() if one not in world.output.text]
    return found


def test_no_fault_of_other_interpreters_is_ours(shared: Path) -> None:
    lines = (shared / "bugcases" / "bugcases.jsonl").read_text().splitlines()
    cases = [json.loads(line) for line in lines]
    ours = [one for one in cases if one["field"] == "a" and one["test"]["kind"] == "asl"]
    table = {one["id"]: faults(one) for one in ours}
    assert len(table) == 34
    assert {name: found for name, found in table.items() if found} == {}
