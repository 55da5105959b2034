"""Every test that the promise names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)(?:::([A-Za-z0-9_]+))?`|`::([A-Za-z0-9_]+)`")
SCENARIO = re.compile(r"\*chaos\*, ([^;|`]+)")


def test_every_test_that_the_promise_names_is_there() -> None:
    text = (ROOT / "docs" / "promise.md").read_text()
    table = text.split("## What operators have")[0].split("| what fails |")[1]
    named = 0
    for row in table.splitlines():
        path = ROOT
        for place, name, same in NAMED.findall(row):
            path = ROOT / "tests" / place if place else path
            assert path.exists(), place
            if name or same:
                assert f" {name or same}" in path.read_text(), (place, name or same)
            named += 1
    assert named > 25


def test_every_scenario_that_the_promise_names_is_there() -> None:
    from tests.chaos.faults import SCENARIOS

    text = (ROOT / "docs" / "promise.md").read_text()
    for found in SCENARIO.findall(text):
        for name in found.split(", "):
            words = name.strip().removesuffix(" …")
            if words.startswith("which"):
                continue
            assert any(one.startswith(words) for one in SCENARIOS), words
