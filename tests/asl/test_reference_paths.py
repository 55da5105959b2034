"""Where a result is put."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.asl.document import Json
from orchestrator.asl.errors import StateFailure
from orchestrator.asl.paths import PathSyntaxError, compile_reference_path, place
from tests.asl import generation


def put(document: Json, path: str, value: Json) -> Json:
    return place(document, compile_reference_path(path), value)


@pytest.mark.parametrize(
    ("document", "path", "placed"),
    [
        ({"a": 1}, "$", "new"),
        ("text", "$", "new"),
        ({"a": 1}, "$.b", {"a": 1, "b": "new"}),
        ({"a": 1}, "$.a", {"a": "new"}),
        ({"a": {"b": 1, "c": 2}}, "$.a.b", {"a": {"b": "new", "c": 2}}),
        ({}, "$.a.b.c", {"a": {"b": {"c": "new"}}}),
        ({"a": {}}, "$['a']['d e'].f", {"a": {"d e": {"f": "new"}}}),
        ({"a": [1, 2, 3]}, "$.a[1]", {"a": [1, "new", 3]}),
        ({"a": [1, {"b": 2}]}, "$.a[1].c.d", {"a": [1, {"b": 2, "c": {"d": "new"}}]}),
        ([1, 2], "$[0]", ["new", 2]),
    ],
)
def test_a_value_is_put_at_its_place_and_what_is_missing_is_created(
    document: Json, path: str, placed: Json
) -> None:
    assert put(document, path, "new") == placed


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ("text", "$.a"),
        (None, "$.a"),
        ([1], "$.a"),
        ({"a": 1}, "$.a.b"),
        ({"a": None}, "$.a.b"),
        ({"a": [1]}, "$.a.b"),
        ({"a": [1]}, "$.a[1]"),
        ({"a": [1]}, "$.a[-1]"),
        ({"a": {}}, "$.a[0]"),
        ({}, "$.a[0]"),
        ({"a": "text"}, "$.a[0]"),
    ],
)
def test_what_is_in_the_way_makes_the_state_fail(document: Json, path: str) -> None:
    with pytest.raises(StateFailure) as failed:
        put(document, path, "new")
    assert failed.value.failure.error == "States.ResultPathMatchFailure"
    assert path in (failed.value.failure.cause or "")
    assert json.dumps(document) in (failed.value.failure.cause or "").replace('":', '": ')


@given(generation.documents, generation.definite_paths, st.just("new"))
def test_placing_leaves_the_document_alone_and_can_be_read_again(
    document: Json, path: str, value: Json
) -> None:
    before = json.dumps(document)
    reference = compile_reference_path(path)
    try:
        placed = place(document, reference, value)
    except StateFailure:
        placed = None
    else:
        assert reference.read(placed, lambda: None) == value
    assert json.dumps(document) == before
    if placed is not None and isinstance(document, dict) and isinstance(placed, dict):
        untouched = document.keys() - set(map(str, reference.steps[:1]))
        assert all(placed[key] is document[key] for key in untouched if reference.steps)


@pytest.mark.parametrize(
    "text",
    ["$.*", "$..a", "$[0,1]", "$[1:]", "$['a','b']", "$[?(@.a)]", "$.a.length()", "a", "$.a["],
)
def test_a_path_to_more_than_one_place_is_no_reference_path(text: str) -> None:
    with pytest.raises(PathSyntaxError):
        compile_reference_path(text)


def test_a_reference_path_knows_that_it_reads_the_context() -> None:
    assert compile_reference_path("$$.Task.Token").reads_context
    assert not compile_reference_path("$.Task.Token").reads_context


def test_a_path_with_many_steps_is_placed_without_a_recursion_error() -> None:
    placed = put({}, "$" + ".a" * 5_000, 1)
    assert compile_reference_path("$" + ".a" * 5_000).read(placed, lambda: None) == 1
