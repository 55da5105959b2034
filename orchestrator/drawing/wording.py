"""Wording: conditions, durations and resources in a few words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from orchestrator.asl import query_templates, templates
from orchestrator.asl.choices import And, Comparison, Not, Or, Present, Rule, Test
from orchestrator.asl.document import Json, write
from orchestrator.asl.jsonata import Query
from orchestrator.asl.paths import Path
from orchestrator.asl.query_templates import Literal, QueryTemplate
from orchestrator.asl.resources import Kind, Resource
from orchestrator.asl.states.moment import Moment
from orchestrator.asl.states.quantity import Placeholder, Quantity
from orchestrator.asl.templates import Copied, Template

_RELATIONS: Final = (
    ("LessThanEquals", "≤"),
    ("GreaterThanEquals", "≥"),
    ("LessThan", "<"),
    ("GreaterThan", ">"),
    ("Equals", "="),
    ("Matches", "matches"),
)
_KINDS: Final = {
    "IsNull": "null",
    "IsNumeric": "a number",
    "IsString": "a string",
    "IsBoolean": "a boolean",
    "IsTimestamp": "a timestamp",
}
_LONGEST_PATH: Final = 24
_INTEGRATION: Final = "arn:aws:states:::"
_UNITS: Final = ((86400, "day", "days"), (3600, "h", "h"), (60, "min", "min"))
_WITH_DEFAULT = re.compile(r"\$exists\((\$[\w.]+)\)\s*\?\s*\1\s*:\s*(\d+)")
_PREFIXES = (("$states.input.", ""), ("$states.context.", ""), ("$states.", ""))


def condition(rule: Rule | Query | bool, *, brief: bool = False) -> str:
    """Return a condition in words; `brief` leaves away where long paths come from."""
    match rule:
        case bool():
            return "always" if rule else "never"
        case Query():
            return query(rule)
        case Rule():
            return _test(rule.test, _brief if brief else path)


def query(found: Query) -> str:
    """Return a JSONata expression in short."""
    text = found.text
    for prefix, short in _PREFIXES:
        text = text.replace(prefix, short)
    return text


def _test(test: Test, name: Name, *, inner: bool = False) -> str:
    match test:
        case Comparison():
            return _comparison(test, name)
        case Present(variable, expected):
            return f"{name(variable)} is {'present' if expected else 'absent'}"
        case Not(negated):
            return f"not ({_test(negated, name)})"
        case And(tests):
            return _several(tests, " and ", name, inner=inner)
        case Or(tests):
            return _several(tests, " or ", name, inner=inner)


def _several(tests: tuple[Test, ...], joint: str, name: Name, *, inner: bool) -> str:
    words = joint.join(_test(one, name, inner=True) for one in tests)
    return f"({words})" if inner and len(tests) > 1 else words


def _comparison(test: Comparison, name: Name) -> str:
    variable, comparand = name(test.variable), test.comparand
    if test.operator in _KINDS:
        return f"{variable} is {'' if comparand else 'not '}{_KINDS[test.operator]}"
    if test.operator == "BooleanEquals" and isinstance(comparand, bool):
        return variable if comparand else f"not {variable}"
    operator = test.operator.removesuffix("Path") if test.comparand_path else test.operator
    sign = next(sign for end, sign in _RELATIONS if operator.endswith(end))
    other = _value(comparand) if test.comparand_path is None else name(test.comparand_path)
    return f"{variable} {sign} {other}"


Name: TypeAlias = Callable[[Path], str]


def _brief(found: Path) -> str:
    """Return a path, of a long one what it ends with."""
    text = path(found)
    start = text.find(".", len(text) - _LONGEST_PATH)
    return f"…{text[start + 1 :]}" if len(text) > _LONGEST_PATH and start >= 0 else text


def path(found: Path) -> str:
    """Return a path without the `$.` that it begins with."""
    return found.text.removeprefix("$$.").removeprefix("$.") or found.text


def _value(value: Json) -> str:
    return f"“{value}”" if isinstance(value, str) else write(value)


def duration(seconds: float) -> str:
    """Return a duration in its largest unit that counts it wholly."""
    for unit, one, many in _UNITS:
        if seconds >= unit and seconds % unit == 0:
            number = int(seconds // unit)
            return f"{number} {one if number == 1 else many}"
    return f"{seconds:g} s"


def quantity(found: Quantity) -> str:
    """Return a number of seconds, or what gives it."""
    match found:
        case int() | float():
            return duration(found)
        case Query():
            known = _WITH_DEFAULT.fullmatch(found.text)
            if known is None:
                return query(found)
            name = known[1].rpartition(".")[2]
            return f"{name} or {duration(int(known[2]))}"
        case Placeholder():
            return found.text


def moment(found: Moment) -> str:
    """Return when something happens, after "wait" or "after"."""
    if found.seconds is not None:
        return quantity(found.seconds)
    if found.seconds_path is not None:
        return path(found.seconds_path)
    if found.timestamp_path is not None:
        return f"until {path(found.timestamp_path)}"
    at = found.timestamp
    return f"until {query(at) if isinstance(at, Query) else at}"


def resource(found: Resource) -> str:
    """Return what is called: a handler's, function's or service's name, and nothing around it."""
    name = found.name
    if found.kind is Kind.LAMBDA_INVOKE:
        return "lambda:invoke"
    if found.kind is Kind.SERVICE and name.startswith(_INTEGRATION):
        name = name.removeprefix(_INTEGRATION).removeprefix("aws-sdk:")
        return f"{name}.{found.pattern}" if found.pattern else name
    return name.rpartition(":")[2] if name.startswith("arn:") else name


def function(parameters: Template | QueryTemplate | None) -> str | None:
    """Return the name of the function that a Lambda integration invokes, if it is written there."""
    if parameters is None:
        return None
    match parameters.part:
        case Copied(dict(value)) | Literal(dict(value)):
            name = value.get("FunctionName")
        case templates.Members(members) | query_templates.Members(members):
            part = dict(members).get("FunctionName")
            name = part.value if isinstance(part, Copied | Literal) else None
        case _:
            return None
    return _function_name(name) if isinstance(name, str) else None


def _function_name(text: str) -> str:
    """Return the name in an ARN, which may end with a version."""
    return text.partition(":function:")[2].partition(":")[0] or text
