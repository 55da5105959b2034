"""What the JSON Schema is made of: words, numbers, objects, and the parts that states share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from orchestrator.asl.document import Json
from orchestrator.asl.limits import LONGEST_DELAY_SECONDS
from orchestrator.asl.states.distributed import MOST_BATCH_BYTES, MOST_ITEMS
from orchestrator.asl.states.fields import JSONATA, JSONPATH, MOST_SECONDS

CONTROL = r"[\u0000-\u001f\u007f-\u009f]"
STRING: Json = {"type": "string"}
BOOLEAN: Json = {"type": "boolean"}
OBJECT: Json = {"type": "object"}
PATH: Json = {"type": "string", "pattern": r"^\$"}
PATH_OR_NULL: Json = {"type": ["string", "null"], "pattern": r"^\$"}
EXPRESSION: Json = {"type": "string", "pattern": r"^(\$|States\.)"}
QUERY: Json = {"type": "string", "pattern": r"^\{%[\s\S]*%\}$"}
TIMESTAMP: Json = {
    "type": "string",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$",
}
TEMPLATE: Json = {"$ref": "#/$defs/template"}
_COMPARED: dict[str, Json] = {
    "String": STRING,
    "Numeric": {"type": ["number", "string"]},
    "Timestamp": TIMESTAMP,
}
_RELATIONS = ("Equals", "LessThan", "GreaterThan", "LessThanEquals", "GreaterThanEquals")
_KINDS = ("IsNull", "IsPresent", "IsNumeric", "IsString", "IsBoolean", "IsTimestamp")


@dataclass(frozen=True, slots=True)
class Language:
    """A query language where it is spoken; `default` is that of the states further inside."""

    queries: bool
    default: str

    @property
    def name(self) -> str:
        """The language as definitions spell it."""
        return JSONATA if self.queries else JSONPATH

    def field(self, of_paths: dict[str, Json], of_queries: dict[str, Json]) -> dict[str, Json]:
        """Return the fields that the language has."""
        return of_queries if self.queries else of_paths


PATHS: Final = Language(queries=False, default=JSONPATH)
QUERIES: Final = Language(queries=True, default=JSONPATH)
ONLY_QUERIES: Final = Language(queries=True, default=JSONATA)


def scope(states: str) -> dict[str, Json]:
    """Return the fields of what holds states of a kind."""
    return {"StartAt": STRING, "States": {"$ref": f"#/$defs/{states}"}, "Comment": STRING}


def word(*allowed: str) -> Json:
    """Return the schema of one of several words."""
    return {"enum": list(allowed)}


def integer(least: int = 0, most: int = MOST_SECONDS) -> Json:
    """Return the schema of a whole number within bounds."""
    return {"type": "integer", "minimum": least, "maximum": most}


def number(language: Language, value: Json) -> Json:
    """Return the schema of a number; in JSONata an expression may give it."""
    return {"anyOf": [value, QUERY]} if language.queries else value


def spelled(language: Language, value: Json) -> Json:
    """Return the schema of a number that a text is taken for, with a warning."""
    return {"anyOf": [value, STRING]} if not language.queries else number(language, value)


def array(name: str, *, filled: bool = False) -> Json:
    """Return the schema of an array of things that `$defs` name."""
    items: dict[str, Json] = {"type": "array", "items": {"$ref": f"#/$defs/{name}"}}
    return {**items, "minItems": 1} if filled else items


def object_of(properties: dict[str, Json], *required: str) -> dict[str, Json]:
    """Return the schema of an object with these fields and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def not_both(*names: str) -> Json:
    """Return the schema of what does not have all of these fields."""
    return {"not": {"required": list(names)}}


def exactly_one(names: Iterable[str]) -> Json:
    """Return the schema of what has one of these fields."""
    return {"oneOf": [{"required": [name]} for name in names]}


def as_object(value: Json) -> dict[str, Json]:
    """Return a schema as something to be unpacked."""
    return value if isinstance(value, dict) else {}


def test(properties: dict[str, Json], *required: str) -> Json:
    """Return the schema of a rule of paths, or of a part of one."""
    operators: dict[str, Json] = {
        f"{kind}{relation}": compared
        for kind, compared in _COMPARED.items()
        for relation in _RELATIONS
    }
    operators["BooleanEquals"] = BOOLEAN
    operators |= {f"{operator}Path": PATH for operator in operators}
    operators["StringMatches"] = STRING
    operators |= dict.fromkeys(_KINDS, BOOLEAN)
    combined: dict[str, Json] = {
        "And": array("test", filled=True),
        "Or": array("test", filled=True),
        "Not": {"$ref": "#/$defs/test"},
    }
    plain: dict[str, Json] = {"Variable": PATH, "Comment": STRING}
    return {
        **object_of({**plain, **properties, **operators, **combined}, *required),
        **as_object(exactly_one([*operators, *combined])),
        "dependentRequired": {operator: ["Variable"] for operator in operators},
        "dependentSchemas": {name: {"not": {"required": ["Variable"]}} for name in combined},
    }


def condition() -> Json:
    """Return the schema of a rule of JSONata."""
    properties: dict[str, Json] = {
        "Condition": {"anyOf": [BOOLEAN, QUERY]},
        "Next": STRING,
        "Output": {},
        "Assign": OBJECT,
        "Comment": STRING,
    }
    return object_of(properties, "Condition", "Next")


def retrier() -> Json:
    """Return the schema of a Retrier."""
    return object_of(
        {
            "ErrorEquals": {"type": "array", "items": STRING, "minItems": 1},
            "IntervalSeconds": integer(1),
            "MaxAttempts": integer(),
            "BackoffRate": {"type": "number", "minimum": 1},
            "MaxDelaySeconds": integer(1, LONGEST_DELAY_SECONDS),
            "JitterStrategy": word("FULL", "NONE"),
            "Comment": STRING,
        },
        "ErrorEquals",
    )


def assign(language: Language) -> dict[str, Json]:
    """Return the field Assign."""
    return language.field({"Assign": {"$ref": "#/$defs/assign"}}, {"Assign": OBJECT})


def catcher(language: Language) -> Json:
    """Return the schema of a Catcher."""
    return object_of(
        {
            "ErrorEquals": {"type": "array", "items": STRING, "minItems": 1},
            "Next": STRING,
            **language.field({"ResultPath": PATH_OR_NULL}, {"Output": {}}),
            **assign(language),
            "Compensate": BOOLEAN,
            "Comment": STRING,
        },
        "ErrorEquals",
        "Next",
    )


def template() -> dict[str, Json]:
    """Return the schema of a payload template."""
    return {
        "patternProperties": {r"\.\$$": EXPRESSION},
        "additionalProperties": TEMPLATE,
        "items": TEMPLATE,
    }


def processor(states: str) -> Json:
    """Return the schema of a Map's processor, with states of a kind."""
    config = object_of(
        {
            "Mode": word("INLINE", "DISTRIBUTED"),
            "ExecutionType": word("STANDARD", "EXPRESS"),
        }
    )
    distributed: dict[str, Json] = {
        "if": {"required": ["Mode"], "properties": {"Mode": {"const": "DISTRIBUTED"}}},
        "then": {"required": ["ExecutionType"]},
    }
    return object_of(
        {**scope(states), "ProcessorConfig": {**config, **distributed}}, "StartAt", "States"
    )


def arguments(language: Language) -> dict[str, Json]:
    """Return the field of what a reader or writer is given."""
    return language.field({"Parameters": TEMPLATE}, {"Arguments": {}})


def item_reader(language: Language) -> Json:
    """Return the schema of an ItemReader."""
    properties: dict[str, Json] = {
        "InputType": word("CSV", "JSON", "JSONL", "PARQUET", "MANIFEST"),
        "CSVHeaderLocation": word("FIRST_ROW", "GIVEN"),
        "CSVHeaders": {"type": "array", "minItems": 1},
        "CSVDelimiter": word("COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"),
        "MaxItems": number(language, integer(0, MOST_ITEMS)),
        **language.field({"MaxItemsPath": PATH}, {}),
        "ItemsPointer": STRING,
        "Transformation": word("NONE", "LOAD_AND_FLATTEN"),
        "ManifestType": STRING,
    }
    config: Json = {**object_of(properties), "allOf": [not_both("MaxItems", "MaxItemsPath")]}
    reader: dict[str, Json] = {
        "Resource": STRING,
        **arguments(language),
        "ReaderConfig": config,
        "Comment": {},
    }
    return object_of(reader, "Resource")


def item_batcher(language: Language) -> Json:
    """Return the schema of an ItemBatcher."""
    limits: dict[str, Json] = {
        "MaxItemsPerBatch": number(language, integer(1)),
        "MaxInputBytesPerBatch": number(language, integer(1, MOST_BATCH_BYTES)),
    }
    paths: dict[str, Json] = language.field({f"{limit}Path": PATH for limit in limits}, {})
    batch: Json = {} if language.queries else TEMPLATE
    return {
        **object_of({**limits, **paths, "BatchInput": batch, "Comment": {}}),
        "anyOf": [{"required": [name]} for name in (*limits, *paths)],
        "allOf": [not_both(limit, f"{limit}Path") for limit in limits],
    }


def result_writer(language: Language) -> Json:
    """Return the schema of a ResultWriter."""
    config: dict[str, Json] = {
        "Transformation": word("NONE", "COMPACT", "FLATTEN"),
        "OutputType": word("JSON", "JSONL"),
    }
    writer: dict[str, Json] = {
        "Resource": STRING,
        **arguments(language),
        "WriterConfig": object_of(config),
        "Comment": {},
    }
    return object_of(writer)
