"""Assign: the variables that a state leaves to those that follow."""

from __future__ import annotations

from typing import TypeAlias

from orchestrator.asl.jsonata import STATES
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.states.fields import Fields
from orchestrator.asl.templates import Template

MOST_NAME_CHARACTERS = 80

Assign: TypeAlias = Template | QueryTemplate
"""An object of names and values, in the language of its state."""


def read_assign(
    fields: Fields, field: str = "Assign", also: frozenset[str] = frozenset()
) -> Assign | None:
    """Read Assign; `field` is how causes name its place, `also` what `$states` holds there."""
    assign = fields.object("Assign")
    if assign is None:
        return None
    for key in assign.value:
        name = key if fields.queries else key.removesuffix(".$")
        if name == STATES:
            assign.wrong(key, f"The variable name '{STATES}' is reserved")
        elif not name.isidentifier() or len(name) > MOST_NAME_CHARACTERS:
            assign.wrong(
                key,
                "A variable name begins with a letter or underscore, goes on with letters, digits"
                f" and underscores, and has at most {MOST_NAME_CHARACTERS} characters",
            )
    if fields.queries:
        return fields.query_template("Assign", field, also)
    return fields.template("Assign")
