"""From an empty folder: a clone shows what this is for, on a machine that has next to nothing."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.repository.prefix import python_without_ensurepip

ROOT = Path(__file__).resolve().parents[2]
LONGEST_SECONDS = 90


def _demo(clone: Path, python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "demo", *arguments],
        cwd=clone,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(clone),
            "PYTHON": str(python),
            "PIP_NO_CACHE_DIR": "1",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return python_without_ensurepip(tmp_path_factory.mktemp("python") / "prefix", has_pip=True)


def test_a_clone_shows_two_ways_of_an_order(python: Path, tmp_path: Path) -> None:
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("the demo was not tested: this is no git checkout")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)

    began_at = time.monotonic()
    paid = _demo(clone, python)
    seconds = time.monotonic() - began_at

    assert paid.returncode == 0, paid.stdout
    assert seconds < LONGEST_SECONDS
    assert "ChargeCard" in paid.stdout
    assert "OrderFulfilled" in paid.stdout
    assert "SUCCEEDED" in paid.stdout
    assert "refused in Pending: pay first" in paid.stdout
    assert "accepted: Paid → Shipped" in paid.stdout
    before, _, behind = paid.stdout.partition("\nAn order that one can talk to")
    assert "OrderFulfilled" in before
    assert behind.splitlines()[2].startswith("ship   ")

    declined = _demo(clone, python, "INPUT=definitions/inputs/order-fulfilment/declined.json")
    assert declined.returncode == 0, declined.stdout
    assert "CardDeclined" in declined.stdout
    assert "OrderFulfilled" not in declined.stdout
    assert "FAILED" in declined.stdout
