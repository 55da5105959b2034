"""A mutant is tried in a copy of the tree, never in the tree itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Final

from tests.mutants.mutant import Mutant, Seeds, Tests

ROOT: Final = Path(__file__).resolve().parents[2]
COPIED: Final = ("orchestrator", "tests", "workers", "definitions")
MOST_SECONDS: Final = 600


class Verdict(StrEnum):
    """What became of a mutant."""

    CAUGHT = "caught"
    SURVIVED = "SURVIVED"
    BROKEN = "BROKEN"
    """The guard is not where the table says, or its catcher could not even run."""


def tried(mutant: Mutant) -> tuple[Verdict, float]:
    """Take the guard out of a copy and see who notices; also how many seconds that took."""
    began = time.monotonic()
    with _copy() as tree:
        if not _changed(tree, mutant):
            return Verdict.BROKEN, 0.0
        verdict, _ = _run(tree, mutant.caught_by)
    return verdict, time.monotonic() - began


def sound(catcher: Tests | Seeds) -> str:
    """What is wrong with a catcher where every guard stands; empty: nothing."""
    with _copy() as tree:
        verdict, output = _run(tree, catcher)
    return "" if verdict is Verdict.SURVIVED else output[-2_000:]


@contextmanager
def _copy() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mutant-") as made:
        tree = Path(made)
        for name in COPIED:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, tree / name, ignore=ignored)
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / name, tree)
        yield tree


def _changed(tree: Path, mutant: Mutant) -> bool:
    for file, (old, new) in zip(mutant.files, mutant.change, strict=True):
        text = (tree / file).read_text()
        if text.count(old) != 1:
            return False
        (tree / file).write_text(text.replace(old, new))
    return True


def _run(tree: Path, catcher: Tests | Seeds) -> tuple[Verdict, str]:
    try:
        done = subprocess.run(
            [sys.executable, "-m", *_arguments(catcher)],
            cwd=tree,
            env={
                **os.environ,
                "PYTHONPATH": str(tree),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONHASHSEED": "0",
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Verdict.CAUGHT, "it took too long"
    output = done.stdout + done.stderr
    if done.returncode == 0:
        return Verdict.SURVIVED, output
    noticed = " failed" in output and done.returncode == 1
    return (Verdict.CAUGHT if noticed else Verdict.BROKEN), output


def _arguments(catcher: Tests | Seeds) -> list[str]:
    match catcher:
        case Tests(nodes):
            return ["pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *nodes]
        case Seeds(first, count):
            seeds = ("--seed", f"{first}", "--seeds", f"{count}")
            return ["orchestrator", "simulate", "--fail-fast", *seeds]
