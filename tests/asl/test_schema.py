"""The JSON Schema and the parser say the same of everything that a schema can see."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import orchestrator.asl.schema
from orchestrator.asl.definition import parse
from orchestrator.asl.document import Json
from orchestrator.asl.schema import definition_schema
from tests.asl.definition_samples import ALL, PASS, Object, changed, errors, machine, parsed
from tests.asl.test_definition_hostile import jsons, places, replaced
from tests.asl.test_definition_states import PLACES, WORDS

SCHEMA = definition_schema()
VALIDATOR = Draft202012Validator(SCHEMA)

# What only the parser sees: several places at once, or the syntax of paths, names, expressions.
UNSEEN = {
    "a heartbeat as long as the timeout",
    "a target inside a branch",
    "an unknown Next",
    "an unknown Default",
    "an unknown target of a rule",
    "an unknown target of a Catcher",
    "a branch without an end",
    "a name used inside and outside",
    "States.ALL not alone",
    "States.ALL not in the last Retrier",
    "States.ALL not in the last Catcher",
    "a Timestamp on the 30th of February",
    "a ResultPath to several places",
    "a ResultPath into the context",
    "a timeout path of many values",
    "an illegal escape",
    "an unknown function",
    "a template field given twice",
    "a cause from a function of numbers",
    "a function without a name",
    "an execution of no machine",
    "a Label with a blank",
    "a variable with two words",
    "a variable inside another",
    "a variable of a reserved name",
    "a variable with a long name",
    "a variable that is a path",
    "a result in a variable",
    "an expression that is none",
    "an expression that is none deep inside",
    "an expression that evaluates",
    "an expression on no input",
    "an expression that begins with $$",
    "a result before there is one",
    "a result for Arguments",
    "an error where there is none",
    "a duration that is no expression",
    "a cause that is no expression",
    "a compensation that waits for an answer",
    "a compensation with an error",
    "a result for Arguments beside a compensation",
    "a compensation of unknown resource",
    "a pivot in a branch",
}
FAULTS: list[tuple[str, Json]] = [
    *((name, state) for name, state, _ in PLACES),
    *((name, state) for name, state, *_ in WORDS),
]
SEEN = {name: state for name, state in FAULTS if name not in UNSEEN}


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_the_file_beside_the_module_is_up_to_date() -> None:
    file = Path(orchestrator.asl.schema.__file__).with_name("definition.schema.json")
    assert json.loads(file.read_text()) == SCHEMA


@pytest.mark.parametrize("sample", ALL.values(), ids=ALL)
def test_valid_states_satisfy_it(sample: Object) -> None:
    assert list(VALIDATOR.iter_errors(machine(sample))) == []


@pytest.mark.parametrize("state", SEEN.values(), ids=SEEN)
def test_each_structural_fault_violates_it(state: Json) -> None:
    assert not VALIDATOR.is_valid(machine(state))


def test_what_it_cannot_see_is_named_and_no_more() -> None:
    unseen = {name: state for name, state in FAULTS if name in UNSEEN}
    assert unseen.keys() == UNSEEN
    assert [name for name, state in unseen.items() if not VALIDATOR.is_valid(machine(state))] == []


@pytest.mark.parametrize(
    "definition",
    [
        {},
        [],
        {"StartAt": "X", "States": {}},
        machine(PASS) | {"Calls": {}},
        machine(PASS) | {"On": {}},
        machine(PASS) | {"Version": "2.0"},
        machine(PASS) | {"TimeoutSeconds": 0},
        machine(PASS) | {"QueryLanguage": "SQL"},
        {"StartAt": "a" * 81, "States": {"a" * 81: PASS}},
        {"StartAt": "a\n", "States": {"a\n": PASS}},
    ],
)
def test_faults_of_the_machine_violate_it(definition: Json) -> None:
    assert not VALIDATOR.is_valid(definition)
    assert errors(definition)


def test_it_knows_the_same_fields_of_each_type_as_the_parser() -> None:
    definitions = SCHEMA["$defs"]
    assert isinstance(definitions, dict)
    types = [name for name in definitions if name[0].isupper()]
    known: dict[str, set[str]] = {}
    for kind in types:
        entry = definitions[kind]
        assert isinstance(entry, dict)
        properties = entry["properties"]
        assert isinstance(properties, dict)
        known[kind] = set(properties)
    every = set().union(*known.values())
    assert len(types) == 10
    for kind in types:
        for field in every:
            words = {message for _, message, _ in errors(machine({"Type": kind, field: None}))}
            refused = f"Field '{field}' is not supported" in words
            assert refused is (field not in known[kind]), (kind, field)


def test_definitions_from_the_wild_satisfy_it(shared: Path) -> None:
    seen = 0
    for file in (shared / "definitions").glob("*.json"):
        text = file.read_text()
        if parse(text).machine is not None:
            seen += 1
            assert list(VALIDATOR.iter_errors(json.loads(text))) == [], file.name
    assert seen > 200


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_what_the_parser_accepts_satisfies_it(data: st.DataObject) -> None:
    value: Json = copy.deepcopy(machine(data.draw(st.sampled_from(list(ALL.values())))))
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.sampled_from(list(places(value))))
        value = replaced(value, place, data.draw(jsons()))
    if parsed(value).machine is not None:
        assert list(VALIDATOR.iter_errors(value)) == []


def test_a_literal_result_may_be_anything() -> None:
    assert VALIDATOR.is_valid(machine(changed(PASS, Result={"x.$": 1})))
