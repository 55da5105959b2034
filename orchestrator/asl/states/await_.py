"""Await: rest until somebody calls, or a timer fires."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.diagnostics import Code
from orchestrator.asl.limits import DEFAULT
from orchestrator.asl.states.effect import Effect, read_effects
from orchestrator.asl.states.fields import Fields
from orchestrator.asl.states.flow import PLAIN
from orchestrator.asl.states.moment import Moment, moment_fields, read_moment
from orchestrator.asl.states.reaction import On, read_on


@dataclass(frozen=True, slots=True)
class After:
    """A timer: `next` None stays in the state."""

    pointer: str
    field: str
    moment: Moment
    next: str | None
    effects: tuple[Effect, ...]
    comment: str | None


@dataclass(frozen=True, slots=True)
class Await:
    """An Await state; calls that `on` does not name are answered by what stands around it."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    on: On
    after: tuple[After, ...]
    on_enter: tuple[Effect, ...]
    on_exit: tuple[Effect, ...]


_FIELDS = PLAIN | {"On", "After", "OnEnter", "OnExit"}


def read_await(name: str, fields: Fields) -> Await:
    """Read an Await state."""
    fields.allow(_FIELDS)
    after = tuple(
        _after(entry, f"After[{n}]") for n, entry in enumerate(fields.objects("After", filled=True))
    )
    if len(after) > DEFAULT.after_entries:
        fields.wrong("After", f"After has at most {DEFAULT.after_entries} entries")
    if not any(one.next is not None for one in after):
        fields.findings.warn(
            Code.MAY_WAIT_FOREVER,
            "No entry of After leaves this state: it may wait for ever",
            fields.pointer,
        )
    return Await(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language=fields.language,
        on=read_on(fields),
        after=after,
        on_enter=read_effects(fields, "OnEnter", "OnEnter"),
        on_exit=read_effects(fields, "OnExit", "OnExit"),
    )


_OF_AFTER = frozenset({"Next", "Effect", "Comment"})


def _after(entry: Fields, field: str) -> After:
    entry.allow(_OF_AFTER | moment_fields(entry))
    if "Next" not in entry and "Effect" not in entry:
        entry.findings.schema("One of these fields is required: [Next, Effect]", entry.pointer)
    return After(
        pointer=entry.pointer,
        field=field,
        moment=read_moment(entry),
        next=entry.text("Next"),
        effects=read_effects(entry, "Effect", f"{field}/Effect"),
        comment=entry.text("Comment"),
    )
