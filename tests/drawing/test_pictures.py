"""The pictures in the documentation are those of the definitions as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestrator.drawing import draw
from tests.drawing.machines import machine

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
DEFINITIONS = sorted((ROOT / "definitions").glob("*.asl.json"))


@pytest.mark.parametrize("file", DEFINITIONS, ids=lambda file: file.name)
def test_pictures_are_current(file: Path) -> None:
    """`make pictures` draws them anew."""
    picture = PICTURES / f"{file.name.removesuffix('.asl.json')}.svg"
    assert picture.read_text(encoding="utf-8") == draw(machine(file.read_text())).svg()


def test_each_picture_that_is_shown_is_there() -> None:
    pages = [page.read_text() for page in (ROOT / "docs").glob("*.md")]
    shown = {one for page in pages for one in re.findall(r"\]\(pictures/([^)]*)\)", page)}
    assert shown
    for one in shown:
        assert (PICTURES / one).is_file()
