"""Two readings of the language agree on whatever hypothesis makes up."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings

from orchestrator.asl.choices import compile_rule
from orchestrator.asl.document import Json
from orchestrator.asl.draw import Draw
from orchestrator.asl.errors import StateFailure
from orchestrator.asl.paths import compile_path
from orchestrator.asl.templates import compile_template
from tests.asl import generation
from tests.asl.second_reading import choices as second_choices
from tests.asl.second_reading import paths as second_paths
from tests.asl.second_reading import templates as second_templates
from tests.asl.second_reading.values import CannotDo, NotThere, alike

CONTEXT: Json = {
    "a": {"b": [1, 2, {"c": "x"}]},
    "c": "now",
    "k-1": None,
    "numbers": [3, 1.5, 1, 1.0, 3],
    "mixed": [True, 1, "1", None, [1], [1.0], {"a": 1, "b": 2}, {"b": 2.0, "a": 1}, False, 0],
    "text": "one, two; three",
}
FAILURES = {"States.Runtime": NotThere, "States.IntrinsicFailure": CannotDo}

thorough = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def ours(evaluate: Callable[[], Json]) -> Any:
    """What the engine makes of something, or how it fails."""
    try:
        return evaluate()
    except StateFailure as failure:
        return FAILURES[failure.failure.error or ""]


def theirs(evaluate: Callable[[], Any]) -> Any:
    """What the second reading makes of it."""
    try:
        return evaluate()
    except (NotThere, CannotDo) as failure:
        return type(failure)


def agree(one: Any, other: Any) -> bool:
    if isinstance(one, type) or isinstance(other, type):
        return one is other
    return alike(one, other)


@thorough
@given(generation.documents, generation.paths())
def test_a_path_reads_what_the_second_reading_reads(document: Any, text: str) -> None:
    before = json.dumps(document)
    one = ours(lambda: compile_path(text).read(document, lambda: CONTEXT))
    other = theirs(lambda: second_paths.read(text, document, CONTEXT))
    assert agree(one, other), f"{text}: {one!r} here, {other!r} there"
    assert json.dumps(document) == before


@thorough
@given(generation.objects, generation.templates())
def test_a_template_renders_what_the_second_reading_renders(document: Any, template: Any) -> None:
    before = json.dumps([document, template])
    one = ours(lambda: compile_template(template).render(document, lambda: CONTEXT, Draw(b"")))
    other = theirs(lambda: second_templates.render(template, document, CONTEXT))
    assert agree(one, other), f"{template}: {one!r} here, {other!r} there"
    assert json.dumps([document, template]) == before


@thorough
@given(generation.objects, generation.calls)
def test_a_call_gives_what_the_second_reading_gives(document: Any, call: str) -> None:
    template: Json = {"value.$": call}
    one = ours(lambda: compile_template(template).render(document, lambda: CONTEXT, Draw(b"")))
    other = theirs(lambda: second_templates.render(template, document, CONTEXT))
    assert agree(one, other), f"{call}: {one!r} here, {other!r} there"


@thorough
@given(generation.objects, generation.rules)
def test_a_rule_holds_where_the_second_reading_says_so(document: Any, rule: Any) -> None:
    one = ours(lambda: compile_rule(rule).holds(document, lambda: CONTEXT))
    other = theirs(lambda: second_choices.holds(rule, document, CONTEXT))
    assert agree(one, other), f"{rule}: {one!r} here, {other!r} there"
