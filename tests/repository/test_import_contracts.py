"""Every import contract of pyproject.toml is kept, and is reported when it is broken."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Contract, the module that breaks it, and how.
BREACHES = [
    ("floors", "orchestrator/asl/breach.py", "import orchestrator.execution"),
    ("floors", "orchestrator/execution/breach.py", "import orchestrator.store"),
    ("floors", "orchestrator/store/breach.py", "import orchestrator.engine"),
    ("floors", "orchestrator/settings.py", "import orchestrator.handlers"),
    ("floors", "orchestrator/dispatch/breach.py", "import orchestrator.scheduler"),
    ("floors", "orchestrator/client.py", "import orchestrator.asl"),
    ("floors", "orchestrator/service/facade.py", "import orchestrator.main"),
    ("doors", "orchestrator/cli/breach.py", "import orchestrator.store"),
    ("pure", "orchestrator/asl/breach.py", "import time"),
    ("pure", "orchestrator/asl/breach.py", "import logging"),
    ("pure", "orchestrator/execution/breach.py", "import random"),
    ("pure", "orchestrator/execution/breach.py", "import sqlalchemy"),
    ("pure", "orchestrator/drawing/breach.py", "import time"),
    ("drawing", "orchestrator/drawing/breach.py", "import orchestrator.execution"),
    ("sql", "orchestrator/engine.py", "import sqlalchemy"),
    ("sql", "workers/breach.py", "import sqlite3"),
    ("celery", "orchestrator/engine.py", "import celery"),
    ("second-reading", "tests/asl/second_reading/breach.py", "import orchestrator.asl.paths"),
    ("product", "orchestrator/service/facade.py", "import workers"),
]


def _contracts() -> set[str]:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return {contract["id"] for contract in configuration["tool"]["importlinter"]["contracts"]}


def _lint(tree: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    chosen = [part for contract in contracts for part in ("--contract", contract)]
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-logo", *chosen],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the contracts speak of."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in ("orchestrator", "workers", "tests"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    return tmp_path


def test_all_contracts_are_kept() -> None:
    result = _lint(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_each_contract_has_a_breach() -> None:
    assert {contract for contract, _, _ in BREACHES} == _contracts()


@pytest.mark.parametrize(("contract", "module", "statement"), BREACHES)
def test_a_breach_is_reported(tree: Path, contract: str, module: str, statement: str) -> None:
    path = tree / module
    path.parent.mkdir(parents=True, exist_ok=True)
    for package in path.relative_to(tree).parents:
        if package != Path():
            (tree / package / "__init__.py").touch()
    with path.open("a") as file:
        file.write(f"\n{statement}\n")

    result = _lint(tree, contract)

    assert result.returncode == 1, result.stdout + result.stderr
    assert "BROKEN" in result.stdout
    assert statement.removeprefix("import ") in result.stdout
