"""Compensate: undo all that is pending in the frame, newest first."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.states.fields import Fields
from orchestrator.asl.states.flow import PLAIN, TRANSITION, read_next


@dataclass(frozen=True, slots=True)
class Compensate:
    """A Compensate state: it hands its input on once everything is undone; `next` None: the end."""

    name: str
    pointer: str
    comment: str | None
    query_language: str
    next: str | None


def read_compensate(name: str, fields: Fields) -> Compensate:
    """Read a Compensate state."""
    fields.allow(PLAIN | TRANSITION)
    return Compensate(
        name=name,
        pointer=fields.pointer,
        comment=fields.text("Comment"),
        query_language=fields.language,
        next=read_next(fields),
    )
