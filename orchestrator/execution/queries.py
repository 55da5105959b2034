"""JSONata in a state: what an expression sees, and what its value may be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from orchestrator.asl.document import Json, show
from orchestrator.asl.errors import QUERY_EVALUATION_ERROR, StateFailure
from orchestrator.asl.jsonata import STATES, UNDEFINED, Query, Question
from orchestrator.asl.query_templates import Queried, QueryTemplate
from orchestrator.execution import surroundings
from orchestrator.execution.payload import Payload
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class QueryFailed(StateFailure):
    """An expression has no value, or one that cannot be used; it is recorded by itself.

    `field` is its place, if it is one expression's fault; `used` tells that the value was good
    JSON and only its use has failed.
    """

    def __init__(self, cause: str, field: str | None = None, *, used: bool = False) -> None:
        super().__init__(QUERY_EVALUATION_ERROR, cause)
        self.field = field
        self.used = used


@dataclass(frozen=True, slots=True)
class Known:
    """What `$states` holds beside the input and the context, and when and where it is asked.

    `item` is a Map's item with its index. `again` tells that the same will be asked again by later
    decisions and must have the same answer: the present is then the state's entry.
    """

    result: Payload | None = None
    error_output: dict[str, Json] | None = None
    item: tuple[int, Payload] | None = None
    again: bool = False
    lenient: bool = False
    """What yields nothing is null."""


NOTHING_MORE = Known()
AT_ENTRY = Known(again=True)
"""For what a state that has rested asks once more: a Wait must not wait for ever later moments."""


def rendered(
    transition: Transition, thread: Thread, template: QueryTemplate, known: Known = NOTHING_MORE
) -> Json:
    """Return the value of a template; raises QueryFailed."""
    return template.render(lambda queried: value(transition, thread, queried, known))


def value(
    transition: Transition, thread: Thread, queried: Queried, known: Known = NOTHING_MORE
) -> Json:
    """Return the value of an expression; raises QueryFailed."""
    query, field = queried.query, queried.field
    place = field if known.item is None else f"{field}/{known.item[0]}"
    entry = f"{transition.view.execution.id}/{thread.entry}/{thread.retries.total}"
    if transition.book.call is not None:
        entry = f"{entry}/{transition.book.call.id}"
    present = thread.entered_at if known.again else None
    found = transition.ask(
        Question(
            query=query,
            bindings=_bindings(transition, thread, query, known),
            moment_ms=((present or transition.now) - _EPOCH) // _MILLISECOND,
            seed=f"{entry}/{place}",
        )
    )
    if known.lenient and found == UNDEFINED:
        return None
    if found.reason is not None:
        raise _failed(queried, found.reason)
    return found.value


def _failed(queried: Queried, reason: str) -> QueryFailed:
    named = f"The JSONata expression '{queried.query.text}' specified for the field"
    return QueryFailed(f"{named} '{queried.field}' {reason}", queried.field)


def _bindings(
    transition: Transition, thread: Thread, query: Query, known: Known
) -> dict[str, Json]:
    bindings: dict[str, Json] = {}
    variables = surroundings.variables(transition, thread)
    if variables and (query.variables or query.uncalled):
        names = query.variables | query.uncalled
        bindings = {name: variables[name] for name in names if name in variables}
    states: dict[str, Json] = {}
    wanted = query.states
    if wanted is None or "input" in wanted:
        states["input"] = thread.input.value
    if known.result is not None and (wanted is None or "result" in wanted):
        states["result"] = known.result.value
    if known.error_output is not None and (wanted is None or "errorOutput" in wanted):
        states["errorOutput"] = known.error_output
    if query.reads_context:
        states["context"] = surroundings.context(transition, thread, known.item)()
    bindings[STATES] = states
    return bindings


# ------------------------------------------------------------------- what a value must be


def unexpected(queried: Queried, wanted: str, found: Json) -> QueryFailed:
    """Return the failure of an expression whose value is of the wrong type."""
    reason = (
        f"returned an unexpected result type. Expected '{wanted}', but was '{_kind(found)}' "
        f"for value: {show(found)}"
    )
    return _failed(queried, reason)


def _kind(found: Json) -> str:
    match found:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"


def text(transition: Transition, thread: Thread, query: Query, field: str) -> str:
    """Return the value of an expression that must give a string."""
    queried = Queried(field, query)
    found = value(transition, thread, queried, AT_ENTRY)
    if not isinstance(found, str):
        raise unexpected(queried, "string", found)
    return found


def condition(transition: Transition, thread: Thread, query: Query, field: str) -> bool:
    """Return the value of an expression that must give a boolean."""
    queried = Queried(field, query)
    found = value(transition, thread, queried)
    if not isinstance(found, bool):
        raise unexpected(queried, "boolean", found)
    return found


def number(
    transition: Transition, thread: Thread, query: Query, field: str, least: float, most: float
) -> int | float:
    """Return the value of an expression that must give a number within bounds."""
    queried = Queried(field, query)
    found = value(transition, thread, queried, AT_ENTRY)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise unexpected(queried, "number", found)
    if not least <= found <= most:
        raise QueryFailed(
            f"The {field} field must be between {least} and {most} but was: {show(found)}",
            field,
            used=True,
        )
    return int(found) if float(found).is_integer() else found
