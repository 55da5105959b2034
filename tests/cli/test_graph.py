"""`orchestrator graph`: a picture as a file, or on standard output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import PASSES, Call, definition

File = Callable[[str, str], Path]


def test_graph_draws_a_definition(call: Call, file: File, tmp_path: Path) -> None:
    source = file("greet.asl.json", PASSES)
    printed = call("graph", source)
    assert printed.code == 0
    assert printed.out.startswith("<svg ")
    assert 'data-state="Greet"' in printed.out
    assert call("graph", source, "-o", "greet.svg").out == ""
    assert (tmp_path / "greet.svg").read_text() == printed.out


def test_graph_says_what_keeps_it_from_drawing(call: Call, file: File) -> None:
    bad = call("graph", file("bad.asl.json", definition(A={"Type": "Pass"})))
    assert bad.code == 2
    assert "ERROR /States/A" in bad.out
    nowhere = call("graph", file("greet.asl.json", PASSES), "-o", "no/such/folder.svg")
    assert nowhere.code == 2
    assert "no/such/folder.svg cannot be written" in nowhere.err
