"""On: what a state does on a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from orchestrator.asl.choices import Rule, compile_rule
from orchestrator.asl.errors import CompileError
from orchestrator.asl.expressions import Expression
from orchestrator.asl.jsonata import Query
from orchestrator.asl.limits import DEFAULT
from orchestrator.asl.paths import ReferencePath
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.states.assign import Assign, read_assign
from orchestrator.asl.states.choice import check_test
from orchestrator.asl.states.effect import Effect, read_effects
from orchestrator.asl.states.fields import Fields

EVERY_OTHER: Final = "*"
"""Stands for each call that has no entry of its own."""


class ReactionKind(StrEnum):
    """What a reaction comes to."""

    NEXT = "Next"
    REFUSE = "Refuse"
    STAY = "Stay"
    POSTPONE = "Postpone"


@dataclass(frozen=True, slots=True)
class Reaction:
    """One reaction: taken if it is the first of its list whose condition holds.

    `result_path` says where JSONPath places the call's input, None: nowhere; `output` is JSONata's.
    """

    pointer: str
    field: str
    kind: ReactionKind
    next: str | None
    condition: Rule | Query | bool
    reason: str | Query | Expression | None
    result_path: ReferencePath | None
    output: QueryTemplate | None
    assign: Assign | None
    effects: tuple[Effect, ...]
    comment: str | None

    @property
    def accepts(self) -> bool:
        """Tell whether it accepts the call."""
        return self.kind in (ReactionKind.NEXT, ReactionKind.STAY)


On: TypeAlias = Mapping[str, tuple[Reaction, ...]]
"""Reactions by the name of the call, or `*`."""

NO_REACTIONS: Final[On] = MappingProxyType({})


def reactions_in(on: On, call: str) -> tuple[Reaction, ...] | None:
    """Return the reactions of one level to a call, None if it has none."""
    return on.get(call) or on.get(EVERY_OTHER)


def read_on(fields: Fields, field: str = "On") -> On:
    """Read On: the reactions of an Await, or of what stands around some."""
    return _read(fields, field, refusals=False)


def read_refusals(fields: Fields) -> On:
    """Read the On of a final state, which can only refuse."""
    return _read(fields, "On", refusals=True)


def _read(fields: Fields, field: str, *, refusals: bool) -> On:
    on = fields.object("On")
    if on is None:
        return NO_REACTIONS
    if not on.value:
        fields.wrong("On", "Value cannot be empty")
    if len(on.value) > DEFAULT.on_entries:
        fields.wrong("On", f"On has at most {DEFAULT.on_entries} entries")
    found: dict[str, tuple[Reaction, ...]] = {}
    for name in on.value:
        reactions = _reactions(on, name, f"{field}.{name}", refusals=refusals)
        if reactions:
            found[name] = reactions
    return MappingProxyType(found)


def _reactions(on: Fields, name: str, field: str, *, refusals: bool) -> tuple[Reaction, ...]:
    if not isinstance(on.value[name], list):
        entry = on.object(name)
        entries = [] if entry is None else [entry]
        places = [field] * len(entries)
    else:
        entries = on.objects(name, filled=True)
        places = [f"{field}[{entry.pointer.rpartition('/')[2]}]" for entry in entries]
    if len(entries) > DEFAULT.on_entries:
        on.wrong(name, f"A call has at most {DEFAULT.on_entries} reactions")
    for entry in entries:
        last = entry is entries[-1]
        if last and "Condition" in entry:
            entry.findings.schema(
                "The last reaction has a Condition: nothing is said for when it does not hold",
                entry.pointer,
            )
        elif not last and "Condition" not in entry:
            entry.findings.schema(
                "A reaction without a Condition must be the last: what follows is never asked",
                entry.pointer,
            )
    return tuple(
        reaction
        for entry, place in zip(entries, places, strict=True)
        if (reaction := _reaction(entry, place, refusals=refusals)) is not None
    )


_PLAIN = frozenset({"Condition", "Comment"})


def _kind(entry: Fields, *, refusals: bool) -> ReactionKind | None:
    given = [kind for kind in ReactionKind if kind in entry.value]
    if "Refuse.$" in entry and not entry.queries:
        given.append(ReactionKind.REFUSE)
    if len(given) != 1:
        listed = ", ".join(ReactionKind)
        entry.findings.schema(f"Exactly one of these fields is required: [{listed}]", entry.pointer)
        return None
    (kind,) = given
    if refusals and kind is not ReactionKind.REFUSE:
        entry.wrong(kind, "A final state can only refuse calls")
        return None
    return kind


def _reaction(entry: Fields, field: str, *, refusals: bool) -> Reaction | None:
    kind = _kind(entry, refusals=refusals)
    if kind is None:
        return None
    entry.allow(_PLAIN | _fields_of(kind, queries=entry.queries))
    if kind in (ReactionKind.STAY, ReactionKind.POSTPONE) and entry.flag(kind) is False:
        entry.wrong(kind, f"{kind} can only be true")
    moves = kind is ReactionKind.NEXT
    takes = kind in (ReactionKind.NEXT, ReactionKind.STAY)
    return Reaction(
        pointer=entry.pointer,
        field=field,
        kind=kind,
        next=entry.text("Next") if moves else None,
        condition=_condition(entry),
        reason=_reason(entry) if kind is ReactionKind.REFUSE else None,
        result_path=entry.reference_path("ResultPath", None) if moves else None,
        output=entry.query_template("Output", f"{field}/Output")
        if moves and entry.queries
        else None,
        assign=read_assign(entry, f"{field}/Assign") if takes else None,
        effects=read_effects(entry, "Effect", f"{field}/Effect") if takes else (),
        comment=entry.text("Comment"),
    )


def _fields_of(kind: ReactionKind, *, queries: bool) -> frozenset[str]:
    match kind:
        case ReactionKind.NEXT:
            return frozenset({kind, "Assign", "Effect", "Output" if queries else "ResultPath"})
        case ReactionKind.STAY:
            return frozenset({kind, "Assign", "Effect"})
        case ReactionKind.REFUSE:
            return frozenset({kind} if queries else {kind, "Refuse.$"})
        case ReactionKind.POSTPONE:
            return frozenset({kind})


def _condition(entry: Fields) -> Rule | Query | bool:
    if "Condition" not in entry:
        return True
    value = entry.value["Condition"]
    if entry.queries:
        return value if isinstance(value, bool) else entry.query("Condition") or False
    test = entry.object("Condition")
    if test is None:
        return False
    check_test(test)
    try:
        return compile_rule(dict(test.value), test.pointer)
    except CompileError as error:
        for fault in error.faults:
            entry.findings.schema(fault.message, fault.pointer)
    except ValueError as error:
        entry.wrong("Condition", f"Value is not a valid rule: {error}")
    return False


def _reason(entry: Fields) -> str | Query | Expression | None:
    if "Refuse.$" in entry:
        return entry.expression("Refuse.$")
    reason = entry.text_or_query("Refuse")
    if reason == "":
        entry.wrong("Refuse", "A refusal needs a reason")
    return reason
