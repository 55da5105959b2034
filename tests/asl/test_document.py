"""JSON text goes in and comes out as it was, or is refused with a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.asl.document import DocumentError, Json, equal, read, show, write
from orchestrator.asl.limits import DEFAULT, STRICT_AWS, Limits


@pytest.mark.parametrize(
    "text",
    ["NaN", "[NaN]", "Infinity", "-Infinity", "1e400", '{"a": -1e999}', "9" * 309, "-" + "1" * 309],
)
def test_a_number_that_no_database_takes_is_refused(text: str) -> None:
    with pytest.raises(DocumentError):
        read(text)


@pytest.mark.parametrize("text", ["9" * 308, "-" + "9" * 308, "18446744073709551616", "1" * 20])
def test_an_integer_of_up_to_308_digits_comes_back_as_it_was(text: str) -> None:
    assert write(read(text)) == text
    assert write(read(f'{{"n":[{text}]}}')) == f'{{"n":[{text}]}}'


@pytest.mark.parametrize(
    "text", ['"\\u0000"', '"\\ud800"', '"\\udfff\\ud800"', '"a\\u0000b\\udc00"']
)
def test_a_nul_or_a_lone_surrogate_comes_back_as_it_was(text: str) -> None:
    assert write(read(text)) == text
    assert write(read(json.loads(text).join('""')) if "\\u0000" not in text else read(text)) == text


@pytest.mark.parametrize(
    "text", ["", " ", "nul", "[1,]", "{1:2}", "'a'", '"\t"', "[1] 2", "\ufeff1"]
)
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(DocumentError):
        read(text)


def test_a_refusal_says_where_the_text_goes_wrong() -> None:
    with pytest.raises(DocumentError) as refused:
        read('{"a": [1, x]}')
    assert refused.value.position == 10


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(DocumentError, match="UTF-8"):
        read(b'{"a": "\xff"}')


def test_the_last_of_equal_keys_wins() -> None:
    assert read('{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_depth_ends_at_its_limit_and_never_in_a_recursion_error(opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    inner = "1" if opening != "[" else ""
    deepest = opening * 200 + inner + closing * 200
    assert write(read(deepest)) == deepest
    for depth in (201, 254, 1_100, 100_000):
        with pytest.raises(DocumentError):
            read(opening * depth + inner + closing * depth)
        with pytest.raises(DocumentError):
            read(opening * depth)


def test_brackets_inside_strings_are_not_depth() -> None:
    value: Json = ["[" * 5_000, "{" * 5_000]
    assert read(write(value)) == value


@pytest.mark.parametrize("depth", [201, 260, 5_000])
def test_a_value_that_could_not_be_read_again_is_not_written(depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    with pytest.raises(DocumentError):
        write(value)
    with pytest.raises(DocumentError):
        write(["é", value])


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        [float("inf")],
        {"a": [None, float("-inf")]},
        10**308,
        {1: 2},
        object(),
        {"é": {1}},
    ],
)
def test_what_is_not_json_is_not_written(value: Any) -> None:
    with pytest.raises(DocumentError):
        write(value)


def test_a_document_beyond_its_bytes_is_refused_as_too_large() -> None:
    limits = Limits(document_bytes=10)
    assert read('"12345678"', limits=limits) == "12345678"
    with pytest.raises(DocumentError) as refused:
        read('"123456789"', limits=limits)
    assert refused.value.too_large
    with pytest.raises(DocumentError) as refused:
        read('"éééé€"', limits=limits)
    assert refused.value.too_large
    with pytest.raises(DocumentError) as refused:
        write("éé", limits=limits)
    assert refused.value.too_large


def test_a_small_value_that_makes_an_immense_text_is_refused_before_it_is_made() -> None:
    value: Any = ["x" * 1_000]
    for _ in range(60):
        value = [value, value]
    with pytest.raises(DocumentError) as refused:
        write(value)
    assert refused.value.too_large


def test_text_is_compact_and_ascii_only() -> None:
    value: Json = {"a": [1, 2.5, None, True], "é": "\U0001f600"}
    assert write(value) == '{"a":[1,2.5,null,true],"\\u00e9":"\\ud83d\\ude00"}'
    assert write(value).isascii()


json_values: Any = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**30), 10**30),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=())),
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=15,
)


@given(json_values)
def test_every_value_comes_back_as_it_was(value: Any) -> None:
    text = write(value)
    again = read(text)
    assert repr(again) == repr(value)
    assert read(text.encode()) == again
    assert equal(again, value)
    assert json.loads(text) == value


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        ([1, [True]], [1.0, [True]], True),
        ([1, [True]], [1, [1]], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1.0}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1}, {"b": 1}, False),
        ([1], [1, 2], False),
        ([], {}, False),
        ("1", 1, False),
        (None, False, False),
        (2**53 + 1, float(2**53), False),
    ],
)
def test_equality_is_that_of_json(one: Any, other: Any, same: bool) -> None:
    assert equal(one, other) is same
    assert equal(other, one) is same


def test_what_is_shown_in_a_cause_is_cut_off() -> None:
    assert show({"a": ["é", 1]}) == '{"a":["é",1]}'
    assert show(["x" * 100], most_characters=10) == '["xxxxxxxx'
    value: Any = ["x"]
    for _ in range(60):
        value = [value, value]
    assert len(show(value)) == DEFAULT.cause_characters


def test_the_strict_limits_are_those_of_aws() -> None:
    assert STRICT_AWS.document_bytes == 262_144
    assert STRICT_AWS.history_events == 25_000
    assert DEFAULT.document_bytes == 8 * 1024 * 1024
