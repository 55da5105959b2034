"""Expressions of JSONata: what they give, what they read, what AWS adds, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.asl.document import Json
from orchestrator.asl.jsonata import (
    Answer,
    Bounds,
    QuerySyntaxError,
    Question,
    answer,
    compile_query,
    expression_in,
)
from orchestrator.asl.limits import DEFAULT
from orchestrator.asl.query_functions import java_random
from orchestrator.asl.query_templates import compile_query_template

BOUNDS = Bounds.of(DEFAULT)
MOMENT_MS = 1_700_000_000_000


def ask(text: str, given: Json = None, seed: str = "seed", **variables: Json) -> Answer:
    bindings: dict[str, Json] = {"states": {"input": given}, **variables}
    return answer(Question(compile_query(text), bindings, MOMENT_MS, seed), BOUNDS)


def value(text: str, given: Json = None, **variables: Json) -> Json:
    answered = ask(text, given, "seed", **variables)
    assert answered.reason is None, answered.reason
    return answered.value


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("{% 1 %}", "1"),
        ("{%1%}", "1"),
        ("{%\n 'a' \n%}", "'a'"),
        ("{%%}", ""),
        (" {% 1 %}", None),
        ("{% 1 %} ", None),
        ("{ % 1 % }", None),
        ("$.a", None),
        (1, None),
    ],
)
def test_an_expression_stands_between_its_braces_exactly(text: Json, inside: str | None) -> None:
    assert expression_in(text) == inside


@pytest.mark.parametrize("number", [12345678901234567890, 10**300, 1.0, -0.0])
def test_what_is_only_handed_on_stays_as_it_is(number: float) -> None:
    given: Json = {"list": [{"n": number}], "text": "\ud800\u0000"}
    assert repr(value("$states.input", given)) == repr(given)
    assert repr(value("$states.input.list", given)) == repr(given["list"])  # type: ignore[call-overload,index]


def test_nothing_null_and_functions_are_told_apart() -> None:
    assert ask("$states.input.a", {}).reason == "returned nothing (undefined)."
    assert ask("$states.input.(a)", {}).reason == "returned nothing (undefined)."
    assert ask("$states.input.a", {"a": None}) == Answer(None)
    assert ask("$states.input.(a)", {"a": None}) == Answer(None)
    for function in ("$sum", "function($x){$x}", "/a/", "$f := $uppercase"):
        assert ask(function).reason == "returned an unsupported result type.", function
    assert value("{'a': nothing, 'b': null}") == {"b": None}


def test_one_is_not_a_list_of_one() -> None:
    assert value("$states.input.list[n > 1]", {"list": [{"n": 1}, {"n": 2}]}) == {"n": 2}
    assert value("$states.input.list", {"list": [5]}) == [5]
    assert value("$range(1, 9, 9)") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$partition([1, 2, 3], 2)", [[1, 2], [3]]),
        ("$partition([1], 5)", [[1]]),
        ("$range(0, 10, 3)", [0, 3, 6, 9]),
        ("$range(3, 1, -1)", [3, 2, 1]),
        ("$hash('a', 'MD5')", "0cc175b9c0f1b6a831c399e269772661"),
        ("$length($hash({'a': 1}, 'SHA-512'))", 128),
        ("'[1, null]' ~> $parse", [1, None]),
        ("$parse('-0')", 0),
        ("$random(42)", 0.7275636800328681),
        ("$random(42) = $random(42)", True),
        ("$uuid() = $uuid()", False),
        ("$length($uuid())", 36),
        ("$count($distinct($map([1..9], $random)))", 9),
        ("$now()", "2023-11-14T22:13:20.000Z"),
        ("$millis()", MOMENT_MS),
    ],
)
def test_aws_adds_functions(text: str, expected: Json) -> None:
    assert value(text) == expected


def test_random_is_that_of_java() -> None:
    assert java_random(0) == 0.730967787376657


def test_draws_are_the_same_for_the_same_seed() -> None:
    text = "[$uuid(), $random()]"
    assert ask(text, seed="a") == ask(text, seed="a")
    assert ask(text, seed="a") != ask(text, seed="b")


@pytest.mark.parametrize(
    "text",
    [
        "$partition([1], 0)",
        "$partition([1], 'a')",
        "$range(1, 2, 0)",
        "$range(1, 1e9, 1)",
        "$hash('a', 'SHA-3')",
        "$hash($sum, 'MD5')",
        "$parse('{')",
        "$parse($sum)",
        "$parse('1e999')",
        "$random('x')",
        "1 / 0",
        "$error('no')",
    ],
)
def test_what_cannot_be_done_is_a_reason(text: str) -> None:
    reason = ask(text).reason
    assert reason is not None
    assert reason.startswith("threw an error during evaluation. ")


class PanicException(BaseException):
    """As the library raises when it breaks off inside: derived from nothing better."""


class Breaking:
    """An expression whose evaluation raises."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def evaluate_json(self, *_: object, **__: object) -> str:
        raise self.error


def test_a_library_that_panics_is_a_reason_too() -> None:
    for error in (PanicException("at src/lib.rs"), MemoryError(), RecursionError()):
        query = replace(compile_query("1 + 1"), compiled=Breaking(error))  # type: ignore[arg-type]
        reason = answer(Question(query, {}, 0, ""), BOUNDS).reason
        assert reason == "threw an error during evaluation. the evaluation broke off"


def test_what_is_meant_for_the_process_is_not_swallowed() -> None:
    query = replace(compile_query("1"), compiled=Breaking(KeyboardInterrupt()))  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        answer(Question(query, {}, 0, ""), BOUNDS)


def test_reasons_are_those_of_aws() -> None:
    assert ask("$randomSeeded(1)").reason == (
        "threw an error during evaluation. T1006: Attempted to invoke a non-function"
    )


@pytest.mark.parametrize(
    "text",
    [
        *("1 +", "(", "420.", "$states.input.[", "%", "'\ud800'", "1e400"),
        *("$eval('1')", "$x := $eval", "$states.input ~> $eval", "$map(['1'], $eval)"),
        *("$", "$$", "$.a", "$$.a", "$states.input = $", "1 + $$.a"),
        "(" * 5_000,
    ],
)
def test_what_may_not_stand_in_a_definition_is_refused(text: str) -> None:
    with pytest.raises(QuerySyntaxError):
        compile_query(text)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("a.b", True),
        ("$states.input.n > most", True),
        ("`a b`", True),
        ("$states.input.n / n / 2", True),
        ("'a' = 'b'", False),
        ("$states.input[a = 1].b", False),
        ("$states.input.{'a': b}", False),
        ("$contains($states.input.a, /b$/) and true", False),
        ("/* a */ $x", False),
        ("$states.input ~> |a|{'b': c}|", False),
        ("function($x){$x}(1)", False),
        ("$states.input.a in [1] or null", False),
    ],
)
def test_a_name_that_leads_nowhere_is_doubted(text: str, *, bare: bool) -> None:
    assert (compile_query(text).doubt is not None) is bare


@pytest.mark.parametrize(
    ("text", "states", "variables"),
    [
        ("$states.input.a + $x.y", {"input"}, {"x"}),
        ("$states.context.Execution.Name", {"context"}, set()),
        ("($y := 1; $y + $map([1], function($v){$v + $z}))", set(), {"z"}),
        ("$states", None, set()),
        ("$lookup($states, 'result')", {"result"}, set()),
        ("$exists($status)", set(), {"status"}),
        ("$uuid() & $hash($a, 'MD5')", set(), {"a"}),
    ],
)
def test_it_is_known_what_an_expression_reads(
    text: str, states: set[str] | None, variables: set[str]
) -> None:
    query = compile_query(text)
    assert query.states == states
    assert query.variables == variables


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("$states.context.Execution.Input.a", True),
        ("$states.context.Execution", True),
        ("$states.context", True),
        ("$states", True),
        ("$states.context.Execution.Id", False),
        ("$states.context.Map.Item.Value", False),
        ("$states.input", False),
    ],
)
def test_it_is_known_whether_it_sees_the_input_of_the_execution(text: str, *, reads: bool) -> None:
    assert compile_query(text).reads_execution_input is reads


def test_a_variable_may_have_the_name_of_a_function() -> None:
    query = compile_query("$count + $sum([1, 2])")
    assert query.uncalled == {"count"}
    assert value("$count + $sum([1, 2])", count=4) == 7


@pytest.mark.parametrize(
    "text",
    [
        *(f"${name}($states.input)" for name in ("replace", "pad", "join", "split", "match")),
        *("$formatNumber(1, '0')", "$string(1)", "$base64encode('a')", "($p := $pad; 1)"),
        *("function($x){$x}", "$map([1], function ($v) {$v})", "λ($x){$x}", "[1..2]"),
        *("$range(1, 2, 1)", "$distinct([1])", "$states.input@$a", "$states.input ~> |a|{}|"),
    ],
)
def test_what_may_exceed_its_limits_is_heavy(text: str) -> None:
    assert compile_query(text).heavy


@pytest.mark.parametrize(
    "text",
    ["$states.input.a + 1", "$uppercase('a')", "$functions", "$strings", "$sum($states.input.l.n)"],
)
def test_what_heeds_its_limits_is_light(text: str) -> None:
    assert not compile_query(text).heavy


def test_a_template_names_the_places_of_its_expressions() -> None:
    template = compile_query_template(
        {"a": ["x", "{% 1 %}", {"b": "{% 2 %}"}], "c": {"d": None}}, "Output"
    )
    asked: list[str] = []
    rendered = template.render(lambda queried: asked.append(queried.field) or queried.query.text)  # type: ignore[func-returns-value]
    assert rendered == {"a": ["x", "1", {"b": "2"}], "c": {"d": None}}
    assert asked == ["Output/a[1]", "Output/a[2]/b"]


def test_what_is_read_is_enough(shared: Path) -> None:
    """The library says what an expression reads; hand it only that, and all, and compare."""
    seen = 0
    for file in sorted((shared / "conformance" / "cases" / "jsonata-suite").glob("*.json")):
        case = json.loads(file.read_text())
        text = expression_in(case["definition"]["States"]["S"]["Output"]["r"])
        assert text is not None
        query = compile_query(text)
        whole: dict[str, Json] = {"input": case["input"], "context": {"a": 1}, "result": [1]}
        part = whole if query.states is None else {k: whole[k] for k in query.states & whole.keys()}
        answers = [
            answer(Question(query, {"states": states}, MOMENT_MS, "s"), BOUNDS)
            for states in (whole, part)
        ]
        assert answers[0] == answers[1], file.name
        seen += 1
    assert seen == 155
