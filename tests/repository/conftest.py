"""A shell in a folder that has the definitions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repository.shell import Shell

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "definitions").symlink_to(ROOT / "definitions")
    kept = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    made = Shell(tmp_path, {}, kept)
    yield made
    for process in made.running:
        process.kill()
        process.wait()
