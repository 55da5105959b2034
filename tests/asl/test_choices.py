"""When Choice rules hold."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.asl.choices import OPERATORS, compile_rule
from orchestrator.asl.document import Json
from orchestrator.asl.errors import CompileError, StateFailure
from orchestrator.asl.timestamps import nanoseconds

NOON = "2024-01-01T12:00:00Z"


def holds(rule: Any, document: Json) -> bool:
    return compile_rule(rule).holds(document, lambda: {"State": {"Name": "C"}})


def compares(value: Json, operator: str, comparand: Json) -> bool:
    """Compare with a literal, and where there is such a form, with a path: both must agree."""
    literal = holds({"Variable": "$.v", operator: comparand}, {"v": value})
    if operator + "Path" in OPERATORS:
        rule = {"Variable": "$.v", operator + "Path": "$.w"}
        assert holds(rule, {"v": value, "w": comparand}) is literal
    return literal


def test_there_are_39_operators_of_data() -> None:
    assert len(OPERATORS) == 39


@pytest.mark.parametrize(
    ("kind", "less", "greater"),
    [
        ("String", "a", "b"),
        ("String", "", "a"),
        ("String", "A", "AB"),
        ("String", "Z", "a"),
        ("String", "10", "9"),
        ("String", "\U0001f600", "\uffff"),
        ("Numeric", 1, 2),
        ("Numeric", -0.5, 0),
        ("Numeric", 1.5, 10**300),
        ("Timestamp", "2024-01-01T11:59:59Z", NOON),
        ("Timestamp", NOON, "2024-01-01T12:00:00.000000001Z"),
        ("Timestamp", "2024-01-01T14:00:00+03:00", NOON),
        ("Timestamp", NOON, "2024-01-01T10:00:00-02:30"),
    ],
)
def test_values_of_a_kind_are_in_order(kind: str, less: Json, greater: Json) -> None:
    for operator, expected in {
        "Equals": (False, True, False),
        "LessThan": (True, False, False),
        "LessThanEquals": (True, True, False),
        "GreaterThan": (False, False, True),
        "GreaterThanEquals": (False, True, True),
    }.items():
        pairs = ((less, greater), (less, less), (greater, less))
        assert tuple(compares(a, kind + operator, b) for a, b in pairs) == expected


@pytest.mark.parametrize(
    ("one", "operator", "other"),
    [
        (0, "NumericEquals", 0.0),
        (9007199254740993, "NumericEquals", 9007199254740992),
        ("2024-01-01T13:00:00+01:00", "TimestampEquals", NOON),
        ("2024-01-01T12:00:00.000Z", "TimestampEquals", NOON),
        (True, "BooleanEquals", True),
        (False, "BooleanEquals", False),
        ("é", "StringEquals", "é"),
    ],
)
def test_equal_values_are_equal(one: Json, operator: str, other: Json) -> None:
    assert compares(one, operator, other)


def test_a_text_is_compared_as_the_number_that_it_spells() -> None:
    rule: Json = {"Variable": "$.v", "NumericLessThan": "4.5"}
    assert holds(rule, {"v": 3})
    assert not holds(rule, {"v": 5})


def test_a_text_that_spells_no_number_fails_only_when_it_is_needed() -> None:
    needed: Json = {"Variable": "$.v", "NumericEquals": "${Placeholder}"}
    rule = compile_rule({"Or": [{"Variable": "$.w", "IsPresent": True}, needed]})
    assert rule.holds({"v": 1, "w": 1}, lambda: None)
    with pytest.raises(StateFailure, match="Placeholder"):
        rule.holds({"v": 1}, lambda: None)


def test_variables_are_compared() -> None:
    rule = compile_rule({"Variable": "$guess", "StringEqualsPath": "$answer.text"})
    assert rule.variables == {"guess", "answer"}
    for guess in ("yes", "no"):
        variables: dict[str, Json] = {"guess": guess, "answer": {"text": "yes"}}
        assert rule.holds({}, lambda: None, variables) is (guess == "yes")


def test_a_variable_that_nobody_has_assigned_is_not_present() -> None:
    rule = compile_rule({"Variable": "$nothing", "IsPresent": False})
    assert rule.holds({}, lambda: None)


@pytest.mark.parametrize("operator", sorted(OPERATORS - {"IsPresent"}))
@pytest.mark.parametrize("value", [None, True, 0, 1.5, "", "text", NOON, [], [1], {}, {"a": 1}])
def test_a_value_of_another_type_is_never_an_error(operator: str, value: Json) -> None:
    comparands: list[Json] = [None, False, 1, "text", NOON, [], {}]
    for comparand in comparands:
        if operator.startswith("Numeric") and isinstance(comparand, str):
            continue  # no number: that is an error of its own
        try:
            rule = compile_rule({"Variable": "$.v", operator: comparand})
        except CompileError:
            continue
        rule.holds({"v": value}, lambda: None)
    if operator.endswith("Path"):
        for comparand in comparands:
            rule = compile_rule({"Variable": "$.v", operator: "$.w"})
            kinds = {type(value) in (int, float), type(comparand) in (int, float)}
            held = rule.holds({"v": value, "w": comparand}, lambda: None)
            if held and operator.startswith("Numeric"):
                assert kinds == {True}


@pytest.mark.parametrize(
    ("value", "operator", "comparand"),
    [
        (False, "NumericEquals", 0),
        (True, "NumericEquals", 1),
        ("1", "NumericEquals", 1),
        (0, "BooleanEquals", False),
        (1, "BooleanEquals", True),
        ("true", "BooleanEquals", True),
        (1, "StringEquals", "1"),
        (None, "StringEquals", "null"),
        (NOON[:-1], "TimestampEquals", NOON),
        (1704110400, "TimestampEquals", NOON),
        (["a"], "StringEquals", "a"),
    ],
)
def test_nothing_is_converted(value: Json, operator: str, comparand: Json) -> None:
    assert not compares(value, operator, comparand)


IS_A: dict[str, list[Json]] = {
    "IsNull": [None],
    "IsBoolean": [True, False],
    "IsNumeric": [0, 0.0, 1.1, -3],
    "IsString": ["", " ", "Hi", "2012-10-09T19:00:55", NOON],
    "IsTimestamp": [NOON, "2012-10-09T19:00:55+01:00", "2012-10-09T19:00:55.123456789Z"],
}
ANYTHING: list[Json] = [
    *(value for values in IS_A.values() for value in values),
    [],
    [""],
    {},
    {"A": 0},
]


@pytest.mark.parametrize("operator", sorted(IS_A))
def test_a_test_of_type_and_its_negation_never_agree(operator: str) -> None:
    for value in ANYTHING:
        expected = any(type(value) is type(one) and value == one for one in IS_A[operator])
        if operator == "IsString":
            expected = isinstance(value, str)
        assert compares(value, operator, True) is expected, value
        assert compares(value, operator, False) is not expected, value


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("foo*.log", ["foo23.log", "foo.log"], ["fo23.log", "foo.logs", "xfoo.log"]),
        ("*.log", [".log", "zebra.log", "a.log.log"], ["zebra.slog", "log"]),
        ("foo*.*", ["foobar.zebra", "foo."], ["foobar"]),
        ("foobar", ["foobar"], ["foo", "foobar ", ""]),
        ("", [""], ["a"]),
        ("*", ["", "anything", "a\nb"], []),
        ("a**c", ["ac", "abc"], ["a"]),
        ("a*a", ["aa", "aba"], ["a"]),
        ("*ab*ab*", ["abab", "xabyabz"], ["ab", "aab"]),
        ("foo\\*bar", ["foo*bar"], ["fooxbar", "foo\\*bar"]),
        ("a\\\\*", ["a\\", "a\\b"], ["a*", "ab"]),
        ("C:\\dir", ["C:\\dir"], ["C:dir"]),
        ("a\\", ["a\\"], ["a"]),
        ("a.c", ["a.c"], ["abc"]),
    ],
)
def test_a_star_stands_for_anything_and_can_be_escaped(
    pattern: str, matching: list[str], others: list[str]
) -> None:
    for text in matching:
        assert compares(text, "StringMatches", pattern), text
    for text in others:
        assert not compares(text, "StringMatches", pattern), text
    assert not compares(5, "StringMatches", pattern)


def test_presence_is_that_of_the_path_not_of_a_value() -> None:
    document: Json = {"a": {"b": None}}
    for path, there in {"$.a": True, "$.a.b": True, "$.a.c": False, "$.x.y": False}.items():
        assert holds({"Variable": path, "IsPresent": True}, document) is there
        assert holds({"Variable": path, "IsPresent": False}, document) is not there


@pytest.mark.parametrize(
    "rule",
    [
        {"Variable": "$.x", "IsNull": True},
        {"Variable": "$.x", "StringEquals": "a"},
        {"Variable": "$.a", "NumericEqualsPath": "$.x"},
        {"Not": {"Variable": "$.x", "IsString": True}},
        {"And": [{"Variable": "$.x", "IsString": True}]},
    ],
)
def test_a_missing_variable_is_a_runtime_error(rule: Json) -> None:
    with pytest.raises(StateFailure) as failed:
        holds(rule, {"a": 1})
    assert failed.value.failure.error == "States.Runtime"
    assert failed.value.failure.cause == (
        "Invalid path '$.x': The choice state's condition path references an invalid value."
    )


def test_and_or_and_not_combine_and_stop_where_the_outcome_is_known() -> None:
    yes, no = ({"Variable": "$.a", "NumericEquals": number} for number in (1, 2))
    missing = {"Variable": "$.x", "IsNull": True}
    document: Json = {"a": 1}
    assert holds({"And": [yes, yes]}, document)
    assert not holds({"And": [yes, no, missing]}, document)
    assert holds({"Or": [no, yes, missing]}, document)
    assert not holds({"Or": [no, no]}, document)
    assert holds({"Not": no}, document)
    assert holds({"And": [{"Or": [no, {"Not": {"And": [yes, no]}}]}]}, document)


def test_a_rule_may_read_the_context() -> None:
    assert holds({"Variable": "$$.State.Name", "StringEquals": "C"}, {})
    assert compile_rule({"Variable": "$$.State.Name", "StringEquals": "C"}).reads_context
    rule = compile_rule({"Not": {"Variable": "$.a", "StringEqualsPath": "$$.Execution.Input.b"}})
    assert rule.reads_execution_input
    assert not compile_rule({"Variable": "$.a", "IsNull": True}).reads_context


@pytest.mark.parametrize(
    ("rule", "pointers"),
    [
        ("$.a", [""]),
        ({}, [""]),
        ({"Variable": "$.a"}, [""]),
        ({"Variable": "$.a", "IsNull": True, "IsString": True}, [""]),
        ({"Variable": "$.a", "Nope": True}, [""]),
        ({"IsNull": True}, [""]),
        ({"Variable": "a", "IsNull": True}, ["/Variable"]),
        ({"Variable": 5, "IsNull": True}, ["/Variable"]),
        ({"Variable": "$.a", "IsNull": 1}, ["/IsNull"]),
        ({"Variable": "$.a", "NumericEquals": True}, ["/NumericEquals"]),
        ({"Variable": "$.a", "StringEquals": 1}, ["/StringEquals"]),
        ({"Variable": "$.a", "BooleanEquals": 0}, ["/BooleanEquals"]),
        ({"Variable": "$.a", "TimestampEquals": "2024-01-01"}, ["/TimestampEquals"]),
        ({"Variable": "$.a", "StringEqualsPath": "b"}, ["/StringEqualsPath"]),
        ({"Variable": "a", "StringEqualsPath": "b"}, ["/Variable", "/StringEqualsPath"]),
        ({"And": []}, ["/And"]),
        ({"Or": {"Variable": "$.a", "IsNull": True}}, ["/Or"]),
        ({"Not": [{"Variable": "$.a", "IsNull": True}]}, ["/Not"]),
        ({"And": [{"Variable": "$.a", "IsNull": 1}, {"Not": {}}]}, ["/And/0/IsNull", "/And/1/Not"]),
    ],
)
def test_a_rule_that_means_nothing_is_refused_with_every_fault(
    rule: Json, pointers: list[str]
) -> None:
    with pytest.raises(CompileError) as refused:
        compile_rule(rule, "/States/C/Choices/0")
    found = [fault.pointer for fault in refused.value.faults]
    assert found == ["/States/C/Choices/0" + pointer for pointer in pointers]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.5Z", 1_500_000_000),
        ("1970-01-01T00:00:00.000000001Z", 1),
        ("1969-12-31T23:59:59.999999999Z", -1),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T12:00:00-12:00", 0),
        ("9999-12-31T23:59:59Z", 253_402_300_799_000_000_000),
        ("2024-02-29T00:00:00-00:00", 1_709_164_800_000_000_000),
    ],
)
def test_a_timestamp_names_a_nanosecond(text: str, moment: int) -> None:
    assert nanoseconds(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-01",
        "2024-01-01T12:00:00",
        "2024-01-01 12:00:00Z",
        "2024-01-01t12:00:00Z",
        "2024-01-01T12:00:00z",
        "2024-01-01T12:00Z",
        "2024-01-01T24:00:00Z",
        "2024-01-01T25:29:29Z",
        "2024-01-01T12:00:60Z",
        "2023-02-29T12:00:00Z",
        "05-12-2016T21:29:29Z",
        "2024-01-01T12:00:00.Z",
        "2024-01-01T12:00:00.1234567890Z",
        "2024-01-01T12:00:00+0100",
        "2024-01-01T12:00:00+19:00",
        "2024-01-01T12:00:00+01:60",
        "0000-01-01T00:00:00Z",
        "\u0662\u0660\u0662\u0664-01-01T12:00:00Z",
        " 2024-01-01T12:00:00Z",
        "2024-01-01T12:00:00Z\n",
        "",
    ],
)
def test_what_is_not_rfc_3339_with_t_and_zone_is_no_timestamp(text: str) -> None:
    assert nanoseconds(text) is None
