"""The page of faults that people met in other engines says which test of ours shows each."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).resolve().parent
PAGE: Final = (TESTS.parent / "docs" / "faults.md").read_text()
ROWS: Final = re.findall(r"(?m)^\| ([BCDE]\d\d) .*?\| (.*) \|$", PAGE)


def _functions() -> set[str]:
    return {
        name
        for file in TESTS.rglob("*.py")
        for name in re.findall(r"(?m)^(?:    )?(?:async )?def (\w+)", file.read_text())
    }


def test_every_fault_has_tests_and_they_exist() -> None:
    there = _functions()
    assert len(ROWS) > 20
    for fault, tests in ROWS:
        named = [one for one in re.findall(r"`(\w+)`", tests) if one not in ("make", "proof")]
        assert named, fault
        assert set(named) <= there, (fault, set(named) - there)


def test_the_page_leaves_out_no_fault_that_is_known(shared: Path) -> None:
    lines = (shared / "bugcases" / "bugcases.jsonl").read_text().splitlines()
    known = {case["id"] for case in map(json.loads, lines) if case["field"] != "a"}
    assert known
    assert known == set(re.findall(r"\b[BCDE]\d\d\b", PAGE))
