"""The JSON Schema (draft 2020-12) of a definition, for editors.

It says what an editor can check while one types: fields, types, ranges, words. What needs the
whole machine (targets, reach, names used twice) and the syntax of paths and expressions only the
parser checks. `definition.schema.json` beside this file is `definition_schema()`, written down.

Each state type is there once per query language: `Task` and `queryTask`. Parallel and Map in
JSONata are there once more (`queriedMap`): what stands in them follows the machine's language.
"""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.asl.document import Json
from orchestrator.asl.graph import MOST_NAME_CHARACTERS
from orchestrator.asl.limits import DEFAULT
from orchestrator.asl.schema_calls import calls, reactions
from orchestrator.asl.schema_parts import (
    BOOLEAN,
    CONTROL,
    EXPRESSION,
    OBJECT,
    ONLY_QUERIES,
    PATH,
    PATH_OR_NULL,
    PATHS,
    QUERIES,
    STRING,
    TEMPLATE,
    TIMESTAMP,
    Language,
    array,
    as_object,
    assign,
    catcher,
    condition,
    exactly_one,
    integer,
    item_batcher,
    item_reader,
    not_both,
    number,
    object_of,
    processor,
    result_writer,
    retrier,
    scope,
    spelled,
    template,
    test,
    word,
)
from orchestrator.asl.states.fields import JSONATA, JSONPATH
from orchestrator.asl.states.map import MOST_LABEL_CHARACTERS

_TYPES = (
    "Task",
    "Wait",
    "Await",
    "Compensate",
    "Pass",
    "Succeed",
    "Fail",
    "Choice",
    "Parallel",
    "Map",
)
_FORKS = ("Parallel", "Map")


def definition_schema() -> dict[str, Json]:
    """Return the schema of a whole definition."""
    machine = {
        **scope("states"),
        "QueryLanguage": word(JSONPATH, JSONATA),
        "Version": word("1.0"),
        "TimeoutSeconds": integer(1),
        "States": OBJECT,
        "Calls": calls(),
        "On": OBJECT,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:durable-orchestrator:definition",
        "title": "Definition of a machine in the Amazon States Language",
        **object_of(machine, "StartAt", "States"),
        "if": {"required": ["QueryLanguage"], "properties": {"QueryLanguage": {"const": JSONATA}}},
        "then": {
            "properties": {
                "States": {"$ref": "#/$defs/queryStates"},
                "On": {"$ref": "#/$defs/queryOn"},
            }
        },
        "else": {
            "properties": {"States": {"$ref": "#/$defs/states"}, "On": {"$ref": "#/$defs/on"}}
        },
        "$defs": {
            "states": _states("state"),
            "queryStates": _states("queryState"),
            "state": _state(),
            "queryState": _by_type("query", "queried"),
            "branch": object_of(scope("states"), "StartAt", "States"),
            "queryBranch": object_of(scope("queryStates"), "StartAt", "States"),
            "processor": processor("states"),
            "queryProcessor": processor("queryStates"),
            "template": template(),
            "assign": {"type": "object", **template()},
            "retrier": retrier(),
            "catcher": catcher(PATHS),
            "queryCatcher": catcher(QUERIES),
            "test": test({}),
            "rule": test({"Next": STRING, "Assign": {"$ref": "#/$defs/assign"}}, "Next"),
            "condition": condition(),
            **reactions("", queries=False, timestamp=TIMESTAMP, path=PATH),
            **reactions("query", queries=True, timestamp=TIMESTAMP, path=PATH),
            **_types("", PATHS, _TYPES),
            **_types("query", QUERIES, _TYPES),
            **_types("queried", ONLY_QUERIES, _FORKS),
        },
    }


def _types(prefix: str, language: Language, kinds: Iterable[str]) -> dict[str, Json]:
    made = {
        "Task": _task,
        "Wait": _wait,
        "Await": _await,
        "Compensate": _compensate,
        "Pass": _pass,
        "Succeed": _succeed,
        "Fail": _fail,
        "Choice": _choice,
        "Parallel": _parallel,
        "Map": _map,
    }
    return {f"{prefix}{kind}": made[kind](language) for kind in kinds}


# ------------------------------------------------------------------------------------ states


def _states(state: str) -> Json:
    return {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {
            "minLength": 1,
            "maxLength": MOST_NAME_CHARACTERS,
            "not": {"pattern": CONTROL},
        },
        "additionalProperties": {"$ref": f"#/$defs/{state}"},
    }


def _state() -> Json:
    """Return the schema of a state where the machine speaks JSONPath."""
    return {
        "type": "object",
        "if": {"required": ["QueryLanguage"], "properties": {"QueryLanguage": {"const": JSONATA}}},
        "then": _by_type("query", "query"),
        "else": _by_type("", ""),
    }


def _by_type(prefix: str, of_forks: str) -> Json:
    by_type: list[Json] = [
        {
            "if": {"required": ["Type"], "properties": {"Type": {"const": kind}}},
            "then": {"$ref": f"#/$defs/{of_forks if kind in _FORKS else prefix}{kind}"},
        }
        for kind in _TYPES
    ]
    return {
        "type": "object",
        "required": ["Type"],
        "properties": {"Type": word(*_TYPES)},
        "allOf": by_type,
    }


def _typed(language: Language, properties: dict[str, Json], *required: str) -> dict[str, Json]:
    plain: dict[str, Json] = {
        "Type": word(*_TYPES),
        "Comment": STRING,
        "QueryLanguage": word(language.name),
    }
    return object_of({**plain, **properties}, "Type", *required)


def _in_and_out(language: Language) -> dict[str, Json]:
    return language.field({"InputPath": PATH_OR_NULL, "OutputPath": PATH_OR_NULL}, {"Output": {}})


def _flowing(language: Language, properties: dict[str, Json], *required: str) -> dict[str, Json]:
    flow: dict[str, Json] = {"Next": STRING, "End": BOOLEAN, **assign(language)}
    end: Json = {"required": ["End"], "properties": {"End": {"const": True}}}
    return {
        **_typed(language, {**flow, **_in_and_out(language), **properties}, *required),
        "oneOf": [{"required": ["Next"]}, end],
    }


def _working(language: Language, properties: dict[str, Json], *required: str) -> dict[str, Json]:
    work: dict[str, Json] = {
        "Retry": array("retrier"),
        "Catch": array("queryCatcher" if language.queries else "catcher"),
        **language.field(
            {
                "Parameters": TEMPLATE,
                "ResultSelector": TEMPLATE,
                "ResultPath": PATH_OR_NULL,
            },
            {"Arguments": {}},
        ),
    }
    return _flowing(language, {**work, **properties}, *required)


def _task(language: Language) -> Json:
    credentials: dict[str, Json] = {
        **object_of({"RoleArn": STRING, "RoleArn.$": EXPRESSION}),
        **as_object(exactly_one(("RoleArn", "RoleArn.$"))),
    }
    properties: dict[str, Json] = {
        "Resource": {"type": "string", "minLength": 1, "not": {"pattern": CONTROL}},
        "TimeoutSeconds": number(language, integer(1)),
        "HeartbeatSeconds": number(language, integer(1)),
        "Credentials": object_of({"RoleArn": {}}, "RoleArn") if language.queries else credentials,
        **language.field({"TimeoutSecondsPath": PATH, "HeartbeatSecondsPath": PATH}, {}),
        **_adopting(language),
        "CompensateUnknown": BOOLEAN,
        "Pivot": BOOLEAN,
    }
    starts: Json = {"properties": {"Resource": {"type": "string", "pattern": _STARTS}}}
    pairs: list[Json] = [
        not_both("TimeoutSeconds", "TimeoutSecondsPath"),
        not_both("HeartbeatSeconds", "HeartbeatSecondsPath"),
        {**_IF_ADOPTING, "then": starts},
    ]
    return {
        **_working(language, properties, "Resource"),
        "allOf": pairs,
        "dependentSchemas": {
            "CompensateUnknown": {
                "required": ["Compensate"],
                "properties": {"Compensate": {"type": "object"}},
            }
        },
    }


def _wait(language: Language) -> Json:
    durations: dict[str, Json] = {
        "Seconds": spelled(language, integer()),
        "Timestamp": number(language, TIMESTAMP),
        **language.field({"SecondsPath": PATH, "TimestampPath": PATH}, {}),
    }
    return {**_flowing(language, durations), "allOf": [exactly_one(durations)]}


def _on(language: Language, name: str) -> Json:
    return {"$ref": f"#/$defs/{f'query{name.title()}' if language.queries else name}"}


def _await(language: Language) -> Json:
    after: Json = {
        "type": "array",
        "items": _on(language, "after"),
        "minItems": 1,
        "maxItems": DEFAULT.after_entries,
    }
    properties: dict[str, Json] = {
        "On": _on(language, "on"),
        "After": after,
        "OnEnter": _on(language, "effects"),
        "OnExit": _on(language, "effects"),
    }
    return _typed(language, properties)


def _compensate(language: Language) -> Json:
    end: Json = {"required": ["End"], "properties": {"End": {"const": True}}}
    flow: dict[str, Json] = {"Next": STRING, "End": BOOLEAN}
    return {**_typed(language, flow), "oneOf": [{"required": ["Next"]}, end]}


_STARTS = r"^arn:aws:states:::(states|aws-sdk:sfn):startExecution\.sync(:2)?$"
"""What starts an execution and waits for it."""

_IF_ADOPTING: dict[str, Json] = {
    "if": {"required": ["Compensate"], "properties": {"Compensate": {"const": True}}}
}


def _distributed(name: str) -> Json:
    mode: Json = {"required": ["Mode"], "properties": {"Mode": {"const": "DISTRIBUTED"}}}
    config: Json = {"required": ["ProcessorConfig"], "properties": {"ProcessorConfig": mode}}
    return {"required": [name], "properties": {name: config}}


def _undoing(language: Language) -> dict[str, Json]:
    return {"Compensate": _on(language, "effect")}


def _adopting(language: Language) -> dict[str, Json]:
    """Return a Compensate that is true where a state waits for child executions."""
    effect = _on(language, "effect")
    return {"Compensate": {"if": {"type": "boolean"}, "then": {"const": True}, "else": effect}}


def _pass(language: Language) -> Json:
    of_paths: dict[str, Json] = {
        "Parameters": TEMPLATE,
        "ResultPath": PATH_OR_NULL,
        "Result": {},
    }
    return _flowing(language, language.field(of_paths, {}))


def _succeed(language: Language) -> Json:
    return _typed(language, {**_in_and_out(language), "On": _on(language, "refusals")})


def _fail(language: Language) -> Json:
    properties: dict[str, Json] = {
        "Error": STRING,
        "Cause": STRING,
        "On": _on(language, "refusals"),
        **language.field({"ErrorPath": EXPRESSION, "CausePath": EXPRESSION}, {}),
    }
    pairs: list[Json] = [not_both("Error", "ErrorPath"), not_both("Cause", "CausePath")]
    return {**_typed(language, properties), "allOf": pairs}


def _choice(language: Language) -> Json:
    rules = array("condition" if language.queries else "rule", filled=True)
    properties: dict[str, Json] = {
        **_in_and_out(language),
        **assign(language),
        "Choices": {"anyOf": [rules, STRING]},
        "Default": STRING,
    }
    return _typed(language, properties, "Choices")


def _parallel(language: Language) -> Json:
    branch = "branch" if language.default == JSONPATH else "queryBranch"
    properties = {
        "Branches": array(branch, filled=True),
        "On": _on(language, "on"),
        **_undoing(language),
    }
    return _working(language, properties, "Branches")


def _map(language: Language) -> Json:
    bounds: dict[str, Json] = {
        "MaxConcurrency": spelled(language, integer()),
        "ToleratedFailureCount": number(language, integer()),
        "ToleratedFailurePercentage": number(
            language, {"type": "number", "minimum": 0, "maximum": 100}
        ),
    }
    processor = "processor" if language.default == JSONPATH else "queryProcessor"
    properties: dict[str, Json] = {
        "ItemProcessor": {"$ref": f"#/$defs/{processor}"},
        "Iterator": {"$ref": f"#/$defs/{processor}"},
        "ItemSelector": {} if language.queries else TEMPLATE,
        **bounds,
        **language.field(
            {"ItemsPath": PATH, **{f"{bound}Path": PATH for bound in bounds}},
            {"Items": {"type": ["array", "string"]}},
        ),
        "Label": {"type": "string", "minLength": 1, "maxLength": MOST_LABEL_CHARACTERS},
        "On": _on(language, "on"),
        **_adopting(language),
        "ItemReader": item_reader(language),
        "ItemBatcher": item_batcher(language),
        "ResultWriter": result_writer(language),
    }
    pairs: list[Json] = [
        exactly_one(("ItemProcessor", "Iterator")),
        not_both("ItemSelector", "Parameters"),
        *(not_both(bound, f"{bound}Path") for bound in bounds),
        {
            **_IF_ADOPTING,
            "then": {"anyOf": [_distributed("ItemProcessor"), _distributed("Iterator")]},
        },
    ]
    return {**_working(language, properties), "allOf": pairs}
