"""Effect: work that follows a transition and never holds it up, or that undoes other work."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.asl.errors import ALL
from orchestrator.asl.query_templates import QueryTemplate
from orchestrator.asl.resources import Pattern, Resource
from orchestrator.asl.retries import Retrier
from orchestrator.asl.states.fields import Fields
from orchestrator.asl.states.flow import RESULT, read_arguments, read_retry
from orchestrator.asl.states.resource import read_resource
from orchestrator.asl.templates import Template

MOST_EFFECTS = 20
"""Effects of one transition."""

PERSISTENT = (
    Retrier(
        error_equals=(ALL,),
        interval_seconds=1,
        max_attempts=7,
        backoff_rate=2.0,
        max_delay_seconds=300,
        full_jitter=True,
        comment=None,
    ),
)
"""What an effect without Retry does: eight attempts."""


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect, or a compensation.

    Without `parameters` an effect is given the data of its frame, a compensation
    `{"input": …, "result": …}`: the input and the result of what it undoes.
    """

    pointer: str
    field: str
    resource: Resource
    parameters: Template | QueryTemplate | None
    retry: tuple[Retrier, ...]
    timeout_seconds: int | None
    heartbeat_seconds: int | None
    comment: str | None


_FIELDS = frozenset({"Resource", "Retry", "TimeoutSeconds", "HeartbeatSeconds", "Comment"})


def read_effects(fields: Fields, name: str, field: str) -> tuple[Effect, ...]:
    """Read one effect or a list of them; `field` is how causes name their place."""
    if not isinstance(fields.value.get(name), list):
        entry = fields.object(name)
        return () if entry is None else (_effect(entry, field),)
    entries = fields.objects(name, filled=True)
    if len(entries) > MOST_EFFECTS:
        fields.wrong(name, f"A transition has at most {MOST_EFFECTS} effects")
    return tuple(_effect(entry, f"{field}[{n}]") for n, entry in enumerate(entries))


def read_undoing(entry: Fields, field: str) -> Effect:
    """Read a compensation: an effect whose arguments may come from the result of what it undoes."""
    said = "A compensation ends when its handler returns: it cannot wait for an answer"
    return _effect(entry, field, said, RESULT)


_NO_ANSWER = "An effect is waited for by nobody: it cannot wait for an answer"


def _effect(
    entry: Fields, field: str, no_answer: str = _NO_ANSWER, also: frozenset[str] = frozenset()
) -> Effect:
    entry.allow(_FIELDS | {"Arguments" if entry.queries else "Parameters"})
    resource = read_resource(entry)
    if resource.pattern is not Pattern.REQUEST:
        entry.wrong("Resource", no_answer)
    timeout = entry.integer("TimeoutSeconds", 1)
    heartbeat = entry.integer("HeartbeatSeconds", 1)
    if timeout is not None and heartbeat is not None and heartbeat >= timeout:
        entry.wrong("HeartbeatSeconds", "HeartbeatSeconds must be smaller than TimeoutSeconds")
    return Effect(
        pointer=entry.pointer,
        field=field,
        resource=resource,
        parameters=read_arguments(entry, also),
        retry=read_retry(entry) if "Retry" in entry else PERSISTENT,
        timeout_seconds=timeout,
        heartbeat_seconds=heartbeat,
        comment=entry.text("Comment"),
    )
