"""Whatever anybody sends as a definition ends in findings, soon, and never in an exception."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.asl.definition import Parsed, parse
from orchestrator.asl.diagnostics import refused
from orchestrator.asl.document import Json
from tests.asl.definition_samples import ALL, PASS, TASK, Object, changed, machine

SOON_SECONDS = 3.0

Place: TypeAlias = tuple[str | int, ...]


def judged(text: str) -> Parsed:
    """Parse a definition; fail if it takes long or the promise about the machine is broken."""
    began = time.process_time()
    read = parse(text)
    assert time.process_time() - began < SOON_SECONDS
    assert (read.machine is None) == refused(read.findings)
    return read


TEXTS: dict[str, Callable[[], str]] = {
    "nothing": lambda: "",
    "blanks": lambda: " \n\t ",
    "a word": lambda: "not a definition",
    "half a document": lambda: '{"StartAt":',
    "arrays 100,000 deep": lambda: "[" * 100_000 + "]" * 100_000,
    "objects 100,000 deep": lambda: '{"a":' * 100_000 + "1" + "}" * 100_000,
    "100,000 brackets that nobody closes": lambda: "[" * 100_000,
    "10 MB of blanks": lambda: " " * 10_000_000,
    "10 MB of machine": lambda: json.dumps(machine(changed(PASS, Result="x" * 10_000_000))),
    "a mebibyte of quotes": lambda: '{"a":' + '"\\"' * 250_000,
    "a mebibyte of backslashes": lambda: '"' + "\\" * 1_000_001,
    "NaN": lambda: json.dumps(machine(changed(PASS, Result=float("nan")))),
    "Infinity": lambda: json.dumps(machine(changed(PASS, Result=-float("inf")))),
    "1e400": lambda: '{"StartAt":"X","States":{"X":{"Type":"Pass","End":true,"Result":1e400}}}',
    "an integer of 5,000 digits": lambda: '{"TimeoutSeconds":' + "9" * 5_000 + "}",
    "half of a surrogate pair, unescaped": lambda: '{"StartAt":"\ud800"}',
    "a zero byte": lambda: "\0",
    "a byte order mark": lambda: "\ufeff{}",
    "two documents": lambda: "{} {}",
    "10,000 duplicate keys": lambda: "{" + ",".join(['"a":1'] * 10_000) + "}",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_that_is_no_definition_is_refused(text: Callable[[], str]) -> None:
    assert judged(text()).machine is None


def test_escaped_surrogates_in_names_are_refused_and_elsewhere_kept() -> None:
    assert judged('{"StartAt":"\\ud800","States":{"\\ud800":{"Type":"Succeed"}}}').machine is None
    assert judged(json.dumps(machine(changed(PASS, Comment="\ud800")))).machine is not None


def test_10000_states_are_read_in_time() -> None:
    states: Object = {
        f"S{number}": {"Type": "Pass", "Next": f"S{number + 1}"} for number in range(10_000)
    }
    states["S10000"] = {"Type": "Succeed"}
    assert judged(json.dumps({"StartAt": "S0", "States": states})).machine is not None


def test_10000_states_that_are_all_wrong_are_all_told_in_time() -> None:
    states: Object = {f"S{number}": {"Next": f"T{number}"} for number in range(10_000)}
    read = judged(json.dumps({"StartAt": "S0", "States": states}))
    assert len(read.findings) > 20_000


def test_a_choice_with_5000_rules_is_read_in_time() -> None:
    rules: list[Json] = [
        {"Variable": "$.a.b", "NumericEquals": n, "Next": "X"} for n in range(5_000)
    ]
    choice: Object = {"Type": "Choice", "Choices": rules, "Default": "Done"}
    assert judged(json.dumps(machine(choice))).machine is not None


def test_wrong_types_everywhere_are_findings() -> None:
    wrong: list[Json] = [None, True, -1, 1.5, "", "x", [], [[]], [{}], {}, {"a": []}]
    for sample in ALL.values():
        for place in places(machine(sample)):
            for value in wrong:
                judged(json.dumps(replaced(machine(sample), place, value)))


NASTY_TEXTS = [
    "$" * 1_000,
    "$[" * 1_000,
    "$[?(" * 1_000,
    "$" + "[?(@" * 500,
    "$[?(" + "!" * 5_000 + "@.a)]",
    "$" + ".a" * 10_000,
    "$" + "..*" * 1_000,
    "$[?(@.a=~/(a+)+$/)]",
    "$[?(@.a=~/" + "(" * 1_000 + "/)]",
    "$[" + "9" * 5_000 + "]",
    "$[?(@.a == " + "9" * 5_000 + ")]",
    "States.MathAdd(" + "9" * 5_000 + ", 1)",
    "States.MathAdd(1e999, 1)",
    "States.Array(" * 1_000,
    "States.Format('" + "\\" * 5_001 + "')",
    "States.Format(" + "$.a, " * 5_000 + "$)",
    "\ud800",
    "\0",
]


@pytest.mark.parametrize("text", NASTY_TEXTS, ids=range(len(NASTY_TEXTS)))
def test_nasty_paths_and_calls_are_findings_or_fine(text: str) -> None:
    task = changed(
        TASK,
        InputPath=text,
        OutputPath=text,
        ResultPath=text,
        Resource=text,
        Parameters={"x.$": text, text: text},
        ResultSelector={"x.$": f"States.Array({text})"},
        Retry=[{"ErrorEquals": [text]}],
    )
    judged(json.dumps(machine(task)))
    rule: Json = {"Variable": text, "StringMatches": text, "Next": text}
    judged(json.dumps(machine({"Type": "Choice", "Choices": [rule], "Default": text})))
    judged(json.dumps(machine({"Type": "Fail", "ErrorPath": text, "CausePath": text})))
    judged(json.dumps(machine({"Type": "Wait", "Timestamp": text, "End": True})))


# ------------------------------------------------------------------------------------ properties

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
)
WORDS = st.sampled_from(
    [
        *("$", "$.a", "$$", "$$.Execution.Input", "X", "Done", "Task", "Pass", "Map", "States.ALL"),
        *("States.UUID()", "celery:a", "arn:aws:states:::lambda:invoke", "{% 1 %}", "JSONata"),
    ]
)
FIELDS = st.sampled_from(
    [
        *("Type", "Next", "End", "States", "StartAt", "Choices", "Default", "Catch", "Retry"),
        *("Branches", "ItemProcessor", "Iterator", "Parameters", "x.$", "Label", "Assign", "And"),
    ]
) | st.text(max_size=10)


def jsons() -> st.SearchStrategy[Json]:
    return st.recursive(
        SCALARS | WORDS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FIELDS, inner, max_size=4),
        max_leaves=12,
    )


def places(value: Json, place: Place = ()) -> Iterator[Place]:
    """Yield the place of every value inside a value."""
    yield place
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*place, index))


def replaced(value: Json, place: Place, by: Json) -> Json:
    """Return a copy of a value with something else at one place."""
    if not place:
        return by
    key, *rest = place
    if isinstance(value, dict) and isinstance(key, str):
        return value | {key: replaced(value[key], tuple(rest), by)}
    assert isinstance(value, list)
    assert isinstance(key, int)
    return [*value[:key], replaced(value[key], tuple(rest), by), *value[key + 1 :]]


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_text_is_judged(text: str) -> None:
    judged(text)


@given(jsons())
@settings(max_examples=300, deadline=None)
def test_any_json_is_judged(value: Json) -> None:
    judged(json.dumps(value))
    judged(json.dumps(machine(value)))
    judged(json.dumps({"StartAt": "X", "States": value}))


@given(st.data())
@settings(max_examples=500, deadline=None)
def test_a_valid_definition_with_changes_is_judged(data: st.DataObject) -> None:
    value: Json = copy.deepcopy(machine(data.draw(st.sampled_from(list(ALL.values())))))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(list(places(value))))
        value = replaced(value, place, data.draw(jsons()))
    judged(json.dumps(value))
