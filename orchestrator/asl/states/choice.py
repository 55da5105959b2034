"""Choice: the first rule that holds says where to go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.asl.choices import OPERATORS, Rule, compile_rule
from orchestrator.asl.diagnostics import Code, child
from orchestrator.asl.document import Json
from orchestrator.asl.errors import CompileError
from orchestrator.asl.paths import Path
from orchestrator.asl.states.fields import WHOLE, Fields, looks_like_expression
from orchestrator.asl.states.flow import IN_AND_OUT, PLAIN


@dataclass(frozen=True, slots=True)
class ChoiceRule:
    """One entry of Choices: where to go when the rule holds."""

    rule: Rule
    next: str
    comment: str | None


@dataclass(frozen=True, slots=True)
class Choice:
    """A Choice state; `default` None: no rule held is an error."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    input_path: Path | None
    output_path: Path | None
    rules: tuple[ChoiceRule, ...]
    default: str | None


_FIELDS = PLAIN | IN_AND_OUT | {"Choices", "Default"}


def read_choice(name: str, fields: Fields) -> Choice:
    """Read a Choice state."""
    fields.allow(_FIELDS)
    fields.require("Choices")
    rules = (_rule(entry) for entry in fields.objects("Choices", filled=True))
    return Choice(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language="JSONPath",
        input_path=fields.path("InputPath", WHOLE),
        output_path=fields.path("OutputPath", WHOLE),
        rules=tuple(rule for rule in rules if rule is not None),
        default=fields.text("Default"),
    )


_OF_A_RULE = OPERATORS | {"Variable", "Comment", "And", "Or", "Not"}
_COMBINING = frozenset({"And", "Or", "Not"})


def _rule(entry: Fields) -> ChoiceRule | None:
    entry.require("Next")
    target, comment = entry.text("Next"), entry.text("Comment")
    test = {key: value for key, value in entry.value.items() if key != "Next"}
    _check_fields(Fields(test, entry.pointer, entry.findings))
    try:
        rule = compile_rule(test, entry.pointer)
    except CompileError as error:
        for fault in error.faults:
            entry.findings.schema(fault.message, fault.pointer)
        return None
    except ValueError as error:
        entry.findings.schema(f"Value is not a valid rule: {error}", entry.pointer)
        return None
    return None if target is None else ChoiceRule(rule, target, comment)


def _check_fields(test: Fields) -> None:
    """Note what the rule's own compiler does not look at: fields too many, at every depth."""
    test.allow(_OF_A_RULE)
    if _COMBINING & test.value.keys() and "Variable" in test:
        test.findings.schema("Field 'Variable' is not supported", test.pointer)
    test.text("Comment")
    for operator, value in test.value.items():
        if operator in OPERATORS and not operator.endswith("Path") and looks_like_expression(value):
            message = f"The value looks like a path: use {operator}Path to compare with what it is"
            test.findings.warn(Code.NO_PATH, message, test.at(operator))
    for value, pointer in _inner_tests(test):
        if isinstance(value, dict):
            _check_fields(Fields(value, pointer, test.findings))


def _inner_tests(test: Fields) -> Iterator[tuple[Json, str]]:
    yield test.value.get("Not"), test.at("Not")
    for name in ("And", "Or"):
        value = test.value.get(name)
        for index, inner in enumerate(value if isinstance(value, list) else ()):
            yield inner, child(test.at(name), index)
