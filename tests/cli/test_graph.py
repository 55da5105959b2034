"""`orchestrator graph`: a picture as a file, or on standard output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import PASSES, WAITS, Call, definition

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


def test_graph_colours_the_states_of_an_execution(
    on_sqlite: Call, file: File, tmp_path: Path
) -> None:
    source = file("rest.asl.json", WAITS)
    assert on_sqlite("deploy", source).code == 0
    assert on_sqlite("start", "rest", "--name", "1").code == 0
    drawn = on_sqlite("graph", source, "--execution", "rest:1", "-o", "rest.svg")
    assert drawn.code == 0, drawn.err
    assert 'data-state="Rest" data-mark="waiting"' in (tmp_path / "rest.svg").read_text()
    unknown = on_sqlite("graph", source, "--execution", "rest:2")
    assert unknown.code == 2
    assert "rest:2" in unknown.err
