"""Choice: the first rule that holds says where to go."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.asl.choices import OPERATORS, Rule, compile_rule
from orchestrator.asl.diagnostics import Code, child
from orchestrator.asl.document import Json
from orchestrator.asl.errors import CompileError
from orchestrator.asl.jsonata import Query
from orchestrator.asl.paths import Path
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.states.assign import Assign, read_assign
from orchestrator.asl.states.fields import WHOLE, Fields, looks_like_expression
from orchestrator.asl.states.flow import ASSIGN, IN_AND_OUT, OUTPUT, PLAIN


@dataclass(frozen=True, slots=True)
class ChoiceRule:
    """One entry of Choices: where to go when the rule holds.

    In JSONata the rule is a Condition, an expression or just true or false; `field` is how causes
    name the entry's place.
    """

    rule: Rule | Query | bool
    next: str
    comment: str | None
    field: str
    output: QueryTemplate | None
    assign: Assign | None


@dataclass(frozen=True, slots=True)
class Choice:
    """A Choice state; `default` None: no rule held is an error.

    `output` and `assign` are for when none held. `placeholder` is the text that stands in the place
    of the rules where a template has left one: reaching the state is a failure.
    """

    name: str
    pointer: str
    comment: str | None
    query_language: str
    input_path: Path | None
    output_path: Path | None
    rules: tuple[ChoiceRule, ...]
    default: str | None
    output: QueryTemplate | None
    assign: Assign | None
    placeholder: str | None


_FIELDS = PLAIN | ASSIGN | {"Choices", "Default"}


def read_choice(name: str, fields: Fields) -> Choice:
    """Read a Choice state."""
    fields.allow(_FIELDS | (OUTPUT if fields.queries else IN_AND_OUT))
    fields.require("Choices")
    placeholder = _placeholder(fields)
    read = _condition if fields.queries else _rule
    rules = (
        read(entry, f"Choices[{n}]")
        for n, entry in enumerate([] if placeholder else fields.objects("Choices", filled=True))
    )
    return Choice(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language=fields.language,
        input_path=fields.path("InputPath", WHOLE),
        output_path=fields.path("OutputPath", WHOLE),
        rules=tuple(rule for rule in rules if rule is not None),
        default=fields.text("Default"),
        output=fields.query_template("Output") if fields.queries else None,
        assign=read_assign(fields),
        placeholder=placeholder,
    )


def _placeholder(fields: Fields) -> str | None:
    value = fields.value.get("Choices")
    if not isinstance(value, str):
        return None
    message = "Expected an array but found a string: the state fails when it is reached"
    fields.findings.warn(Code.NO_PATH, message, fields.at("Choices"))
    return value


_OF_A_RULE = OPERATORS | {"Variable", "Comment", "And", "Or", "Not"}
_COMBINING = frozenset({"And", "Or", "Not"})


_OF_A_CONDITION = OUTPUT | ASSIGN | {"Condition", "Next", "Comment"}


def _condition(entry: Fields, field: str) -> ChoiceRule | None:
    entry.allow(_OF_A_CONDITION)
    entry.require("Next", "Condition")
    target, comment = entry.text("Next"), entry.text("Comment")
    value = entry.value.get("Condition")
    output = entry.query_template("Output", f"{field}/Output")
    assign = read_assign(entry, f"{field}/Assign")
    condition = value if isinstance(value, bool) else entry.query("Condition")
    if condition is None or target is None:
        return None
    return ChoiceRule(condition, target, comment, field, output, assign)


def _rule(entry: Fields, field: str) -> ChoiceRule | None:
    entry.require("Next")
    target, comment, assign = entry.text("Next"), entry.text("Comment"), read_assign(entry)
    test = {key: value for key, value in entry.value.items() if key not in ("Next", "Assign")}
    check_test(Fields(test, entry.pointer, entry.findings))
    try:
        rule = compile_rule(test, entry.pointer)
    except CompileError as error:
        for fault in error.faults:
            entry.findings.schema(fault.message, fault.pointer)
        return None
    except ValueError as error:
        entry.findings.schema(f"Value is not a valid rule: {error}", entry.pointer)
        return None
    return None if target is None else ChoiceRule(rule, target, comment, field, None, assign)


def check_test(test: Fields) -> None:
    """Note what the rule's own compiler does not look at: fields too many, at every depth."""
    test.allow(_OF_A_RULE)
    if _COMBINING & test.value.keys() and "Variable" in test:
        test.findings.schema("Field 'Variable' is not supported", test.pointer)
    test.text("Comment")
    for operator, value in test.value.items():
        if operator in OPERATORS and not operator.endswith("Path"):
            _warn_of_literal(test, operator, value)
    for value, pointer in _inner_tests(test):
        if isinstance(value, dict):
            check_test(Fields(value, pointer, test.findings))


def _warn_of_literal(test: Fields, operator: str, value: Json) -> None:
    if operator.startswith("Numeric") and isinstance(value, str):
        test.quantity(operator, -math.inf, spelled=True)
    elif looks_like_expression(value):
        message = f"The value looks like a path: use {operator}Path to compare with what it is"
        test.findings.warn(Code.NO_PATH, message, test.at(operator))


def _inner_tests(test: Fields) -> Iterator[tuple[Json, str]]:
    yield test.value.get("Not"), test.at("Not")
    for name in ("And", "Or"):
        value = test.value.get(name)
        for index, inner in enumerate(value if isinstance(value, list) else ()):
            yield inner, child(test.at(name), index)
