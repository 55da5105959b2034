"""The JSON Schema (draft 2020-12) of a definition, for editors.

It says what an editor can check while one types: fields, types, ranges, words. What needs the
whole machine (targets, reach, names used twice) and the syntax of paths only the parser checks.
`definition.schema.json` beside this file is `definition_schema()`, written down.
"""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.asl.document import Json
from orchestrator.asl.graph import MOST_NAME_CHARACTERS
from orchestrator.asl.limits import LONGEST_DELAY_SECONDS
from orchestrator.asl.states.distributed import MOST_BATCH_BYTES, MOST_ITEMS
from orchestrator.asl.states.fields import MOST_SECONDS
from orchestrator.asl.states.map import MOST_LABEL_CHARACTERS

_CONTROL = r"[\u0000-\u001f\u007f-\u009f]"
_STRING: Json = {"type": "string"}
_BOOLEAN: Json = {"type": "boolean"}
_PATH: Json = {"type": "string", "pattern": r"^\$"}
_PATH_OR_NULL: Json = {"type": ["string", "null"], "pattern": r"^\$"}
_EXPRESSION: Json = {"type": "string", "pattern": r"^(\$|States\.)"}
_TIMESTAMP: Json = {
    "type": "string",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$",
}
_TEMPLATE: Json = {"$ref": "#/$defs/template"}
_SCOPE: dict[str, Json] = {
    "StartAt": _STRING,
    "States": {"$ref": "#/$defs/states"},
    "Comment": _STRING,
}
_COMPARED: dict[str, Json] = {
    "String": _STRING,
    "Numeric": {"type": "number"},
    "Timestamp": _TIMESTAMP,
}
_RELATIONS = ("Equals", "LessThan", "GreaterThan", "LessThanEquals", "GreaterThanEquals")
_KINDS = ("IsNull", "IsPresent", "IsNumeric", "IsString", "IsBoolean", "IsTimestamp")
_TYPES = ("Task", "Wait", "Pass", "Succeed", "Fail", "Choice", "Parallel", "Map")


def definition_schema() -> dict[str, Json]:
    """Return the schema of a whole definition."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:durable-orchestrator:definition",
        "title": "Definition of a machine in the Amazon States Language (JSONPath)",
        **_object(
            {
                **_SCOPE,
                "QueryLanguage": _word("JSONPath"),
                "Version": _word("1.0"),
                "TimeoutSeconds": _integer(1),
            },
            "StartAt",
            "States",
        ),
        "$defs": {
            "states": {
                "type": "object",
                "minProperties": 1,
                "propertyNames": {
                    "minLength": 1,
                    "maxLength": MOST_NAME_CHARACTERS,
                    "not": {"pattern": _CONTROL},
                },
                "additionalProperties": {"$ref": "#/$defs/state"},
            },
            "state": _state(),
            "branch": _object(dict(_SCOPE), "StartAt", "States"),
            "processor": _processor(),
            "template": _template(),
            "retrier": _retrier(),
            "catcher": _catcher(),
            "test": _test({}),
            "rule": _test({"Next": _STRING}, "Next"),
            "Task": _task(),
            "Wait": _wait(),
            "Pass": _flowing({"Parameters": _TEMPLATE, "ResultPath": _PATH_OR_NULL, "Result": {}}),
            "Succeed": _typed(_in_and_out()),
            "Fail": _fail(),
            "Choice": _choice(),
            "Parallel": _working({"Branches": _array("branch", filled=True)}, "Branches"),
            "Map": _map(),
        },
    }


def _word(*allowed: str) -> Json:
    return {"enum": list(allowed)}


def _integer(least: int = 0, most: int = MOST_SECONDS) -> Json:
    return {"type": "integer", "minimum": least, "maximum": most}


def _array(name: str, *, filled: bool = False) -> Json:
    items: dict[str, Json] = {"type": "array", "items": {"$ref": f"#/$defs/{name}"}}
    return {**items, "minItems": 1} if filled else items


def _object(properties: dict[str, Json], *required: str) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _not_both(*names: str) -> Json:
    return {"not": {"required": list(names)}}


def _exactly_one(names: Iterable[str]) -> Json:
    return {"oneOf": [{"required": [name]} for name in names]}


def _state() -> Json:
    by_type: list[Json] = [
        {
            "if": {"required": ["Type"], "properties": {"Type": {"const": kind}}},
            "then": {"$ref": f"#/$defs/{kind}"},
        }
        for kind in _TYPES
    ]
    return {
        "type": "object",
        "required": ["Type"],
        "properties": {"Type": _word(*_TYPES)},
        "allOf": by_type,
    }


def _typed(properties: dict[str, Json], *required: str) -> dict[str, Json]:
    plain: dict[str, Json] = {
        "Type": _word(*_TYPES),
        "Comment": _STRING,
        "QueryLanguage": _word("JSONPath"),
    }
    return _object({**plain, **properties}, "Type", *required)


def _in_and_out() -> dict[str, Json]:
    return {"InputPath": _PATH_OR_NULL, "OutputPath": _PATH_OR_NULL}


def _flowing(properties: dict[str, Json], *required: str) -> dict[str, Json]:
    flow: dict[str, Json] = {"Next": _STRING, "End": _BOOLEAN}
    end: Json = {"required": ["End"], "properties": {"End": {"const": True}}}
    return {
        **_typed({**flow, **_in_and_out(), **properties}, *required),
        "oneOf": [{"required": ["Next"]}, end],
    }


def _working(properties: dict[str, Json], *required: str) -> dict[str, Json]:
    work: dict[str, Json] = {
        "Parameters": _TEMPLATE,
        "ResultSelector": _TEMPLATE,
        "ResultPath": _PATH_OR_NULL,
        "Retry": _array("retrier"),
        "Catch": _array("catcher"),
    }
    return _flowing({**work, **properties}, *required)


def _task() -> Json:
    properties: dict[str, Json] = {
        "Resource": {"type": "string", "minLength": 1, "not": {"pattern": _CONTROL}},
        "TimeoutSeconds": _integer(1),
        "TimeoutSecondsPath": _PATH,
        "HeartbeatSeconds": _integer(1),
        "HeartbeatSecondsPath": _PATH,
        "Credentials": {
            **_object({"RoleArn": _STRING, "RoleArn.$": _EXPRESSION}),
            **_as_object(_exactly_one(("RoleArn", "RoleArn.$"))),
        },
    }
    pairs: list[Json] = [
        _not_both("TimeoutSeconds", "TimeoutSecondsPath"),
        _not_both("HeartbeatSeconds", "HeartbeatSecondsPath"),
    ]
    return {**_working(properties, "Resource"), "allOf": pairs}


def _as_object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _wait() -> Json:
    durations: dict[str, Json] = {
        "Seconds": _integer(),
        "SecondsPath": _PATH,
        "Timestamp": _TIMESTAMP,
        "TimestampPath": _PATH,
    }
    return {**_flowing(durations), "allOf": [_exactly_one(durations)]}


def _fail() -> Json:
    properties: dict[str, Json] = {
        "Error": _STRING,
        "ErrorPath": _EXPRESSION,
        "Cause": _STRING,
        "CausePath": _EXPRESSION,
    }
    pairs: list[Json] = [_not_both("Error", "ErrorPath"), _not_both("Cause", "CausePath")]
    return {**_typed(properties), "allOf": pairs}


def _choice() -> Json:
    properties = {
        **_in_and_out(),
        "Choices": _array("rule", filled=True),
        "Default": _STRING,
    }
    return _typed(properties, "Choices")


def _test(properties: dict[str, Json], *required: str) -> Json:
    operators: dict[str, Json] = {
        f"{kind}{relation}": compared
        for kind, compared in _COMPARED.items()
        for relation in _RELATIONS
    }
    operators["BooleanEquals"] = _BOOLEAN
    operators |= {f"{operator}Path": _PATH for operator in operators}
    operators["StringMatches"] = _STRING
    operators |= dict.fromkeys(_KINDS, _BOOLEAN)
    combined: dict[str, Json] = {
        "And": _array("test", filled=True),
        "Or": _array("test", filled=True),
        "Not": {"$ref": "#/$defs/test"},
    }
    plain: dict[str, Json] = {"Variable": _PATH, "Comment": _STRING}
    return {
        **_object({**plain, **properties, **operators, **combined}, *required),
        **_as_object(_exactly_one([*operators, *combined])),
        "dependentRequired": {operator: ["Variable"] for operator in operators},
        "dependentSchemas": {name: {"not": {"required": ["Variable"]}} for name in combined},
    }


def _retrier() -> Json:
    return _object(
        {
            "ErrorEquals": {"type": "array", "items": _STRING, "minItems": 1},
            "IntervalSeconds": _integer(1),
            "MaxAttempts": _integer(),
            "BackoffRate": {"type": "number", "minimum": 1},
            "MaxDelaySeconds": _integer(1, LONGEST_DELAY_SECONDS),
            "JitterStrategy": _word("FULL", "NONE"),
            "Comment": _STRING,
        },
        "ErrorEquals",
    )


def _catcher() -> Json:
    return _object(
        {
            "ErrorEquals": {"type": "array", "items": _STRING, "minItems": 1},
            "Next": _STRING,
            "ResultPath": _PATH_OR_NULL,
            "Comment": _STRING,
        },
        "ErrorEquals",
        "Next",
    )


def _template() -> Json:
    return {
        "patternProperties": {r"\.\$$": _EXPRESSION},
        "additionalProperties": _TEMPLATE,
        "items": _TEMPLATE,
    }


def _processor() -> Json:
    config = _object(
        {
            "Mode": _word("INLINE", "DISTRIBUTED"),
            "ExecutionType": _word("STANDARD", "EXPRESS"),
        }
    )
    distributed: dict[str, Json] = {
        "if": {"required": ["Mode"], "properties": {"Mode": {"const": "DISTRIBUTED"}}},
        "then": {"required": ["ExecutionType"]},
    }
    return _object({**_SCOPE, "ProcessorConfig": {**config, **distributed}}, "StartAt", "States")


def _map() -> Json:
    bounds: dict[str, Json] = {
        "MaxConcurrency": _integer(),
        "ToleratedFailureCount": _integer(),
        "ToleratedFailurePercentage": {"type": "number", "minimum": 0, "maximum": 100},
    }
    properties: dict[str, Json] = {
        "ItemProcessor": {"$ref": "#/$defs/processor"},
        "Iterator": {"$ref": "#/$defs/processor"},
        "ItemsPath": _PATH,
        "ItemSelector": _TEMPLATE,
        **bounds,
        **{f"{bound}Path": _PATH for bound in bounds},
        "Label": {"type": "string", "minLength": 1, "maxLength": MOST_LABEL_CHARACTERS},
        "ItemReader": _item_reader(),
        "ItemBatcher": _item_batcher(),
        "ResultWriter": _result_writer(),
    }
    pairs: list[Json] = [
        _exactly_one(("ItemProcessor", "Iterator")),
        _not_both("ItemSelector", "Parameters"),
        *(_not_both(bound, f"{bound}Path") for bound in bounds),
    ]
    return {**_working(properties), "allOf": pairs}


def _item_reader() -> Json:
    properties: dict[str, Json] = {
        "InputType": _word("CSV", "JSON", "JSONL", "PARQUET", "MANIFEST"),
        "CSVHeaderLocation": _word("FIRST_ROW", "GIVEN"),
        "CSVHeaders": {"type": "array", "minItems": 1},
        "CSVDelimiter": _word("COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"),
        "MaxItems": _integer(0, MOST_ITEMS),
        "MaxItemsPath": _PATH,
        "ItemsPointer": _STRING,
        "Transformation": _word("NONE", "LOAD_AND_FLATTEN"),
        "ManifestType": _STRING,
    }
    config: Json = {**_object(properties), "allOf": [_not_both("MaxItems", "MaxItemsPath")]}
    reader: dict[str, Json] = {
        "Resource": _STRING,
        "Parameters": _TEMPLATE,
        "ReaderConfig": config,
        "Comment": {},
    }
    return _object(reader, "Resource")


def _item_batcher() -> Json:
    limits: dict[str, Json] = {
        "MaxItemsPerBatch": _integer(1),
        "MaxInputBytesPerBatch": _integer(1, MOST_BATCH_BYTES),
    }
    paths: dict[str, Json] = {f"{limit}Path": _PATH for limit in limits}
    return {
        **_object({**limits, **paths, "BatchInput": _TEMPLATE, "Comment": {}}),
        "anyOf": [{"required": [name]} for name in (*limits, *paths)],
        "allOf": [_not_both(limit, f"{limit}Path") for limit in limits],
    }


def _result_writer() -> Json:
    config: dict[str, Json] = {
        "Transformation": _word("NONE", "COMPACT", "FLATTEN"),
        "OutputType": _word("JSON", "JSONL"),
    }
    writer: dict[str, Json] = {
        "Resource": _STRING,
        "Parameters": _TEMPLATE,
        "WriterConfig": _object(config),
        "Comment": {},
    }
    return _object(writer)
