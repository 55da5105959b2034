"""The JSON Schema (draft 2020-12) of a definition, for editors.

It says what an editor can check while one types: fields, types, ranges, words. What needs the
whole machine (targets, reach, names used twice) and the syntax of paths and expressions only the
parser checks. `definition.schema.json` beside this file is `definition_schema()`, written down.

Each state type is there once per query language: `Task` and `queryTask`. Parallel and Map in
JSONata are there once more (`queriedMap`): what stands in them follows the machine's language.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from orchestrator.asl.document import Json
from orchestrator.asl.graph import MOST_NAME_CHARACTERS
from orchestrator.asl.limits import DEFAULT, LONGEST_DELAY_SECONDS
from orchestrator.asl.schema_calls import calls, reactions
from orchestrator.asl.states.distributed import MOST_BATCH_BYTES, MOST_ITEMS
from orchestrator.asl.states.fields import JSONATA, JSONPATH, MOST_SECONDS
from orchestrator.asl.states.map import MOST_LABEL_CHARACTERS

_CONTROL = r"[\u0000-\u001f\u007f-\u009f]"
_STRING: Json = {"type": "string"}
_BOOLEAN: Json = {"type": "boolean"}
_OBJECT: Json = {"type": "object"}
_PATH: Json = {"type": "string", "pattern": r"^\$"}
_PATH_OR_NULL: Json = {"type": ["string", "null"], "pattern": r"^\$"}
_EXPRESSION: Json = {"type": "string", "pattern": r"^(\$|States\.)"}
_QUERY: Json = {"type": "string", "pattern": r"^\{%[\s\S]*%\}$"}
_TIMESTAMP: Json = {
    "type": "string",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$",
}
_TEMPLATE: Json = {"$ref": "#/$defs/template"}
_COMPARED: dict[str, Json] = {
    "String": _STRING,
    "Numeric": {"type": ["number", "string"]},
    "Timestamp": _TIMESTAMP,
}
_RELATIONS = ("Equals", "LessThan", "GreaterThan", "LessThanEquals", "GreaterThanEquals")
_KINDS = ("IsNull", "IsPresent", "IsNumeric", "IsString", "IsBoolean", "IsTimestamp")
_TYPES = ("Task", "Wait", "Await", "Pass", "Succeed", "Fail", "Choice", "Parallel", "Map")
_FORKS = ("Parallel", "Map")


@dataclass(frozen=True, slots=True)
class _Language:
    """A query language where it is spoken; `default` is that of the states further inside."""

    queries: bool
    default: str

    @property
    def name(self) -> str:
        return JSONATA if self.queries else JSONPATH

    def field(self, of_paths: dict[str, Json], of_queries: dict[str, Json]) -> dict[str, Json]:
        """Return the fields that the language has."""
        return of_queries if self.queries else of_paths


_PATHS: Final = _Language(queries=False, default=JSONPATH)
_QUERIES: Final = _Language(queries=True, default=JSONPATH)
_ONLY_QUERIES: Final = _Language(queries=True, default=JSONATA)


def definition_schema() -> dict[str, Json]:
    """Return the schema of a whole definition."""
    machine = {
        **_scope("states"),
        "QueryLanguage": _word(JSONPATH, JSONATA),
        "Version": _word("1.0"),
        "TimeoutSeconds": _integer(1),
        "States": _OBJECT,
        "Calls": calls(),
        "On": _OBJECT,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:durable-orchestrator:definition",
        "title": "Definition of a machine in the Amazon States Language",
        **_object(machine, "StartAt", "States"),
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
            "branch": _object(_scope("states"), "StartAt", "States"),
            "queryBranch": _object(_scope("queryStates"), "StartAt", "States"),
            "processor": _processor("states"),
            "queryProcessor": _processor("queryStates"),
            "template": _template(),
            "assign": {"type": "object", **_template()},
            "retrier": _retrier(),
            "catcher": _catcher(_PATHS),
            "queryCatcher": _catcher(_QUERIES),
            "test": _test({}),
            "rule": _test({"Next": _STRING, "Assign": {"$ref": "#/$defs/assign"}}, "Next"),
            "condition": _condition(),
            **reactions("", queries=False, timestamp=_TIMESTAMP, path=_PATH),
            **reactions("query", queries=True, timestamp=_TIMESTAMP, path=_PATH),
            **_types("", _PATHS, _TYPES),
            **_types("query", _QUERIES, _TYPES),
            **_types("queried", _ONLY_QUERIES, _FORKS),
        },
    }


def _types(prefix: str, language: _Language, kinds: Iterable[str]) -> dict[str, Json]:
    made = {
        "Task": _task,
        "Wait": _wait,
        "Await": _await,
        "Pass": _pass,
        "Succeed": _succeed,
        "Fail": _fail,
        "Choice": _choice,
        "Parallel": _parallel,
        "Map": _map,
    }
    return {f"{prefix}{kind}": made[kind](language) for kind in kinds}


# ------------------------------------------------------------------------------------ pieces


def _scope(states: str) -> dict[str, Json]:
    return {"StartAt": _STRING, "States": {"$ref": f"#/$defs/{states}"}, "Comment": _STRING}


def _word(*allowed: str) -> Json:
    return {"enum": list(allowed)}


def _integer(least: int = 0, most: int = MOST_SECONDS) -> Json:
    return {"type": "integer", "minimum": least, "maximum": most}


def _number(language: _Language, value: Json) -> Json:
    """Return the schema of a number; in JSONata an expression may give it."""
    return {"anyOf": [value, _QUERY]} if language.queries else value


def _spelled(language: _Language, value: Json) -> Json:
    """Return the schema of a number that a text is taken for, with a warning."""
    return {"anyOf": [value, _STRING]} if not language.queries else _number(language, value)


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


def _as_object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


# ------------------------------------------------------------------------------------ states


def _states(state: str) -> Json:
    return {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {
            "minLength": 1,
            "maxLength": MOST_NAME_CHARACTERS,
            "not": {"pattern": _CONTROL},
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
        "properties": {"Type": _word(*_TYPES)},
        "allOf": by_type,
    }


def _typed(language: _Language, properties: dict[str, Json], *required: str) -> dict[str, Json]:
    plain: dict[str, Json] = {
        "Type": _word(*_TYPES),
        "Comment": _STRING,
        "QueryLanguage": _word(language.name),
    }
    return _object({**plain, **properties}, "Type", *required)


def _in_and_out(language: _Language) -> dict[str, Json]:
    return language.field({"InputPath": _PATH_OR_NULL, "OutputPath": _PATH_OR_NULL}, {"Output": {}})


def _assign(language: _Language) -> dict[str, Json]:
    return language.field({"Assign": {"$ref": "#/$defs/assign"}}, {"Assign": _OBJECT})


def _flowing(language: _Language, properties: dict[str, Json], *required: str) -> dict[str, Json]:
    flow: dict[str, Json] = {"Next": _STRING, "End": _BOOLEAN, **_assign(language)}
    end: Json = {"required": ["End"], "properties": {"End": {"const": True}}}
    return {
        **_typed(language, {**flow, **_in_and_out(language), **properties}, *required),
        "oneOf": [{"required": ["Next"]}, end],
    }


def _working(language: _Language, properties: dict[str, Json], *required: str) -> dict[str, Json]:
    work: dict[str, Json] = {
        "Retry": _array("retrier"),
        "Catch": _array("queryCatcher" if language.queries else "catcher"),
        **language.field(
            {
                "Parameters": _TEMPLATE,
                "ResultSelector": _TEMPLATE,
                "ResultPath": _PATH_OR_NULL,
            },
            {"Arguments": {}},
        ),
    }
    return _flowing(language, {**work, **properties}, *required)


def _task(language: _Language) -> Json:
    credentials: dict[str, Json] = {
        **_object({"RoleArn": _STRING, "RoleArn.$": _EXPRESSION}),
        **_as_object(_exactly_one(("RoleArn", "RoleArn.$"))),
    }
    properties: dict[str, Json] = {
        "Resource": {"type": "string", "minLength": 1, "not": {"pattern": _CONTROL}},
        "TimeoutSeconds": _number(language, _integer(1)),
        "HeartbeatSeconds": _number(language, _integer(1)),
        "Credentials": _object({"RoleArn": {}}, "RoleArn") if language.queries else credentials,
        **language.field({"TimeoutSecondsPath": _PATH, "HeartbeatSecondsPath": _PATH}, {}),
    }
    pairs: list[Json] = [
        _not_both("TimeoutSeconds", "TimeoutSecondsPath"),
        _not_both("HeartbeatSeconds", "HeartbeatSecondsPath"),
    ]
    return {**_working(language, properties, "Resource"), "allOf": pairs}


def _wait(language: _Language) -> Json:
    durations: dict[str, Json] = {
        "Seconds": _spelled(language, _integer()),
        "Timestamp": _number(language, _TIMESTAMP),
        **language.field({"SecondsPath": _PATH, "TimestampPath": _PATH}, {}),
    }
    return {**_flowing(language, durations), "allOf": [_exactly_one(durations)]}


def _on(language: _Language, name: str) -> Json:
    return {"$ref": f"#/$defs/{f'query{name.title()}' if language.queries else name}"}


def _await(language: _Language) -> Json:
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


def _pass(language: _Language) -> Json:
    of_paths: dict[str, Json] = {
        "Parameters": _TEMPLATE,
        "ResultPath": _PATH_OR_NULL,
        "Result": {},
    }
    return _flowing(language, language.field(of_paths, {}))


def _succeed(language: _Language) -> Json:
    return _typed(language, {**_in_and_out(language), "On": _on(language, "refusals")})


def _fail(language: _Language) -> Json:
    properties: dict[str, Json] = {
        "Error": _STRING,
        "Cause": _STRING,
        "On": _on(language, "refusals"),
        **language.field({"ErrorPath": _EXPRESSION, "CausePath": _EXPRESSION}, {}),
    }
    pairs: list[Json] = [_not_both("Error", "ErrorPath"), _not_both("Cause", "CausePath")]
    return {**_typed(language, properties), "allOf": pairs}


def _choice(language: _Language) -> Json:
    rules = _array("condition" if language.queries else "rule", filled=True)
    properties: dict[str, Json] = {
        **_in_and_out(language),
        **_assign(language),
        "Choices": {"anyOf": [rules, _STRING]},
        "Default": _STRING,
    }
    return _typed(language, properties, "Choices")


def _parallel(language: _Language) -> Json:
    branch = "branch" if language.default == JSONPATH else "queryBranch"
    properties = {"Branches": _array(branch, filled=True), "On": _on(language, "on")}
    return _working(language, properties, "Branches")


def _map(language: _Language) -> Json:
    bounds: dict[str, Json] = {
        "MaxConcurrency": _spelled(language, _integer()),
        "ToleratedFailureCount": _number(language, _integer()),
        "ToleratedFailurePercentage": _number(
            language, {"type": "number", "minimum": 0, "maximum": 100}
        ),
    }
    processor = "processor" if language.default == JSONPATH else "queryProcessor"
    properties: dict[str, Json] = {
        "ItemProcessor": {"$ref": f"#/$defs/{processor}"},
        "Iterator": {"$ref": f"#/$defs/{processor}"},
        "ItemSelector": {} if language.queries else _TEMPLATE,
        **bounds,
        **language.field(
            {"ItemsPath": _PATH, **{f"{bound}Path": _PATH for bound in bounds}},
            {"Items": {"type": ["array", "string"]}},
        ),
        "Label": {"type": "string", "minLength": 1, "maxLength": MOST_LABEL_CHARACTERS},
        "On": _on(language, "on"),
        "ItemReader": _item_reader(language),
        "ItemBatcher": _item_batcher(language),
        "ResultWriter": _result_writer(language),
    }
    pairs: list[Json] = [
        _exactly_one(("ItemProcessor", "Iterator")),
        _not_both("ItemSelector", "Parameters"),
        *(_not_both(bound, f"{bound}Path") for bound in bounds),
    ]
    return {**_working(language, properties), "allOf": pairs}


# ---------------------------------------------------------------------------- parts of states


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


def _condition() -> Json:
    properties: dict[str, Json] = {
        "Condition": {"anyOf": [_BOOLEAN, _QUERY]},
        "Next": _STRING,
        "Output": {},
        "Assign": _OBJECT,
        "Comment": _STRING,
    }
    return _object(properties, "Condition", "Next")


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


def _catcher(language: _Language) -> Json:
    return _object(
        {
            "ErrorEquals": {"type": "array", "items": _STRING, "minItems": 1},
            "Next": _STRING,
            **language.field({"ResultPath": _PATH_OR_NULL}, {"Output": {}}),
            **_assign(language),
            "Comment": _STRING,
        },
        "ErrorEquals",
        "Next",
    )


def _template() -> dict[str, Json]:
    return {
        "patternProperties": {r"\.\$$": _EXPRESSION},
        "additionalProperties": _TEMPLATE,
        "items": _TEMPLATE,
    }


def _processor(states: str) -> Json:
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
    return _object(
        {**_scope(states), "ProcessorConfig": {**config, **distributed}}, "StartAt", "States"
    )


def _arguments(language: _Language) -> dict[str, Json]:
    return language.field({"Parameters": _TEMPLATE}, {"Arguments": {}})


def _item_reader(language: _Language) -> Json:
    properties: dict[str, Json] = {
        "InputType": _word("CSV", "JSON", "JSONL", "PARQUET", "MANIFEST"),
        "CSVHeaderLocation": _word("FIRST_ROW", "GIVEN"),
        "CSVHeaders": {"type": "array", "minItems": 1},
        "CSVDelimiter": _word("COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"),
        "MaxItems": _number(language, _integer(0, MOST_ITEMS)),
        **language.field({"MaxItemsPath": _PATH}, {}),
        "ItemsPointer": _STRING,
        "Transformation": _word("NONE", "LOAD_AND_FLATTEN"),
        "ManifestType": _STRING,
    }
    config: Json = {**_object(properties), "allOf": [_not_both("MaxItems", "MaxItemsPath")]}
    reader: dict[str, Json] = {
        "Resource": _STRING,
        **_arguments(language),
        "ReaderConfig": config,
        "Comment": {},
    }
    return _object(reader, "Resource")


def _item_batcher(language: _Language) -> Json:
    limits: dict[str, Json] = {
        "MaxItemsPerBatch": _number(language, _integer(1)),
        "MaxInputBytesPerBatch": _number(language, _integer(1, MOST_BATCH_BYTES)),
    }
    paths: dict[str, Json] = language.field({f"{limit}Path": _PATH for limit in limits}, {})
    batch: Json = {} if language.queries else _TEMPLATE
    return {
        **_object({**limits, **paths, "BatchInput": batch, "Comment": {}}),
        "anyOf": [{"required": [name]} for name in (*limits, *paths)],
        "allOf": [_not_both(limit, f"{limit}Path") for limit in limits],
    }


def _result_writer(language: _Language) -> Json:
    config: dict[str, Json] = {
        "Transformation": _word("NONE", "COMPACT", "FLATTEN"),
        "OutputType": _word("JSON", "JSONL"),
    }
    writer: dict[str, Json] = {
        "Resource": _STRING,
        **_arguments(language),
        "WriterConfig": _object(config),
        "Comment": {},
    }
    return _object(writer)
