"""InputSchema: what the input of a call must look like, a JSON Schema of draft 2020-12.

Patterns run on re2, references stay inside the schema, and a check has a limit of steps: nothing
that an author writes or a caller sends takes long.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

import re2
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import SchemaError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from orchestrator.asl.diagnostics import child
from orchestrator.asl.document import Json, plain
from orchestrator.asl.mismatch import told

MOST_STEPS: Final = 100_000
"""Keywords that one check may apply."""


class InvalidSchema(Exception):
    """A value is no schema, or one that may not stand in a definition; `pointer` is inside it."""

    def __init__(self, message: str, pointer: str) -> None:
        super().__init__(message)
        self.message = message
        self.pointer = pointer


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where an input does not satisfy its schema, as a JSON pointer, and how."""

    message: str
    pointer: str


class _TooLong(Exception):
    """A check has taken all its steps."""


_left: ContextVar[list[int]] = ContextVar("steps that a check has left")

_Keyword = Callable[[Any, Any, Any, Any], "Iterator[ValidationError] | None"]


def _counted(keyword: _Keyword) -> _Keyword:
    def applied(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        left = _left.get()
        left[0] -= 1
        if left[0] < 0:
            raise _TooLong
        return keyword(validator, value, instance, schema) or ()

    return applied


def _pattern(_: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _found(pattern: str, text: str) -> bool:
    return re2.search(pattern, text.encode("utf-8", "replace").decode()) is not None


def _pattern_properties(
    validator: Any, patterns: Any, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, inner in patterns.items():
        for name, value in instance.items():
            if _found(pattern, name):
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, additional: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items():
        if name not in known and not any(_found(pattern, name) for pattern in patterns):
            if additional is False:
                yield ValidationError(f"the member {name!r} is not allowed")
            else:
                yield from validator.descend(value, additional, path=name)


def _unique_items(_: Any, unique: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if unique and isinstance(instance, list):
        texts = {json.dumps(plain(item), sort_keys=True) for item in instance}
        if len(texts) < len(instance):
            yield ValidationError("the items are not all different")


_OURS: Final[dict[str, _Keyword]] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
_Checker: Final[Any] = extend(
    Draft202012Validator,
    {
        name: _counted(keyword)
        for name, keyword in {**Draft202012Validator.VALIDATORS, **_OURS}.items()
    },
)


@dataclass(frozen=True, slots=True)
class InputSchema:
    """A compiled schema; `value` is the schema as it stands in the definition."""

    value: Json
    checker: Any = field(compare=False, repr=False)

    def mismatch(self, given: Json) -> Mismatch | None:
        """Return the first thing in which an input does not satisfy it; None if it does."""
        token = _left.set([MOST_STEPS])
        try:
            error = next(self.checker.iter_errors(given), None)
        except _TooLong:
            return Mismatch("checking the input takes too long", "")
        except (RecursionError, OverflowError, ValueError, TypeError):
            return Mismatch("the input cannot be checked against its schema", "")
        finally:
            _left.reset(token)
        if error is None:
            return None
        pointer = ""
        for step in error.absolute_path:
            pointer = child(pointer, step)
        return Mismatch(told(error), pointer)


def compile_schema(value: Json) -> InputSchema:
    """Return the compiled schema; raises InvalidSchema."""
    if not isinstance(value, dict | bool):
        raise InvalidSchema("Expected a JSON Schema: an object, true or false", "")
    try:
        Draft202012Validator.check_schema(value)
    except SchemaError as error:
        pointer = ""
        for step in error.absolute_path:
            pointer = child(pointer, step)
        raise InvalidSchema(f"Value is no JSON Schema: {told(error)}", pointer) from error
    checker = _Checker(value, registry=Registry())
    _check(value, checker)
    return InputSchema(value, checker)


def _check(value: Json, checker: Any) -> None:
    """Raise InvalidSchema for references that lead nowhere and patterns that re2 does not know."""
    resolver = checker._resolver  # noqa: SLF001  # the only way to ask before something is checked
    keys: set[str] = set()
    for schema, pointer in _objects(value):
        keys.update(schema)
        for name in ("$ref", "$dynamicRef"):
            target = schema.get(name)
            if isinstance(target, str):
                _check_reference(resolver, target, child(pointer, name))
        patterns = schema.get("patternProperties")
        for name in patterns if isinstance(patterns, dict) else ():
            _check_pattern(name, child(pointer, "patternProperties"))
        pattern = schema.get("pattern")
        if isinstance(pattern, str):
            _check_pattern(pattern, child(pointer, "pattern"))
    if {"unevaluatedProperties", "patternProperties"} <= keys:
        raise InvalidSchema("unevaluatedProperties does not go with patternProperties here", "")


def _check_reference(resolver: Any, target: str, pointer: str) -> None:
    if not target.startswith("#"):
        raise InvalidSchema("A reference must stay inside the schema: it begins with #", pointer)
    try:
        resolver.lookup(target)
    except Unresolvable:
        raise InvalidSchema(f"The reference {target} leads nowhere", pointer) from None


def _check_pattern(pattern: str, pointer: str) -> None:
    try:
        re2.compile(pattern)
    except re2.error as error:
        raise InvalidSchema(f"Value is not a valid pattern: {error}", pointer) from None


def _objects(value: Json) -> Iterator[tuple[Mapping[str, Json], str]]:
    waiting: list[tuple[Json, str]] = [(value, "")]
    while waiting:
        inner, pointer = waiting.pop()
        if isinstance(inner, dict):
            yield inner, pointer
            waiting += [(found, child(pointer, name)) for name, found in inner.items()]
        elif isinstance(inner, list):
            waiting += [(found, child(pointer, index)) for index, found in enumerate(inner)]
