"""Every fault of a machine is found, with AWS's code and words where they are known."""

from __future__ import annotations

import json

import pytest

from orchestrator.asl.definition import parse
from orchestrator.asl.document import Json
from orchestrator.asl.limits import DEFAULT, Limits
from tests.asl.definition_faults import SCHEMA, TARGET, rule
from tests.asl.definition_samples import (
    ALL,
    BRANCH,
    DISTRIBUTED,
    FAIL,
    MAP,
    PARALLEL,
    PASS,
    SUCCEED,
    TASK,
    Object,
    changed,
    errors,
    machine,
    parsed,
    warnings,
)

OTHER_LANGUAGE = (
    "The QueryLanguage is set to 'JSONata', but field 'InputPath' is only supported for the"
    " 'JSONPath' QueryLanguage"
)
TOPS: list[tuple[str, Json, str, str, str | None]] = [
    ("nothing", {}, SCHEMA, "These fields are required: [States, StartAt]", ""),
    ("no StartAt", {"States": {"X": PASS}}, SCHEMA, "These fields are required: [StartAt]", ""),
    ("no States", {"StartAt": "X"}, SCHEMA, "These fields are required: [States]", ""),
    ("no object", [], SCHEMA, "Definition must be a valid JSON object", None),
    ("null", None, SCHEMA, "Definition must be a valid JSON object", None),
    ("empty States", {"StartAt": "X", "States": {}}, SCHEMA, "Value cannot be empty", "/States"),
    (
        "States that are an array",
        {"StartAt": "X", "States": []},
        SCHEMA,
        "Expected an object",
        "/States",
    ),
    (
        "a StartAt of a wrong type",
        machine(PASS) | {"StartAt": {}},
        SCHEMA,
        "Expected a string",
        "/StartAt",
    ),
    (
        "an unknown start",
        machine(PASS) | {"StartAt": "Y"},
        TARGET,
        "Missing 'Next' target: Y",
        "/StartAt",
    ),
    (
        "an unknown field",
        machine(PASS) | {"Callers": {}},
        SCHEMA,
        "Field 'Callers' is not supported",
        "",
    ),
    (
        "an unknown Version",
        machine(PASS) | {"Version": "2.0"},
        SCHEMA,
        "The field 'Version' should have one of these values: [1.0]",
        "/Version",
    ),
    (
        "a limit of 0",
        machine(PASS) | {"TimeoutSeconds": 0},
        SCHEMA,
        "The value must be between 1 and 99999999",
        "/TimeoutSeconds",
    ),
    (
        "an unknown language",
        machine(PASS) | {"QueryLanguage": "SQL"},
        SCHEMA,
        "The field 'QueryLanguage' should have one of these values: [JSONPath, JSONata]",
        "/QueryLanguage",
    ),
    (
        "JSONPath in a machine of JSONata",
        machine({"Type": "Pass", "QueryLanguage": "JSONPath", "End": True})
        | {"QueryLanguage": "JSONata"},
        SCHEMA,
        "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine",
        "/States/X/QueryLanguage",
    ),
    (
        "a path inside a machine of JSONata",
        machine(
            {
                "Type": "Parallel",
                "Branches": [
                    {"StartAt": "Y", "States": {"Y": {"Type": "Succeed", "InputPath": "$"}}}
                ],
                "End": True,
            }
        )
        | {"QueryLanguage": "JSONata"},
        SCHEMA,
        OTHER_LANGUAGE,
        "/States/X/Branches/0/States/Y",
    ),
    (
        "no end",
        machine(changed(PASS, Next="X", End=False)),
        "MISSING_END_STATE",
        "Workflow has no terminal state",
        "",
    ),
    (
        "a state nobody leads to",
        {"StartAt": "X", "States": {"X": PASS, "Y": SUCCEED}},
        TARGET,
        'State "Y" is not reachable.',
        "/States/Y",
    ),
    (
        "a state that only leads to itself",
        {"StartAt": "X", "States": {"X": PASS, "Y": changed(PASS, Next="Y", End=False)}},
        TARGET,
        'State "Y" is not reachable.',
        "/States/Y",
    ),
]


@pytest.mark.parametrize(
    ("definition", "code", "message", "pointer"),
    [case[1:] for case in TOPS],
    ids=[case[0] for case in TOPS],
)
def test_a_fault_of_the_machine_is_found(
    definition: Json, code: str, message: str, pointer: str | None
) -> None:
    assert (code, message, pointer) in errors(definition)


def test_all_faults_are_found_at_once() -> None:
    definition: Json = {
        "StartAt": "A",
        "States": {
            "A": {"Type": "Wait", "Seconds": -1, "Timestamp": "now", "Next": "Nowhere"},
            "B": {"Type": "Task", "TimeoutSeconds": "x", "Retry": [{"MaxAttempts": -1}]},
            "C": {"Type": "Parallel", "Branches": [], "End": True},
        },
        "Extra": 1,
    }
    places = {pointer for _, _, pointer in errors(definition)}
    assert places == {
        "",
        "/States/A",
        "/States/A/Seconds",
        "/States/A/Timestamp",
        "/States/A/Next",
        "/States/B",
        "/States/B/TimeoutSeconds",
        "/States/B/Retry/0",
        "/States/B/Retry/0/MaxAttempts",
        "/States/C",
        "/States/C/Branches",
    }


def test_findings_come_in_the_order_of_the_definition() -> None:
    fields: Object = {f"F{number}": 1 for number in range(20)}
    found = [message for _, message, _ in errors(machine({"Type": "Succeed", **fields}))]
    assert found == [f"Field 'F{number}' is not supported" for number in range(20)]


def test_an_unknown_target_and_what_it_leaves_unreachable_are_told_in_this_order() -> None:
    definition: Json = {
        "StartAt": "pass1",
        "States": {
            "pass1": {"Type": "Pass", "Next": "pass3"},
            "pass2": {"Type": "Pass", "End": True},
        },
    }
    assert errors(definition) == [
        (TARGET, "Missing 'Next' target: pass3", "/States/pass1/Next"),
        (TARGET, 'State "pass2" is not reachable.', "/States/pass2"),
    ]


def test_a_missing_end_silences_unreachable_states() -> None:
    loop: Json = {
        "StartAt": "A",
        "States": {
            "A": {"Type": "Pass", "Next": "A"},
            "B": {"Type": "Pass", "Next": "A"},
        },
    }
    assert [code for code, _, _ in errors(loop)] == ["MISSING_END_STATE"]


def test_names_are_unique_in_the_whole_machine() -> None:
    branches: Json = [BRANCH, {"StartAt": "Inner", "States": {"Inner": SUCCEED}}]
    assert ("DUPLICATE_STATE_NAME", "/States/X/Branches/1/States/Inner") in [
        (code, pointer)
        for code, _, pointer in errors(machine(changed(PARALLEL, Branches=branches)))
    ]


@pytest.mark.parametrize("name", ["", "a" * 81, "a\nb", "a\0", "a\x9f", "a\ud800"])
def test_a_bad_name_is_refused(name: str) -> None:
    definition: Json = {"StartAt": name, "States": {name: PASS}}
    assert [code for code, _, _ in errors(definition)] == ["INVALID_STATE_NAME"]


@pytest.mark.parametrize("name", ["a" * 80, "Ünïcødé ☃ 𝄞", "a/b~c", "$.x", "0"])
def test_any_other_name_is_accepted(name: str) -> None:
    definition: Json = {"StartAt": name, "States": {name: PASS}}
    assert errors(definition) == []


def test_pointers_escape_names() -> None:
    definition: Json = {"StartAt": "a/b~c", "States": {"a/b~c": changed(PASS, InputPath=1)}}
    assert [pointer for _, _, pointer in errors(definition)] == ["/States/a~1b~0c/InputPath"]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('{"StartAt":"X","StartAt":"X","States":{"X":{"Type":"Succeed"}}}', ["/StartAt"]),
        (
            '{"StartAt":"X","States":{"X":{"Type":"Fail"},"X":{"Type":"Succeed"}}}',
            ["/States/X"],
        ),
        (
            '{"StartAt":"X","States":{"X":{"Type":"Pass","End":true,"Result":[{"a":1,"b":2,"a":3,"b":4}]}}}',
            ["/States/X/Result/0/a", "/States/X/Result/0/b"],
        ),
    ],
)
def test_a_key_that_stands_twice_is_an_error_at_its_place(text: str, places: list[str]) -> None:
    found = errors(text)
    assert [pointer for _, _, pointer in found] == places
    assert {code for code, _, _ in found} == {"INVALID_JSON_DESCRIPTION"}


def test_equal_keys_in_different_objects_are_no_error() -> None:
    parameters: Json = {"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}]}
    assert errors(machine(changed(PASS, Parameters=parameters))) == []


def test_faulty_json_is_told_with_line_and_column() -> None:
    (finding,) = parse('{\n  "StartAt": nope}').findings
    assert finding.code.value == "INVALID_JSON_DESCRIPTION"
    assert finding.message.startswith("Unrecognized token 'nope': was expecting (JSON String, ")
    assert finding.message.endswith("line: 2, column: 18]")
    assert finding.pointer is None


HUGE = "$[?(@.a == " + "9" * 5_000 + ")]"


@pytest.mark.parametrize(
    ("state", "pointer"),
    [
        (changed(PASS, InputPath=HUGE), "/States/X/InputPath"),
        (changed(PASS, Parameters={"x.$": HUGE}), "/States/X/Parameters"),
        (changed(FAIL, CausePath=HUGE), "/States/X/CausePath"),
        (rule(Variable=HUGE, IsNull=True), "/States/X/Choices/0"),
    ],
)
def test_a_number_of_thousands_of_digits_is_refused(state: Json, pointer: str) -> None:
    places = [place or "" for _, _, place in errors(machine(state))]
    assert any(place.startswith(pointer) for place in places)


def test_a_message_quotes_a_long_text_in_part() -> None:
    (error,) = errors(machine(changed(PASS, InputPath="$." + "[" * 100_000)))
    assert len(error[1]) < 3_000


@pytest.mark.parametrize("sample", ALL.values(), ids=ALL)
def test_a_field_that_a_type_does_not_have_is_refused(sample: Object) -> None:
    found = errors(machine(changed(sample, OnUndo=[])))
    assert found == [(SCHEMA, "Field 'OnUndo' is not supported", "/States/X")]


def test_blanks_are_no_definition() -> None:
    assert errors(" ") == [(SCHEMA, "Definition must be a valid JSON object", None)]


def test_the_limit_of_documents_is_not_that_of_definitions() -> None:
    text = json.dumps(machine(PASS))
    assert parse(text, Limits(document_bytes=10)).machine is not None
    assert parse(text, Limits(definition_bytes=10)).machine is None


def test_a_definition_may_have_a_mebibyte_and_no_more() -> None:
    text = json.dumps(machine(PASS))
    most = text + " " * (DEFAULT.definition_bytes - len(text))
    assert errors(most) == []
    assert errors(most + " ") == [(SCHEMA, "The definition has more than 1048576 bytes", None)]


def test_a_definition_may_be_64_deep_and_no_deeper() -> None:
    def nested(depth: int) -> str:
        inside = '{"Type":"Pass","End":true,"Result":' + "[" * depth + "]" * depth + "}"
        return '{"StartAt":"X","States":{"X":' + inside + "}}"

    assert errors(nested(DEFAULT.definition_depth - 3)) == []
    assert [code for code, _, _ in errors(nested(DEFAULT.definition_depth - 2))] == [
        "TOO_DEEPLY_NESTED"
    ]


@pytest.mark.parametrize(
    ("state", "code", "pointer"),
    [
        (changed(PASS, Parameters={"a": "$.a"}), "NO_DOLLAR", "/States/X/Parameters/a"),
        (changed(PASS, Parameters={"a": "States.UUID()"}), "NO_DOLLAR", "/States/X/Parameters/a"),
        (
            changed(PASS, Parameters={"l": [{"a": "$.a"}]}),
            "NO_DOLLAR",
            "/States/X/Parameters/l/0/a",
        ),
        (changed(PASS, Result={"a.$": "$.a"}), "PASS_RESULT_IS_STATIC", "/States/X/Result"),
        (changed(PASS, Result=[{"a.$": 1}]), "PASS_RESULT_IS_STATIC", "/States/X/Result"),
        (changed(PASS, Result="$.a"), "PASS_RESULT_IS_STATIC", "/States/X/Result"),
        (changed(FAIL, Error="$.a"), "NO_PATH", "/States/X/Error"),
        (rule(StringEquals="$.a"), "NO_PATH", "/States/X/Choices/0/StringEquals"),
        (changed(TASK, Resource="go://host/f"), "INVALID_RESOURCE", "/States/X/Resource"),
        (changed(MAP, Label="L"), "UNSUPPORTED", "/States/X/Label"),
    ],
)
def test_what_looks_like_a_mistake_is_a_warning(state: Json, code: str, pointer: str) -> None:
    assert (code, pointer) in warnings(machine(state))
    assert parsed(machine(state)).machine is not None


def test_a_plain_machine_has_no_warnings() -> None:
    assert warnings(machine(TASK)) == []
    assert warnings(machine(changed(PASS, Result={"price": "$5"}))) == []


def test_two_maps_may_not_have_the_same_label() -> None:
    first = changed(DISTRIBUTED, End=False, Next="Y")
    config: Object = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    inner: Object = {"StartAt": "I", "States": {"I": PASS}, "ProcessorConfig": config}
    second = changed(DISTRIBUTED, ItemProcessor=inner)
    definition: Json = {"StartAt": "X", "States": {"X": first, "Y": second}}
    assert [(code, pointer) for code, _, pointer in errors(definition)] == [
        ("DUPLICATE_LABEL_NAME", "/States/Y/Label")
    ]
