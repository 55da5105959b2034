"""Choice: the first rule that holds says where to go."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.choices import Rule, compile_rule
from orchestrator.asl.errors import CompileError
from orchestrator.asl.paths import Path
from orchestrator.asl.states.fields import WHOLE, Fields
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


def _rule(entry: Fields) -> ChoiceRule | None:
    entry.require("Next")
    target, comment = entry.text("Next"), entry.text("Comment")
    test = {key: value for key, value in entry.value.items() if key not in ("Next", "Comment")}
    try:
        rule = compile_rule(test, entry.pointer)
    except CompileError as error:
        for fault in error.faults:
            entry.findings.schema(fault.message, fault.pointer)
        return None
    return None if target is None else ChoiceRule(rule, target, comment)
