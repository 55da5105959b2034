"""The definitions that the documentation shows are valid, without a warning."""

from __future__ import annotations

import re
from pathlib import Path

from orchestrator.asl.definition import parse

DOCS = Path(__file__).resolve().parents[2] / "docs"
_BLOCK = re.compile(r"```json\n(.*?)```", re.DOTALL)


def test_documented_definitions_are_valid() -> None:
    blocks = [
        block for page in DOCS.glob("*.md") for block in _BLOCK.findall(page.read_text("utf-8"))
    ]
    definitions = [block for block in blocks if '"StartAt"' in block]
    assert definitions
    for definition in definitions:
        assert parse(definition).findings == ()
