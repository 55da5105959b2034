"""What AWS was recorded to do, done here: outcomes and whole histories."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from orchestrator.asl.limits import STRICT_AWS
from orchestrator.execution.history import to_aws
from tests.execution.harness import World
from tests.execution.outcomes import Call, Handler, Hung, Outcome, Raised, Returned

GROUPS = (
    "arguments",
    "choice",
    "comments",
    "context-object",
    "fail-succeed",
    "intrinsic-functions",
    "jsonata",
    "jsonata-suite",
    "map-inline",
    "output",
    "parallel",
    "pass",
    "query-language",
    "retry-catch",
    "task-lambda",
    "timeouts",
    "variables",
    "wait",
)
OUTCOMES, HISTORIES = 0.98, 0.90

Case = dict[str, Any]


@pytest.fixture(scope="module")
def comparison(shared: Path) -> ModuleType:
    """The corpus's own runner, for its rules of comparison; it talks to no server here."""
    path = shared / "conformance" / "run_cases.py"
    absent = [name for name in ("boto3",) if importlib.util.find_spec(name) is None]
    stand_ins = {name: ModuleType(name) for name in ("boto3", "botocore")} if absent else {}
    if absent:
        for name, attributes in (("config", ("Config",)), ("exceptions", _EXCEPTIONS)):
            module = ModuleType(f"botocore.{name}")
            for attribute in attributes:
                setattr(module, attribute, type(attribute, (Exception,), {}))
            stand_ins[module.__name__] = module
    spec = importlib.util.spec_from_file_location("run_cases", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        for name, stand_in in stand_ins.items():
            patch.setitem(sys.modules, name, stand_in)
        spec.loader.exec_module(module)
    return module


_EXCEPTIONS = ("ClientError", "ParamValidationError")


def cases(shared: Path) -> list[Case]:
    found = []
    for group in GROUPS:
        for path in sorted((shared / "conformance" / "cases" / group).glob("*.json")):
            case: Case = json.loads(path.read_text())
            text = json.dumps([case.get("definition"), case.get("runs")])
            if "waitForTaskToken" not in text:
                found.append(case)
    assert found
    return found


def scripted(case: Case) -> Handler:
    """Return what plays the case's handlers: by state from its history, or by function."""
    by_state = {state: iter(outcomes) for state, outcomes in (case.get("mocks") or {}).items()}
    workers = case.get("workers") or {}
    turns: Counter[str] = Counter()

    def handle(call: Call) -> Outcome:
        if call.state in by_state and not case.get("mock_order_sensitive"):
            return outcome(next(by_state[call.state]), call)
        function = call.resource.removeprefix("lambda:")
        behaviours = workers[function]
        turn = min(turns[function], len(behaviours) - 1)
        turns[function] += 1
        return outcome(behaviours[turn], call)

    return handle


def outcome(behaviour: Case, call: Call) -> Outcome:
    if behaviour.get("timeout") or behaviour.get("hang"):
        return Hung()
    if "error" in behaviour:
        return Raised(behaviour["error"], behaviour.get("cause"))
    if "output_repeat" in behaviour:
        repeat = behaviour["output_repeat"]
        return Returned(repeat["char"] * repeat["count"])
    if behaviour.get("echo"):
        return Returned(call.input, behaviour.get("delay_seconds", 0))
    return Returned(behaviour["output"])


def run(case: Case, comparison: ModuleType) -> dict[str, str | None]:
    """Return what differs, per level; the runs of a table case are one case."""
    differs: dict[str, str | None] = {}
    for one in case.get("runs") or [case]:
        definition = json.dumps(one.get("definition", case["definition"]))
        given = one["input_text"] if one.get("input_text") else json.dumps(one.get("input"))
        world = World(definition, scripted(case), STRICT_AWS).run(json.loads(given))
        seen: Case = {"status": world.status, "error": world.error, "cause": world.cause}
        if world.output is not None:
            seen["output"] = comparison.jparse(world.output.text)
        found = comparison.compare_outcome(one["expect"], seen)
        if one["expect"].get("history"):
            history = [to_aws(event) for event in world.history]
            found |= comparison.compare_history(one["expect"], history)
        for level, difference in found.items():
            differs[level] = differs.get(level) or difference
    return differs


def test_recorded_executions_end_and_are_recorded_as_on_aws(
    shared: Path, comparison: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    table: dict[str, Counter[str]] = defaultdict(Counter)
    failing: list[str] = []
    for case in cases(shared):
        try:
            differs = run(case, comparison)
        except Exception as error:  # noqa: BLE001  # a case that raises is a case that fails
            differs = {"outcome": f"{type(error).__name__}: {error}"}
        row = table[case["group"]]
        row["cases"] += 1
        holds = True
        for level in comparison.LEVELS:
            holds = holds and not differs.get(level)
            row[level] += holds
        if not holds:
            level, difference = next((k, v) for k, v in differs.items() if v)
            failing.append(f"{case['id']} [{level}] {difference}")
    total = sum(table.values(), Counter())
    with capsys.disabled():
        show(table, total, comparison.LEVELS, failing)
    assert total["outcome"] >= OUTCOMES * total["cases"]
    assert total["history"] >= HISTORIES * total["cases"]


def show(
    table: dict[str, Counter[str]], total: Counter[str], levels: list[str], failing: list[str]
) -> None:
    lines = ["", f"{'group':22}{'cases':>7}" + "".join(f"{level:>9}" for level in levels)]
    for group, row in [*sorted(table.items()), ("total", total)]:
        lines.append(f"{group:22}{row['cases']:>7}" + "".join(f"{row[one]:>9}" for one in levels))
    sys.stdout.write("\n".join([*lines, *failing, ""]))
