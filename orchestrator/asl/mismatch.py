"""How a value does not satisfy a JSON Schema, in JSON's words: by the keyword that it violates."""

from __future__ import annotations

import json
from typing import Final, cast

from jsonschema import ValidationError

from orchestrator.asl.document import Json

MOST_CHARACTERS: Final = 500
MOST_SHOWN: Final = 80
"""Of a value in a message."""

_WORDS: Final = {
    "type": "is not of type {}",
    "enum": "is not one of {}",
    "const": "is not {}",
    "minimum": "is less than {}",
    "maximum": "is greater than {}",
    "exclusiveMinimum": "is not greater than {}",
    "exclusiveMaximum": "is not less than {}",
    "multipleOf": "is no multiple of {}",
    "minLength": "has fewer characters than {}",
    "maxLength": "has more characters than {}",
    "pattern": "does not match {}",
    "minItems": "has fewer items than {}",
    "maxItems": "has more items than {}",
    "minProperties": "has fewer members than {}",
    "maxProperties": "has more members than {}",
    "anyOf": "satisfies none of the schemas of anyOf",
    "oneOf": "does not satisfy exactly one of the schemas of oneOf",
    "not": "satisfies what it must not",
    "contains": "does not hold the items that it must",
    "format": "is no {}",
}
_OURS: Final = ("required", "additionalProperties", "uniqueItems")
"""Keywords whose messages hold nothing but names."""


def told(error: ValidationError) -> str:
    """Return what is wrong, cut to MOST_CHARACTERS."""
    keyword = cast("str | None", error.validator)  # None: of the schema `false`
    given = shown(cast("Json", error.instance))
    if keyword in _OURS:
        return str(error.message)[:MOST_CHARACTERS]
    if keyword in _WORDS:
        words = _WORDS[keyword].format(shown(cast("Json", error.validator_value)))
        return f"{given} {words}"[:MOST_CHARACTERS]
    if keyword is None:
        return f"nothing may stand here, and there is {given}"
    return f"{given} does not satisfy {keyword}"


def shown(value: Json) -> str:
    """Return a value as JSON, cut to MOST_SHOWN characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"
