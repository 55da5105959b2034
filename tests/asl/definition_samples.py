"""Definitions for the tests of the parser: a valid state of each type, and machines around them."""

from __future__ import annotations

import copy
import json
from typing import cast

from orchestrator.asl.definition import Parsed, parse
from orchestrator.asl.diagnostics import Severity
from orchestrator.asl.document import Json
from orchestrator.asl.states import State

Object = dict[str, Json]

BRANCH: Object = {"StartAt": "Inner", "States": {"Inner": {"Type": "Pass", "End": True}}}

TASK: Object = {
    "Type": "Task",
    "Comment": "everything a Task may have",
    "QueryLanguage": "JSONPath",
    "Resource": "celery:inventory.reserve",
    "InputPath": "$.order",
    "Parameters": {"id.$": "$.id", "name.$": "States.Format('{}', $.name)", "deep": [{"x.$": "$"}]},
    "ResultSelector": {"value.$": "$.value"},
    "ResultPath": "$.reservation",
    "OutputPath": "$",
    "TimeoutSeconds": 60,
    "HeartbeatSeconds": 10,
    "Credentials": {"RoleArn.$": "$.role"},
    "Retry": [
        {
            "ErrorEquals": ["Busy", "States.Timeout"],
            "IntervalSeconds": 2,
            "MaxAttempts": 5,
            "BackoffRate": 1.5,
            "MaxDelaySeconds": 30,
            "JitterStrategy": "FULL",
            "Comment": "be patient",
        },
        {"ErrorEquals": ["States.ALL"]},
    ],
    "Catch": [
        {"ErrorEquals": ["OutOfStock"], "ResultPath": "$.error", "Next": "Done", "Comment": "no"},
        {"ErrorEquals": ["States.ALL"], "ResultPath": None, "Next": "Done"},
    ],
    "Next": "Done",
}
PASS: Object = {"Type": "Pass", "Result": {"a": 1}, "ResultPath": "$.x", "End": True}
CHOICE: Object = {
    "Type": "Choice",
    "Choices": [
        {"Variable": "$.n", "NumericGreaterThan": 3, "Next": "Done", "Comment": "many"},
        {
            "And": [
                {"Variable": "$.a", "IsPresent": True, "Comment": "there"},
                {"Not": {"Variable": "$.b", "StringEqualsPath": "$.c"}},
            ],
            "Next": "Done",
        },
    ],
    "Default": "Done",
}
WAIT: Object = {"Type": "Wait", "Seconds": 5, "End": True}
SUCCEED: Object = {"Type": "Succeed", "InputPath": "$.a", "OutputPath": None}
FAIL: Object = {"Type": "Fail", "Error": "Bad", "CausePath": "States.Format('{}', $.why)"}
PARALLEL: Object = {"Type": "Parallel", "Branches": [BRANCH], "ResultPath": None, "End": True}
MAP: Object = {
    "Type": "Map",
    "ItemsPath": "$.items",
    "ItemSelector": {"item.$": "$$.Map.Item.Value"},
    "ItemProcessor": {**BRANCH, "ProcessorConfig": {"Mode": "INLINE"}},
    "MaxConcurrency": 4,
    "ToleratedFailurePercentage": 12.5,
    "End": True,
}
DISTRIBUTED: Object = {
    "Type": "Map",
    "Label": "Lines",
    "ItemReader": {
        "Resource": "arn:aws:states:::s3:getObject",
        "ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW", "MaxItems": 10},
        "Parameters": {"Bucket": "b", "Key.$": "$.key"},
    },
    "ItemBatcher": {"MaxItemsPerBatch": 10, "BatchInput": {"x.$": "$.x"}},
    "ResultWriter": {
        "Resource": "arn:aws:states:::s3:putObject",
        "Parameters": {"Bucket": "b", "Prefix": "p"},
        "WriterConfig": {"Transformation": "FLATTEN", "OutputType": "JSONL"},
    },
    "ItemProcessor": {
        **BRANCH,
        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
    },
    "End": True,
}
ASSIGNING: Object = {
    "Type": "Choice",
    "Choices": [{"Variable": "$seen", "IsPresent": True, "Assign": {"seen": 1}, "Next": "Done"}],
    "Assign": {"seen": True, "größe.$": "$.size", "list": [{"x.$": "$$.State.Name"}]},
    "Default": "Done",
}
QUERY_TASK: Object = {
    "Type": "Task",
    "QueryLanguage": "JSONata",
    "Resource": "celery:inventory.reserve",
    "Arguments": {"id": "{% $states.input.id %}", "deep": [{"x": "{% $x + 1 %}"}], "y": "$.y"},
    "Output": "{% $merge([$states.input, $states.result]) %}",
    "Assign": {"last": "{% $states.result.id %}", "count": 1},
    "TimeoutSeconds": "{% $states.input.seconds %}",
    "HeartbeatSeconds": "{%5%}",
    "Credentials": {"RoleArn": "{% $states.input.role %}"},
    "Retry": [{"ErrorEquals": ["States.QueryEvaluationError"]}],
    "Catch": [
        {
            "ErrorEquals": ["States.ALL"],
            "Output": {"why": "{% $states.errorOutput.Cause %}"},
            "Assign": {"failed": True},
            "Next": "Done",
        }
    ],
    "Next": "Done",
}
QUERY_PASS: Object = {
    "Type": "Pass",
    "QueryLanguage": "JSONata",
    "Output": {"a": "{% $states.context.State.Name %}", "b": "{%", "c": None},
    "Assign": {"_a1": "{% $states.input ~> $keys %}"},
    "End": True,
}
QUERY_CHOICE: Object = {
    "Type": "Choice",
    "QueryLanguage": "JSONata",
    "Choices": [
        {"Condition": "{% $states.input.n > 3 %}", "Next": "Done", "Output": 1, "Comment": "many"},
        {"Condition": True, "Assign": {"n": 1}, "Next": "Done"},
    ],
    "Output": {},
    "Assign": {},
}
QUERY_WAIT: Object = {
    "Type": "Wait",
    "QueryLanguage": "JSONata",
    "Timestamp": "{% $states.input.at %}",
    "Output": "over",
    "End": True,
}
QUERY_SUCCEED: Object = {"Type": "Succeed", "QueryLanguage": "JSONata", "Output": ["{% $x %}"]}
QUERY_FAIL: Object = {
    "Type": "Fail",
    "QueryLanguage": "JSONata",
    "Error": "Bad",
    "Cause": "{% 'because of ' & $states.input.why %}",
}
QUERY_PARALLEL: Object = {
    "Type": "Parallel",
    "QueryLanguage": "JSONata",
    "Arguments": "{% $states.input.both %}",
    "Branches": [{"StartAt": "Paths", "States": {"Paths": {**PASS, "InputPath": "$x"}}}],
    "End": True,
}
QUERY_MAP: Object = {
    "Type": "Map",
    "QueryLanguage": "JSONata",
    "Items": [1, "{% $states.input.two %}"],
    "ItemSelector": {"item": "{% $states.context.Map.Item.Value %}"},
    "ItemProcessor": {"StartAt": "Paths", "States": {"Paths": {**PASS, "InputPath": "$x"}}},
    "ItemReader": {
        "Resource": "arn:aws:states:::s3:getObject",
        "ReaderConfig": {"InputType": "JSON", "MaxItems": "{% $most %}"},
        "Arguments": {"Bucket": "{% $states.input.bucket %}"},
    },
    "ItemBatcher": {"MaxItemsPerBatch": "{% 2 %}", "BatchInput": {"x": "{% 1 %}"}},
    "MaxConcurrency": "{% $states.input.at_once %}",
    "ToleratedFailureCount": "{% 1 %}",
    "ToleratedFailurePercentage": 10.5,
    "End": True,
}
QUERIES: dict[str, Object] = {
    "Task of JSONata": QUERY_TASK,
    "Pass of JSONata": QUERY_PASS,
    "Choice of JSONata": QUERY_CHOICE,
    "Wait of JSONata": QUERY_WAIT,
    "Succeed of JSONata": QUERY_SUCCEED,
    "Fail of JSONata": QUERY_FAIL,
    "Parallel of JSONata": QUERY_PARALLEL,
    "Map of JSONata": QUERY_MAP,
}
AWAIT: Object = {
    "Type": "Await",
    "Comment": "everything an Await may have",
    "OnEnter": {"Resource": "celery:reviews.open", "Parameters": {"order.$": "$"}},
    "OnExit": [
        {"Resource": "celery:reviews.close", "TimeoutSeconds": 60, "HeartbeatSeconds": 10},
        {"Resource": "celery:log", "Retry": [{"ErrorEquals": ["States.ALL"]}], "Comment": "short"},
    ],
    "On": {
        "pay": [
            {
                "Condition": {"Variable": "$$.Call.Input.cleared", "BooleanEquals": True},
                "Assign": {"by.$": "$$.Call.Id"},
                "ResultPath": "$.payment",
                "Effect": {"Resource": "celery:thank"},
                "Next": "Done",
            },
            {"Condition": {"Variable": "$.n", "IsPresent": True}, "Stay": True},
            {"Refuse.$": "States.Format('not {}', $$.Call.Name)", "Comment": "too early"},
        ],
        "cancel": {"Postpone": True},
        "*": {"Refuse": "not now"},
    },
    "After": [
        {"Seconds": 60, "Effect": {"Resource": "celery:remind"}},
        {"SecondsPath": "$.s", "Next": "Done", "Comment": "at last"},
        {"Timestamp": "2030-01-01T00:00:00Z", "Next": "Done"},
        {"TimestampPath": "$.t", "Next": "Done"},
    ],
}
QUERY_AWAIT: Object = {
    "Type": "Await",
    "QueryLanguage": "JSONata",
    "OnExit": {"Resource": "celery:log", "Arguments": "{% $states.input %}"},
    "On": {
        "pay": [
            {
                "Condition": "{% $states.context.Call.Input.cleared = true %}",
                "Assign": {"by": "{% $states.context.Call.Id %}"},
                "Output": {"paid": True},
                "Next": "Done",
            },
            {"Condition": True, "Stay": True, "Assign": {"n": 1}},
            {"Refuse": "{% 'not ' & $states.context.Call.Name %}"},
        ],
        "*": {"Refuse": "not now"},
    },
    "After": [
        {"Seconds": "{% $states.input.s %}", "Effect": [{"Resource": "celery:a", "Arguments": {}}]},
        {"Timestamp": "{% $states.input.t %}", "Next": "Done"},
    ],
}
COMPENSATE: Object = {"Type": "Compensate", "Comment": "undo it all", "Next": "Done"}
COMPENSATED: Object = {
    "Type": "Task",
    "Resource": "celery:inventory.reserve",
    "Compensate": {
        "Comment": "everything a compensation may have",
        "Resource": "celery:inventory.release",
        "Parameters": {"reservation.$": "$.result.id", "order.$": "$.input.order"},
        "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2}],
        "TimeoutSeconds": 60,
        "HeartbeatSeconds": 10,
    },
    "CompensateUnknown": True,
    "Pivot": False,
    "Catch": [{"ErrorEquals": ["States.ALL"], "Compensate": True, "Next": "Done"}],
    "Next": "Done",
}
QUERY_COMPENSATED: Object = {
    "Type": "Task",
    "QueryLanguage": "JSONata",
    "Resource": "celery:inventory.reserve",
    "Compensate": {
        "Resource": "celery:inventory.release",
        "Arguments": {"id": "{% $states.result.id %}", "of": "{% $states.input.order %}"},
    },
    "Pivot": True,
    "Catch": [{"ErrorEquals": ["States.ALL"], "Compensate": True, "Next": "Done"}],
    "End": True,
}
ADOPTING: Object = {
    "Type": "Task",
    "Resource": "arn:aws:states:::states:startExecution.sync:2",
    "Parameters": {"StateMachineArn": "trip"},
    "Compensate": True,
    "End": True,
}
SAGAS: dict[str, Object] = {
    "Compensate": COMPENSATE,
    "Task with Compensate": COMPENSATED,
    "Task of JSONata with Compensate": QUERY_COMPENSATED,
    "Task that adopts": ADOPTING,
    "Parallel with Compensate": {**PARALLEL, "Compensate": {"Resource": "celery:undo"}},
    "Map with Compensate": {**MAP, "Compensate": {"Resource": "celery:undo"}},
    "Map that adopts": {**DISTRIBUTED, "Compensate": True},
}

ALL: dict[str, Object] = {
    **SAGAS,
    **QUERIES,
    "Await": AWAIT,
    "QueryAwait": QUERY_AWAIT,
    "Assigning": ASSIGNING,
    "Task": TASK,
    "Pass": PASS,
    "Choice": CHOICE,
    "Wait": WAIT,
    "Succeed": SUCCEED,
    "Fail": FAIL,
    "Parallel": PARALLEL,
    "Map": MAP,
    "Distributed": DISTRIBUTED,
}


def machine(state: Json) -> Object:
    """Return a machine whose first state, X, is the given one; "Done" is there if it is named."""
    states: Object = {"X": state}
    if '"Done"' in json.dumps(state):
        states["Done"] = {"Type": "Succeed"}
    calls: Object = {"Calls": {"pay": {}, "cancel": {}}} if '"On"' in json.dumps(state) else {}
    return {"StartAt": "X", "States": states, **calls}


def changed(sample: Object, **fields: Json) -> Object:
    """Return a state with some fields changed; what is set to ... is left out."""
    state = copy.deepcopy(sample)
    for name, value in fields.items():
        state[name] = value
    return state


def without(sample: Object, *names: str) -> Object:
    """Return a state without some fields."""
    return {name: copy.deepcopy(value) for name, value in sample.items() if name not in names}


def parsed(definition: Json) -> Parsed:
    """Parse a definition given as JSON."""
    return parse(json.dumps(definition))


def state(sample: Json) -> State:
    """Return the state that a valid one is read as."""
    read = parsed(machine(sample))
    assert read.machine is not None, read.findings
    return read.machine.state("X")


def errors(definition: Json | str) -> list[tuple[str, str, str | None]]:
    """Return code, message and pointer of each error found in a definition, JSON or text."""
    text = definition if isinstance(definition, str) else json.dumps(definition)
    return [
        (finding.code.value, finding.message, finding.pointer)
        for finding in parse(text).findings
        if finding.severity is Severity.ERROR
    ]


def warnings(definition: Json) -> list[tuple[str, str | None]]:
    """Return code and pointer of each warning."""
    return [
        (finding.code.value, finding.pointer)
        for finding in parsed(definition).findings
        if finding.severity is Severity.WARNING
    ]


def inside(value: Json, *keys: str | int) -> Json:
    """Return what stands inside a value under some keys."""
    for key in keys:
        value = cast("Object", value)[cast("str", key)]
    return value
