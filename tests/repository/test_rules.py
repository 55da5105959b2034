"""Rules of the house that nothing else checks: files by state type, words, one caller of decide."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from orchestrator.asl import states as language
from orchestrator.asl.limits import Limits

ROOT = Path(__file__).resolve().parents[2]
ORCHESTRATOR = ROOT / "orchestrator"
CODE = sorted([*ORCHESTRATOR.rglob("*.py"), *(ROOT / "workers").rglob("*.py")])
STATE_TYPES = ("await", "choice", "fail", "map", "parallel", "pass", "succeed", "task", "wait")
DECIDE = "orchestrator.execution.decide"
MODEL = "orchestrator/simulation/model.py"
"""What ought to come out: a second run of the decision, beside the engine's."""


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def named(path: Path) -> Iterator[str]:
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name


@pytest.mark.parametrize("state_type", STATE_TYPES)
def test_each_state_type_has_one_file_of_the_language_and_one_of_the_execution(
    state_type: str,
) -> None:
    for folder in ("asl", "execution"):
        found = [
            path
            for path in (ORCHESTRATOR / folder / "states").glob("*.py")
            if path.stem.rstrip("_") == state_type
        ]
        assert len(found) == 1
    assert hasattr(language, state_type.capitalize())


def test_only_the_engine_decides() -> None:
    callers = {str(path.relative_to(ROOT)) for path in CODE if DECIDE in set(imports(path))} - {
        MODEL
    }
    assert callers == {"orchestrator/engine/decider.py"}


def test_nothing_on_the_way_to_a_decision_reads_the_history() -> None:
    for folder in ("asl", "execution", "engine", "dispatch"):
        for path in (ORCHESTRATOR / folder).rglob("*.py"):
            assert not re.search(r"store\.history\(", path.read_text()), path


def test_no_name_says_nothing() -> None:
    hollow = re.compile(
        r"(Manager|Util|Utils|Factory|Impl)$|^(manager|utils?|factory|common|base)$"
    )
    found = [(path.name, name) for path in CODE for name in named(path) if hollow.search(name)]
    assert found == []


def test_every_limit_is_enforced_somewhere() -> None:
    texts = "\n".join(path.read_text() for path in CODE if path.name != "limits.py")
    unused = {
        limit.name
        for limit in fields(Limits)
        if not re.search(rf"(limits|DEFAULT)\.{limit.name}\b", texts)
    }
    assert unused == set()
