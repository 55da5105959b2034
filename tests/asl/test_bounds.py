"""Nothing that a definition or an input says makes an evaluation run on."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from orchestrator.asl.choices import compile_rule
from orchestrator.asl.document import Json
from orchestrator.asl.draw import Draw
from orchestrator.asl.errors import StateFailure
from orchestrator.asl.expressions import ExpressionSyntaxError, compile_expression
from orchestrator.asl.paths import PathSyntaxError, compile_path, place
from orchestrator.asl.paths.reference import compile_reference_path
from orchestrator.asl.templates import compile_template

MANY: Json = {"items": [{"id": number, "tags": ["a", "b"]} for number in range(20_000)]}
LONG = "x" * 1_000_000


def nothing() -> Json:
    return None


def seconds(action: Callable[[], Any]) -> float:
    """The CPU time of an action, whether it is carried out or fails."""
    start = time.process_time()
    with suppress(StateFailure, PathSyntaxError, ExpressionSyntaxError):
        action()
    return time.process_time() - start


def refused(action: Callable[[], Any], error: str = "States.Runtime") -> None:
    start = time.process_time()
    with pytest.raises(StateFailure, match=r"steps|more than|too much") as failed:
        action()
    assert failed.value.failure.error == error
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    "text",
    [
        "$..[?(@..id == @..tags)]",
        "$.items[?(@.id in $.items[*].id)]",
        "$..*..*..*",
        "$.items[*]" + "[*]" * 3 + "..*" * 5,
        "$.items[" + ",".join(["0"] * 2_000) + "]" + "['tags','tags']" * 3 + "[0,0]" * 30 + ".x",
        "$.items[?($.items[?($.items[?(@.id == 1)].id != @.id)] && @..id)]..*..*",
        "$.items[?(@.tags subsetof $..tags)]",
        "$.items[?(@ in $.items)]",
        "$.items[*]" + ".append(1)" + "[*].append(1,2)" * 1 + "..*" * 4,
    ],
)
def test_a_path_takes_a_million_steps_and_no_more(text: str) -> None:
    path = compile_path(text)
    assert seconds(lambda: path.read(MANY, nothing)) < 10


@pytest.mark.parametrize("text", ["$..[?(@..id == @..tags)]", "$.items[?(@ in $.items)]"])
def test_a_path_that_needs_more_steps_is_a_runtime_error(text: str) -> None:
    refused(lambda: compile_path(text).read(MANY, nothing))


def test_what_begins_at_the_root_is_looked_up_once_for_all_items() -> None:
    path = compile_path("$.items[?(@.id == $.items.length())]")
    assert path.read(MANY, nothing) == []
    path = compile_path("$.items[?(@.id < $..id.max() && @.id > 19997)].id")
    assert path.read(MANY, nothing) == [19_998]


@pytest.mark.parametrize(
    "text",
    [
        "$[?(@.s =~ /(x+x+)+y/)]",
        "$[?(@.s =~ /(x|xx)*z/)]",
        "$[?(@.s =~ /.*.*.*.*=.*/)]",
    ],
)
def test_no_pattern_takes_more_than_linear_time(text: str) -> None:
    document: Json = [{"s": "x" * 5_000}]
    assert seconds(lambda: compile_path(text).read(document, nothing)) < 2


def test_long_texts_are_steps_too() -> None:
    document: Json = {"items": [LONG] * 3_000, "other": LONG + "y"}
    for test in ("@ == $.other", "@ contains 'yx'", "@ =~ /x*y/", "@ < $.other"):
        path = compile_path(f"$.items[?({test})]")
        with pytest.raises(StateFailure, match="1000000 steps"):
            path.read(document, nothing)


def test_paths_of_one_template_share_ten_million_steps() -> None:
    template = compile_template({f"f{number}.$": "$..id" for number in range(400)})
    start = time.process_time()
    with pytest.raises(StateFailure, match="10000000 steps"):
        template.render(MANY, nothing, Draw(b""))
    assert time.process_time() - start < 60


def test_paths_of_one_rule_share_ten_million_steps() -> None:
    test: Json = {"Variable": "$..id", "IsNull": True}
    rule = compile_rule({"Or": [test] * 400})
    with pytest.raises(StateFailure, match="10000000 steps"):
        rule.holds(MANY, nothing)


def test_calls_of_one_template_share_its_steps() -> None:
    document: Json = {"s": LONG}
    template = compile_template({f"f{n}.$": "States.JsonToString($.s)" for n in range(2_000)})
    with pytest.raises(StateFailure, match="10000000 steps"):
        template.render(document, nothing, Draw(b""))


def doubled(depth: int) -> str:
    text = "$.s"
    for _ in range(depth):
        text = f"States.Array({text}, {text}, {text}, {text}, {text}, {text}, {text}, {text})"
    return text


@pytest.mark.parametrize(
    "call",
    [
        f"States.JsonToString({doubled(4)})",
        f"States.Format('{{}}', {doubled(4)})",
        f"States.ArrayUnique({doubled(4)})",
        "States.Format('{}{}{}{}{}{}{}{}', $.t, $.t, $.t, $.t, $.t, $.t, $.t, $.t)",
    ],
)
def test_no_function_makes_an_immense_text(call: str) -> None:
    document: Json = {"s": "x" * 100_000, "t": "x" * 9_000_000}
    expression = compile_expression(call)
    refused(
        lambda: expression.value("f", document, nothing, Draw(b"")), error="States.IntrinsicFailure"
    )


def test_a_search_in_an_array_ends_where_there_is_too_much_to_compare() -> None:
    big: Json = 1
    other: Json = 1
    for _ in range(30):
        big, other = [big, big], [other, other]
    expression = compile_expression("States.ArrayContains($.array, $.value)")
    document: Json = {"array": [big], "value": other}
    with pytest.raises(StateFailure, match="too much to compare"):
        expression.value("f", document, nothing, Draw(b""))


def test_a_star_pattern_takes_linear_time() -> None:
    rule = compile_rule({"Variable": "$", "StringMatches": "*a" * 200 + "*b"})
    assert seconds(lambda: rule.holds("a" * 100_000, nothing)) < 2


@pytest.mark.parametrize(
    "text",
    [
        "$[?(" + "(" * 5_000 + "@.a" + ")" * 5_000 + ")]",
        "$[?(" + "!" * 5_000 + "@.a)]",
        "$" + "[?(@" * 5_000 + ")]" * 5_000,
        "$" + ".sum($" * 5_000 + ")" * 5_000,
        "$[?(@.a in " + "[" * 5_000 + "]" * 5_000 + ")]",
        "$[?(@.a == " + '{"a":' * 50_000 + "1" + "}" * 50_000 + ")]",
    ],
)
def test_a_deeply_nested_path_is_refused_without_a_recursion_error(text: str) -> None:
    with pytest.raises(PathSyntaxError):
        compile_path(text)


def test_a_deeply_nested_call_is_refused_without_a_recursion_error() -> None:
    with pytest.raises(ExpressionSyntaxError):
        compile_expression("States.Array(" * 50_000)


@pytest.mark.parametrize(
    "text",
    [
        "$" + ".a" * 200_000,
        "$[" + ",".join(["1"] * 200_000) + "]",
        "$[?(" + "||".join(["@.a=={}"] * 50_000) + ")]",
        "$['" + "\\'" * 200_000 + "']",
        "$." + "\\a" * 200_000,
    ],
)
def test_a_long_path_compiles_and_reads_in_linear_time(text: str) -> None:
    path = compile_path(text)
    assert seconds(lambda: compile_path(text)) < 5
    assert seconds(lambda: path.read([1, 2], nothing)) < 5


def test_a_long_call_compiles_in_linear_time() -> None:
    for text in (
        "States.Format('" + "\\{\\}" * 100_000 + "')",
        "States.Format('" + "{}" * 100_000 + "'" + ",1" * 100_000 + ")",
        "States.Array('" + "a" * 500_000,
    ):
        assert seconds(partial(compile_expression, text)) < 5


def test_the_cause_of_a_failure_has_an_end() -> None:
    document: Json = {"s": LONG}
    template = compile_template({"f.$": "$.x"})
    with pytest.raises(StateFailure) as failed:
        template.render(document, nothing, Draw(b""))
    assert len(failed.value.failure.cause or "") == 32_768
    with pytest.raises(StateFailure) as failed:
        place(LONG, compile_reference_path("$.a"), 1)
    assert len(failed.value.failure.cause or "") <= 32_768


def test_values_as_deep_as_documents_may_be_are_evaluated() -> None:
    deep: Json = 1
    also_deep: Json = 1
    for _ in range(100):
        deep, also_deep = {"a": [deep]}, {"a": [also_deep]}
    document: Json = {"x": deep, "y": also_deep}
    for text in ("$..a", "$[?(@.x == @.y)]", "$..[?(@.a == 1)]"):
        compile_path(text).read(document, nothing)
    for call in ("States.ArrayUnique(States.Array($.x, $.y))", "States.Format('{}', $.x)"):
        compile_expression(call).value("f", document, nothing, Draw(b""))


def test_values_deeper_than_documents_are_refused_and_not_a_recursion_error() -> None:
    deep: Json = 1
    for _ in range(100_000):
        deep = [deep]
    for call in ("ArrayUnique($)", "Format('{}', $)", "JsonToString($)", "Hash($, 'MD5')"):
        expression = compile_expression(f"States.{call}")
        with pytest.raises(StateFailure, match="nested more than"):
            expression.value("f", deep, nothing, Draw(b""))
