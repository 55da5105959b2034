"""The part of the definition's JSON Schema that speaks of calls, reactions, timers and effects."""

from __future__ import annotations

from orchestrator.asl.document import Json
from orchestrator.asl.limits import DEFAULT
from orchestrator.asl.states.effect import MOST_EFFECTS
from orchestrator.asl.states.fields import MOST_SECONDS
from orchestrator.asl.states.reaction import ReactionKind

_STRING: Json = {"type": "string"}
_FILLED: Json = {"type": "string", "minLength": 1}
_TRUE: Json = {"const": True}
_SECONDS: Json = {"type": "integer", "minimum": 1, "maximum": MOST_SECONDS}
_CALL_NAME = r"^[A-Za-z_][A-Za-z0-9_.-]{0,79}$"


def calls() -> Json:
    """Return the schema of Calls."""
    call: Json = {
        "type": "object",
        "properties": {
            "Comment": _STRING,
            "InputSchema": {"type": ["object", "boolean"]},
        },
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": DEFAULT.on_entries,
        "propertyNames": {"pattern": _CALL_NAME},
        "additionalProperties": call,
    }


def reactions(prefix: str, *, queries: bool, timestamp: Json, path: Json) -> dict[str, Json]:
    """Return the definitions of one language; the names of JSONata's begin with `prefix`."""

    def ref(name: str) -> Json:
        return {"$ref": f"#/$defs/{_named(prefix, name)}"}

    made: dict[str, Json] = {
        "effect": _effect(queries=queries),
        "effects": _one_or_several(ref("effect"), MOST_EFFECTS),
        "reaction": _reaction(ref("effects"), list(ReactionKind), queries=queries),
        "refusal": _reaction(ref("effects"), [ReactionKind.REFUSE], queries=queries),
        "on": _on(ref("reaction")),
        "refusals": _on(ref("refusal")),
        "after": _after(ref("effects"), timestamp, path, queries=queries),
    }
    return {_named(prefix, name): value for name, value in made.items()}


def _named(prefix: str, name: str) -> str:
    return f"{prefix}{name[0].upper()}{name[1:]}" if prefix else name


def _one_or_several(item: Json, most: int) -> Json:
    several: Json = {"type": "array", "items": item, "minItems": 1, "maxItems": most}
    return {"if": {"type": "array"}, "then": several, "else": item}


def _on(reaction: Json) -> Json:
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": DEFAULT.on_entries,
        "additionalProperties": _one_or_several(reaction, DEFAULT.on_entries),
    }


def _effect(*, queries: bool) -> Json:
    arguments: dict[str, Json] = (
        {"Arguments": {}} if queries else {"Parameters": {"$ref": "#/$defs/template"}}
    )
    return {
        "type": "object",
        "properties": {
            "Resource": _FILLED,
            "Retry": {"type": "array", "items": {"$ref": "#/$defs/retrier"}},
            "TimeoutSeconds": _SECONDS,
            "HeartbeatSeconds": _SECONDS,
            "Comment": _STRING,
            **arguments,
        },
        "required": ["Resource"],
        "additionalProperties": False,
    }


def _reaction(effects: Json, kinds: list[ReactionKind], *, queries: bool) -> Json:
    condition: Json = {"type": ["string", "boolean"]} if queries else {"$ref": "#/$defs/test"}
    common: dict[str, Json] = {"Condition": condition, "Comment": _STRING}
    assign: Json = {"type": "object"} if queries else {"$ref": "#/$defs/assign"}
    data: dict[str, Json] = {"Assign": assign, "Effect": effects}
    result: dict[str, Json] = (
        {"Output": {}}
        if queries
        else {"ResultPath": {"type": ["string", "null"], "pattern": r"^\$"}}
    )
    forms: dict[str, dict[str, Json]] = {
        "Next": {"Next": _STRING, **data, **result},
        "Refuse": {"Refuse": _FILLED},
        "Stay": {"Stay": _TRUE, **data},
        "Postpone": {"Postpone": _TRUE},
    }
    wanted = [(str(name), forms[name]) for name in kinds]
    if not queries:
        wanted.append(("Refuse.$", {"Refuse.$": _STRING}))
    one_of: list[Json] = [
        {
            "properties": {**common, **properties},
            "required": [name],
            "additionalProperties": False,
        }
        for name, properties in wanted
    ]
    return {"type": "object", "oneOf": one_of}


def _after(effects: Json, timestamp: Json, path: Json, *, queries: bool) -> Json:
    whole: Json = {"type": "integer", "minimum": 0, "maximum": MOST_SECONDS}
    durations: dict[str, Json] = {
        "Seconds": {"anyOf": [whole, _STRING]},
        "Timestamp": _STRING if queries else timestamp,
    }
    if not queries:
        durations |= {"SecondsPath": path, "TimestampPath": path}
    return {
        "type": "object",
        "properties": {**durations, "Next": _STRING, "Effect": effects, "Comment": _STRING},
        "additionalProperties": False,
        "oneOf": [{"required": [name]} for name in durations],
        "anyOf": [{"required": ["Next"]}, {"required": ["Effect"]}],
    }
