"""Calls, reactions, timers and effects in definitions: what is refused, and the table."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest

from orchestrator.asl.answering import could_accept, table
from orchestrator.asl.calls import CallKind
from orchestrator.asl.definition import express_findings
from orchestrator.asl.input_schema import InputSchema, InvalidSchema, compile_schema
from orchestrator.asl.machine import Machine
from orchestrator.asl.portable import dialect_uses
from tests.asl.definition_samples import AWAIT, errors, machine, parsed, warnings

REFUSE = {"*": {"Refuse": "no"}}
OVER = {"Type": "Succeed"}


def whole(**states: Any) -> dict[str, Any]:
    """A machine with three calls that starts at the first of the states."""
    calls: dict[str, Any] = {"pay": {}, "ship": {}, "cancel": {}}
    return {"Calls": calls, "StartAt": next(iter(states)), "States": states}


def read(definition: Any) -> Machine:
    found = parsed(definition)
    assert found.machine is not None, [str(finding) for finding in found.findings]
    return found.machine


def waiting(on: Any, **fields: Any) -> dict[str, Any]:
    return {"Type": "Await", "On": on, "After": [{"Seconds": 1, "Next": "Over"}], **fields}


# ------------------------------------------------------------------------------ exhaustive


def test_a_forgotten_cell_is_refused_with_the_state_and_the_name_of_the_call() -> None:
    on = {"pay": {"Next": "Over"}, "ship": {"Refuse": "pay first"}}
    found = errors(whole(A=waiting(on), Over=OVER))
    assert found == [
        ("UNANSWERED_CALL", "The state does not answer the call 'cancel'", "/States/A")
    ]


@pytest.mark.parametrize("level", ["machine", "Parallel", "Map", "*"])
def test_what_encloses_a_state_may_answer_for_it(level: str) -> None:
    on = {"pay": {"Stay": True}, "ship": {"Refuse": "no"}}
    around = {"cancel": {"Refuse": "no"}}
    inner = {"StartAt": "A", "States": {"A": waiting(on), "Over": {"Type": "Pass", "End": True}}}
    fork: dict[str, Any] = {"Type": "Parallel", "Branches": [inner], "Next": "End"}
    if level == "Map":
        fork = {"Type": "Map", "ItemProcessor": inner, "Next": "End"}
    definition = whole(F=fork, End=OVER)
    assert [place for _, _, place in errors(definition)] == [
        "/States/F/ItemProcessor/States/A" if level == "Map" else "/States/F/Branches/0/States/A"
    ]
    holder = definition if level == "machine" else fork
    holder["On"] = REFUSE if level == "*" else around
    assert errors(definition) == []


def test_a_final_state_inherits_nothing_and_refuses_every_call_or_says_nothing() -> None:
    definition = whole(A=waiting(REFUSE), Over=OVER)
    definition["On"] = REFUSE
    assert errors(definition) == []
    definition["States"]["Over"] = {**OVER, "On": {"pay": {"Refuse": "over"}}}
    assert [(code, place) for code, _, place in errors(definition)] == [
        ("UNANSWERED_CALL", "/States/Over"),
        ("UNANSWERED_CALL", "/States/Over"),
    ]


@pytest.mark.parametrize("kind", ["Succeed", "Fail"])
def test_a_final_state_can_only_refuse(kind: str) -> None:
    on = {"*": {"Next": "A"}}
    definition = whole(A=waiting(REFUSE), Over={"Type": kind, "On": on})
    assert [place for _, _, place in errors(definition)] == ["/States/Over/On/*/Next"]


def test_a_reaction_to_a_call_that_nobody_knows_is_an_error() -> None:
    definition = whole(A=waiting({**REFUSE, "sing": {"Stay": True}}), Over=OVER)
    assert errors(definition) == [
        ("UNKNOWN_CALL", "The machine knows no call 'sing': see Calls", "/States/A/On/sing")
    ]
    del definition["Calls"]
    assert {code for code, _, _ in errors(definition)} == {"UNKNOWN_CALL"}


def test_an_await_that_nothing_leads_away_from_is_warned_of() -> None:
    after = [{"Seconds": 1, "Effect": {"Resource": "celery:x"}}]
    for fields in ({"After": after}, {"After": None}):
        state = waiting({**REFUSE, "pay": {"Next": "Over"}}, **fields)
        if state["After"] is None:
            del state["After"]
        assert [(code, place) for code, place in warnings(whole(A=state, Over=OVER))] == [
            ("MAY_WAIT_FOREVER", "/States/A")
        ]


def test_a_state_that_only_a_reaction_or_a_timer_leads_to_is_reachable() -> None:
    state = waiting({**REFUSE, "pay": [{"Next": "B"}]}, After=[{"Seconds": 1, "Next": "C"}])
    definition = whole(A=state, B=OVER, C=OVER, D=OVER)
    assert [place for _, _, place in errors(definition)] == ["/States/D"]
    definition["On"] = {"cancel": {"Next": "D"}}
    assert errors(definition) == []


@pytest.mark.parametrize(
    ("place", "value", "pointer"),
    [
        (("On",), {"pay": {"Next": "Nowhere"}, **REFUSE}, "/On/pay/Next"),
        (("After",), [{"Seconds": 1, "Next": "Nowhere"}], "/After/0/Next"),
        (("On",), {"*": {}}, "/On/*"),
        (("On",), {"*": []}, "/On/*"),
        (("On",), {"*": {"Refuse": "no", "Stay": True}}, "/On/*"),
        (("On",), {"*": {"Refuse": ""}}, "/On/*/Refuse"),
        (("On",), {"*": {"Refuse": 3}}, "/On/*/Refuse"),
        (("On",), {"*": {"Stay": False}}, "/On/*/Stay"),
        (("On",), {"*": {"Stay": True, "ResultPath": "$"}}, "/On/*"),
        (("On",), {"*": {"Postpone": True, "Effect": {"Resource": "celery:x"}}}, "/On/*"),
        (("On",), {"*": {"Refuse": "no", "Assign": {"a": 1}}}, "/On/*"),
        (("On",), {"*": [{"Refuse": "no"}, {"Refuse": "never"}]}, "/On/*/0"),
        (
            ("On",),
            {"*": {"Condition": {"Variable": "$.a", "IsNull": True}, "Refuse": "no"}},
            "/On/*",
        ),
        (
            ("On",),
            {"*": [{"Condition": {"Variable": "$.a"}, "Stay": True}, {"Refuse": "no"}]},
            "/On/*/0/Condition",
        ),
        (("After",), [], "/After"),
        (("After",), [{"Seconds": 1}], "/After/0"),
        (("After",), [{"Next": "Over"}], "/After/0"),
        (("After",), [{"Seconds": 1, "SecondsPath": "$.s", "Next": "Over"}], "/After/0"),
        (("After",), [{"Seconds": -1, "Next": "Over"}], "/After/0/Seconds"),
        (("After",), [{"Seconds": 1, "Next": "Over"}] * 21, "/After"),
        (("OnEnter",), {}, "/OnEnter"),
        (("OnEnter",), {"Resource": "celery:x", "Next": "Over"}, "/OnEnter"),
        (("OnEnter",), {"Resource": "celery:x.waitForTaskToken"}, "/OnEnter/Resource"),
        (
            ("OnExit",),
            [{"Resource": "celery:x", "TimeoutSeconds": 5, "HeartbeatSeconds": 5}],
            "/OnExit/0/HeartbeatSeconds",
        ),
        (("InputPath",), "$.a", ""),
        (("End",), True, ""),
    ],
)
def test_a_fault_is_found_at_its_place(place: tuple[str], value: Any, pointer: str) -> None:
    state = waiting(REFUSE, **{place[0]: value})
    definition = whole(A=state, Over=OVER)
    if place[0] == "After":
        state["On"] = {**REFUSE, "pay": {"Next": "Over"}}
    found = [where for _, _, where in errors(definition) if where != "/States/Over"]
    assert found == [f"/States/A{pointer}"]


def test_an_express_machine_cannot_await() -> None:
    found = express_findings(read(whole(A=waiting(REFUSE), Over=OVER)))
    assert [finding.pointer for finding in found] == ["/States/A/Type"]


@pytest.mark.parametrize("name", ["", "*", "a b", "a/b", "a" * 81, "1a"])
def test_a_call_has_a_name_that_fits_into_a_path(name: str) -> None:
    definition = whole(A=waiting(REFUSE), Over=OVER)
    definition["Calls"] = {name: {}}
    assert [code for code, _, _ in errors(definition)] == ["SCHEMA_VALIDATION_FAILED"]


# ----------------------------------------------------------------------------- input schema


def schema(value: Any) -> InputSchema:
    definition = whole(A=waiting(REFUSE), Over=OVER)
    definition["Calls"]["pay"] = {"InputSchema": value}
    kind = read(definition).calls["pay"]
    assert isinstance(kind, CallKind)
    assert kind.schema is not None
    return kind.schema


def test_an_input_is_checked_against_its_schema_and_the_place_is_told() -> None:
    checked = schema(
        {
            "type": "object",
            "properties": {"amount": {"type": "integer", "minimum": 1}},
            "required": ["amount"],
        }
    )
    assert checked.mismatch({"amount": 3}) is None
    wrong = checked.mismatch({"amount": 0})
    assert wrong is not None
    assert wrong.pointer == "/amount"
    missing = checked.mismatch({})
    assert missing is not None
    assert (missing.pointer, missing.message) == ("", "'amount' is a required property")


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        (3, ""),
        ({"type": "thing"}, "/type"),
        ({"properties": {"a": {"pattern": "("}}}, "/properties/a/pattern"),
        ({"properties": {"a": {"pattern": "(?=x)"}}}, "/properties/a/pattern"),
        ({"patternProperties": {"(": {}}}, "/patternProperties"),
        ({"$ref": "https://example.com/schema"}, "/$ref"),
        ({"$ref": "#/$defs/none"}, "/$ref"),
        ({"items": {"$ref": "other.json"}}, "/items/$ref"),
    ],
)
def test_a_schema_that_is_none_or_leads_outside_is_a_finding(value: Any, pointer: str) -> None:
    definition = whole(A=waiting(REFUSE), Over=OVER)
    definition["Calls"]["pay"] = {"InputSchema": value}
    assert [place for _, _, place in errors(definition)] == [f"/Calls/pay/InputSchema{pointer}"]


def test_references_inside_a_schema_are_followed() -> None:
    checked = schema({"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}})
    assert checked.mismatch([1, 2]) is None
    wrong = checked.mismatch([1, "2"])
    assert wrong is not None
    assert wrong.pointer == "/1"


@pytest.mark.parametrize(
    ("value", "given"),
    [
        ({"pattern": "(a+)+$"}, "a" * 60_000 + "!"),
        ({"patternProperties": {"(a+)+$": {}}, "additionalProperties": False}, {"a" * 5_000: 1}),
        ({"$ref": "#"}, 1),
        ({"uniqueItems": True}, [{"a": n} for n in range(6_000)]),
        (
            {
                "$defs": {
                    f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)
                }
                | {"d40": {}},
                "$ref": "#/$defs/d0",
            },
            1,
        ),
    ],
)
def test_no_schema_and_no_input_takes_long(value: Any, given: Any) -> None:
    checked = compile_schema(value)
    began = time.process_time()
    checked.mismatch(given)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("value", "good", "bad"),
    [
        ({"uniqueItems": True}, [1, True, "1"], [1, 1.0]),
        ({"patternProperties": {"^x": {"type": "null"}}}, {"x": None, "y": 1}, {"xy": 1}),
        (
            {"properties": {"a": {}}, "additionalProperties": {"type": "null"}},
            {"a": 1, "b": None},
            {"b": 1},
        ),
        ({"pattern": "^é"}, "été", "hiver"),
        (True, 1, None),
        ({"unevaluatedProperties": False, "properties": {"a": {}}}, {"a": 1}, {"b": 1}),
    ],
)
def test_what_is_ours_of_the_keywords_says_what_the_draft_says(
    value: Any, good: Any, bad: Any
) -> None:
    checked = compile_schema(value)
    assert checked.mismatch(good) is None
    assert value is True or checked.mismatch(bad) is not None


def test_unevaluated_properties_do_not_go_with_patterns() -> None:
    with pytest.raises(InvalidSchema):
        compile_schema({"unevaluatedProperties": False, "patternProperties": {"a": {}}})


# ------------------------------------------------------------------- the table, and reach


def test_the_table_says_what_each_state_answers() -> None:
    conditional = [
        {"Condition": "{% $states.context.Call.Input.ok %}", "Next": "Over"},
        {"Refuse": "not ok"},
    ]
    definition = whole(
        A=waiting({"pay": conditional, "ship": {"Stay": True}}),
        Over={**OVER, "On": {"*": {"Refuse": "over"}}},
    )
    definition |= {"QueryLanguage": "JSONata", "On": {"cancel": {"Next": "Over"}}}
    rows = table(read(definition))
    assert [(row.state, row.cells) for row in rows] == [
        (
            "A",
            (
                "if $states.context.Call.Input.ok: → Over; refused: not ok",
                "stays",
                "→ Over (machine)",
            ),
        ),
        ("Over", ("refused: over",) * 3),
    ]


def test_could_accept_follows_the_definition() -> None:
    inner: Any = {
        "StartAt": "In",
        "States": {
            "In": waiting({**REFUSE, "ship": {"Next": "Over2"}}, After=[]),
            "Over2": {"Type": "Pass", "End": True},
        },
    }
    del inner["States"]["In"]["After"]
    definition = whole(
        Work={"Type": "Task", "Resource": "celery:x", "Next": "A"},
        A=waiting({**REFUSE, "pay": {"Next": "M"}}),
        M={"Type": "Map", "ItemProcessor": inner, "Next": "Over", "On": {"cancel": {"Next": "A"}}},
        Over=OVER,
    )
    found = read(definition)

    def reach(state: str, call: str, *, inclusive: bool = False, inside: bool = False) -> bool:
        return could_accept(found, state, call, inclusive=inclusive, inside=inside)

    assert reach("Work", "pay")
    assert not reach("M", "ship")
    assert reach("M", "ship", inclusive=True, inside=True)
    assert not reach("M", "ship", inclusive=True)
    assert reach("A", "cancel")
    assert not reach("Over", "pay", inclusive=True)


def test_every_use_of_the_dialect_is_listed() -> None:
    definition = machine(copy.deepcopy(AWAIT))
    uses = dialect_uses(definition)
    assert [(use.what, use.pointer) for use in uses][:3] == [
        ("Calls", "/Calls"),
        ("Type Await", "/States/X/Type"),
        ("On", "/States/X/On"),
    ]
    resources = [use.pointer for use in uses if use.what.startswith("Resource celery:")]
    assert len(resources) == json.dumps(definition).count("celery:")
    plain = whole(A={"Type": "Pass", "End": True})
    del plain["Calls"]
    assert dialect_uses(plain) == ()
