"""What payload templates come to."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.asl.document import Json
from orchestrator.asl.draw import Draw
from orchestrator.asl.errors import CompileError, StateFailure
from orchestrator.asl.expressions import ExpressionSyntaxError, compile_expression
from orchestrator.asl.templates import compile_template

INPUT: Json = {"a": {"b": 1}, "list": [1, 2], "name": "Ann", "n": None}
CONTEXT: Json = {"Execution": {"Input": {"id": 7}, "Id": "e-1"}}


def render(template: Any, document: Json = INPUT) -> Json:
    return compile_template(template).render(document, lambda: CONTEXT, Draw(b"seed"))


@pytest.mark.parametrize(
    ("template", "rendered"),
    [
        ({"x.$": "$.a.b"}, {"x": 1}),
        ({"x.$": "$"}, {"x": INPUT}),
        ({"x.$": "$.n"}, {"x": None}),
        ({"x.$": "$$.Execution.Id", "y": "$.a"}, {"x": "e-1", "y": "$.a"}),
        ({"deep": {"er": [{"x.$": "$.list[0]"}, 5]}}, {"deep": {"er": [{"x": 1}, 5]}}),
        ({"x.$": "$.list[*]"}, {"x": [1, 2]}),
        ({"x.$": "$.list[?(@ > 5)]"}, {"x": []}),
        ({"x.$": "States.Format('{} is {}', $.name, $.a)"}, {"x": "Ann is {b=1}"}),
        ({".$": "$.name"}, {"": "Ann"}),
        ({"x$": "$.a", "$": 1}, {"x$": "$.a", "$": 1}),
        (["$.a", {"x.$": "$.name"}], ["$.a", {"x": "Ann"}]),
        ("$.a", "$.a"),
        (None, None),
        (3, 3),
        ({}, {}),
    ],
)
def test_only_fields_that_end_in_dollar_are_evaluated(template: Json, rendered: Json) -> None:
    assert render(template) == rendered


def test_the_order_of_the_fields_is_kept() -> None:
    rendered = render({"z.$": "$.a", "y": 1, "x.$": "$.n"})
    assert isinstance(rendered, dict)
    assert list(rendered) == ["z", "y", "x"]


def test_a_missing_path_fails_with_the_recorded_cause() -> None:
    with pytest.raises(StateFailure) as failed:
        render({"value.$": "$.no_such_jsonpath"}, {"input-value": "é"})
    assert failed.value.failure.error == "States.Runtime"
    assert failed.value.failure.cause == (
        "The JSONPath '$.no_such_jsonpath' specified for the field 'value.$' could not be found"
        """ in the input '{"input-value":"é"}'"""
    )


def test_a_path_missing_in_an_argument_names_the_path_and_the_field() -> None:
    with pytest.raises(StateFailure, match=r"JSONPath '\$\.x\.y' specified for the field 'f\.\$'"):
        render({"deep": [{"f.$": "States.Array($.a, States.Format('{}', $.x.y))"}]})


def test_a_call_that_cannot_be_made_fails_as_an_intrinsic_failure() -> None:
    with pytest.raises(StateFailure) as failed:
        render({"f.$": "States.Array(States.ArrayGetItem($.list, 9))"})
    assert failed.value.failure.error == "States.IntrinsicFailure"
    assert failed.value.failure.cause == (
        "The function 'States.ArrayGetItem($.list, 9)' had the following error:"
        " The array of 2 items has no item 9"
    )


def faults(template: Any) -> list[tuple[str, str]]:
    with pytest.raises(CompileError) as refused:
        compile_template(template, "/States/S/Parameters")
    return [(fault.message, fault.pointer) for fault in refused.value.faults]


@pytest.mark.parametrize(
    "value",
    ["", "a", "a.b", "$.", "$.a[", 5, None, {"a": 1}, ["$.a"], True, "States.Nope()", " $.a"],
)
def test_a_field_that_is_no_expression_is_refused_as_aws_words_it(value: Json) -> None:
    message = (
        "The value for the field 'x.$' must be a valid JSONPath or a valid intrinsic function call"
    )
    assert faults({"x.$": value}) == [(message, "/States/S/Parameters")]


def test_a_field_given_twice_is_refused() -> None:
    assert faults({"x": 1, "x.$": "$.a"}) == [
        ("The field 'x' is given twice", "/States/S/Parameters")
    ]


def test_all_faults_are_found_each_at_its_place() -> None:
    template = {"a.$": "no", "b": [{"c/d": {"e.$": "$.["}}], "f": {"g.$": "$", "g": 1}}
    assert [pointer for _, pointer in faults(template)] == [
        "/States/S/Parameters",
        "/States/S/Parameters/b/0/c~1d",
        "/States/S/Parameters/f",
    ]


def test_a_template_knows_what_it_reads() -> None:
    assert not compile_template({"a.$": "$.b", "c": "$$"}).reads_context
    assert compile_template({"a": [{"b.$": "$$.State.Name"}]}).reads_context
    assert not compile_template({"a": [{"b.$": "$$.State.Name"}]}).reads_execution_input
    assert compile_template({"a.$": "States.Array($$.Execution.Input.x)"}).reads_execution_input


def test_draws_follow_the_order_of_the_fields_and_can_be_repeated() -> None:
    template = {"a.$": "States.UUID()", "b": [{"c.$": "States.UUID()"}]}
    once, again = render(template), render(template)
    assert once == again
    assert isinstance(once, dict)
    assert once["a"] != once["b"][0]["c"]  # type: ignore[index,call-overload]


def test_rendering_changes_neither_the_template_nor_the_document() -> None:
    template: Json = {"keep": {"x": [1]}, "a.$": "$.a"}
    document: Json = {"a": {"b": 1}}
    rendered = render(template, document)
    assert rendered == {"keep": {"x": [1]}, "a": {"b": 1}}
    assert template == {"keep": {"x": [1]}, "a.$": "$.a"}
    assert document == {"a": {"b": 1}}


@pytest.mark.parametrize(
    "text",
    [
        "States.Format('{}', $.a",
        "States.Format '{}'",
        "States.Format('{}') x",
        " States.UUID()",
        "States.",
        "States.UUID",
        "JsonToString($)",
        "States.JsonToString($",
        "States.StringToJson $.escaped)",
        "States.Xyz($.result)",
        "States.UUID(1)",
        "States.Hash($.a)",
        "States.MathRandom(1)",
        "States.MathRandom(1, 2, 3, 4)",
        "States.Format()",
        "States.Array(1,)",
        "States.Array(,)",
        "States.Array(1 2)",
        "States.Array(a)",
        "States.Array(truex)",
        "States.Array(1x)",
        "States.Array($.a[)",
        "States.Array('a)",
        "States.Array('\\\"')",
        "States.Array([1])",
        'States.Array("a")',
        "something else    ",
    ],
)
def test_what_is_neither_path_nor_call_is_refused(text: str) -> None:
    with pytest.raises(ExpressionSyntaxError):
        compile_expression(text)


def test_templates_read_variables() -> None:
    template = compile_template({"a.$": "$x", "b": [{"c.$": "States.Format('{}-{}', $x, $y.z)"}]})
    variables: dict[str, Json] = {"x": 1, "y": {"z": "two"}}
    assert template.variables == {"x", "y"}
    assert template.render({}, lambda: None, Draw(b""), variables) == {
        "a": 1,
        "b": [{"c": "1-two"}],
    }


def test_a_line_break_that_no_string_may_have_is_doubted_and_read() -> None:
    template = compile_template({"a.$": r"States.Format('one\ntwo{}', $.x)"}, "/P")
    assert [doubt.pointer for doubt in template.doubts] == ["/P"]
    assert template.render({"x": 1}, lambda: None, Draw(b"")) == {"a": "one\ntwo1"}


def test_a_function_that_definitions_call_and_nobody_has_fails_where_it_is_called() -> None:
    template = compile_template({"a": {"b.$": "States.Default($.x, 'otherwise')"}}, "/P")
    assert [doubt.pointer for doubt in template.doubts] == ["/P/a"]
    with pytest.raises(StateFailure) as failed:
        template.render({"x": 1}, lambda: None, Draw(b""))
    assert failed.value.failure.error == "States.Runtime"


def test_calls_may_stand_in_each_other_ten_deep_and_no_deeper() -> None:
    def nested(depth: int) -> str:
        return "States.Array(" * depth + "1" + ")" * depth

    value = compile_expression(nested(10)).value("f", {}, lambda: None, Draw(b""))
    assert value == [[[[[[[[[[1]]]]]]]]]]
    with pytest.raises(ExpressionSyntaxError):
        compile_expression(nested(11))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("States.Array()", []),
        ("States.Array( 1 , 2.5,-3 ,true,false,null,'x' )", [1, 2.5, -3, True, False, None, "x"]),
        (
            "States.Array('a,b', 'c)d', 'it\\'s', '\\\\', '\\{\\}')",
            ["a,b", "c)d", "it's", "\\", "{}"],
        ),
        ("States.Array($.a['b'], $['name'])", [1, "Ann"]),
        ("States.Array($.list[0,1], $.list[?(@ == 1 || (@ == 2))])", [[1, 2], [1, 2]]),
        ("States.Array($.list.length(), $.sum($.a.b, 4))", [2, 5.0]),
        ("States.Array($.list[?(@ in [2, 3])])", [[2]]),
        ("States.Array($$.Execution.Input['id'])", [7]),
        ("States.Array(1e2)", [100.0]),
        ("States.Array($)", [INPUT]),
        ("States.UUID() ", None),
    ],
)
def test_arguments_are_texts_numbers_words_paths_and_calls(text: str, value: Json) -> None:
    found = compile_expression(text).value("f", INPUT, lambda: CONTEXT, Draw(b""))
    assert found == value or value is None


def test_an_expression_of_a_fail_state_names_its_field_when_it_leads_nowhere() -> None:
    expression = compile_expression("$.ErrorX")
    with pytest.raises(StateFailure) as failed:
        expression.value("ErrorPath", {"e": 1}, lambda: None, Draw(b""))
    assert failed.value.failure.cause == (
        "The JSONPath '$.ErrorX' specified for the field 'ErrorPath' could not be found in the"
        """ input '{"e":1}'"""
    )
