"""Map: a fork with one child per item."""

from __future__ import annotations

from orchestrator.asl.document import Json, show
from orchestrator.asl.errors import RUNTIME, StateFailure
from orchestrator.asl.paths import Path
from orchestrator.asl.query_templates import Queried, QueryTemplate
from orchestrator.asl.spelling import number_in
from orchestrator.asl.states import Map
from orchestrator.asl.states.fields import JSONATA, MOST_SECONDS
from orchestrator.execution import dataflow, queries, surroundings
from orchestrator.execution.failure import leave
from orchestrator.execution.fork import Terms, open_fork
from orchestrator.execution.payload import Payload
from orchestrator.execution.quantity import number, whole
from orchestrator.execution.queries import Known, QueryFailed
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def enter(transition: Transition, thread: Thread, state: Map) -> None:
    """Open the fork; ItemSelector makes each iteration's input."""
    if state.unsupported:
        raise StateFailure(RUNTIME, f"{', '.join(state.unsupported)} comes with a later release.")
    given = dataflow.effective_input(transition, thread, state)
    terms = _terms(transition, thread, state, given)
    items = [Payload.of(item) for item in _items(transition, thread, state, given)]
    open_fork(
        transition, thread, state, _inputs(transition, thread, state, given, items), items, terms
    )


def again(
    transition: Transition, thread: Thread, state: Map, places: range
) -> tuple[list[Payload], list[Payload]]:
    """Return the inputs and items of some iterations, as `enter` made them."""
    given = dataflow.effective_input(transition, thread, state)
    found = _items(transition, thread, state, given)
    if len(found) < places.stop:
        raise StateFailure(RUNTIME, "The items are not those with which the state began.")
    items = [Payload.of(found[place]) for place in places]
    return _inputs(transition, thread, state, given, items, places.start), items


def resume(transition: Transition, thread: Thread, state: Map, result: Payload) -> None:
    """Leave with the outputs of the iterations, by index."""
    output, assigned = dataflow.finished(transition, thread, state, result)
    leave(transition, thread, state, output, state.next, assigned)


def _items(transition: Transition, thread: Thread, state: Map, given: Payload) -> list[Json]:
    if state.query_language == JSONATA:
        return _queried_items(transition, thread, state, given)
    path = state.items_path
    items = dataflow.read(transition, thread, path, given)
    if not isinstance(items, list):
        text = path.text[1:] if path.text.startswith("$$") else path.text
        raise StateFailure(RUNTIME, f'Reference path "{text}" must point to array.')
    return items


def _queried_items(
    transition: Transition, thread: Thread, state: Map, given: Payload
) -> list[Json]:
    items = given.value
    if state.items is not None:
        items = queries.rendered(transition, thread, state.items, queries.AT_ENTRY)
        if not isinstance(items, list) and isinstance(state.items.part, Queried):
            raise queries.unexpected(state.items.part, "array", items)
    if not isinstance(items, list):
        raise QueryFailed(f"Map state input must be an array but was: {show(items)}")
    return items


def _inputs(
    transition: Transition,
    thread: Thread,
    state: Map,
    given: Payload,
    items: list[Payload],
    first: int = 0,
) -> list[Payload]:
    selector = state.item_selector
    if selector is None:
        return items
    inputs: list[Payload] = []
    left = transition.limits.fork_bytes
    seen = surroundings.variables(transition, thread)
    for index, item in enumerate(items, first):
        if isinstance(selector, QueryTemplate):
            known = Known(item=(index, item), again=True)
            selected = Payload.of(queries.rendered(transition, thread, selector, known))
        else:
            context = surroundings.context(transition, thread, (index, item))
            draw = transition.draw(f"ItemSelector/{index}")
            selected = Payload.of(selector.render(given.value, context, draw, seen))
        dataflow.check_size(transition, selected, state.name)
        left -= len(selected.text)
        if left < 0:
            raise _too_much_together(transition)
        inputs.append(selected)
    return inputs


def _too_much_together(transition: Transition) -> StateFailure:
    most = transition.limits.fork_bytes
    return StateFailure(RUNTIME, f"ItemSelector makes more than {most} bytes for all iterations.")


# ---------------------------------------------------------------------------------------- terms


def _terms(transition: Transition, thread: Thread, state: Map, given: Payload) -> Terms:
    def read(path: Path | None) -> Json:
        return None if path is None else dataflow.read(transition, thread, path, given)

    concurrency = whole(transition, thread, state.max_concurrency, "MaxConcurrency", _NATURAL) or 0
    count = whole(
        transition, thread, state.tolerated_failure_count, "ToleratedFailureCount", _NATURAL
    )
    percentage = number(
        transition,
        thread,
        state.tolerated_failure_percentage,
        "ToleratedFailurePercentage",
        (0, 100),
    )
    if state.max_concurrency_path is not None:
        path = state.max_concurrency_path
        concurrency = _natural(read(path), path, "MaxConcurrency")
    if state.tolerated_failure_count_path is not None:
        path = state.tolerated_failure_count_path
        count = _natural(read(path), path, "ToleratedFailureCount")
    if state.tolerated_failure_percentage_path is not None:
        path = state.tolerated_failure_percentage_path
        percentage = _percentage(read(path), path)
    return Terms(concurrency, count, percentage)


_NATURAL = (0, MOST_SECONDS)


def _natural(value: Json, path: Path, field: str) -> int:
    if isinstance(value, str):
        value = number_in(value) or value
    if isinstance(value, bool) or not isinstance(value, int):
        raise _unusable(field, value, path, "integer")
    if value < 0:
        raise StateFailure(RUNTIME, f"{field} cannot be negative.")
    return value


def _percentage(value: Json, path: Path) -> float:
    if isinstance(value, str):
        value = number_in(value) or value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _unusable("ToleratedFailurePercentage", value, path, "number")
    if not 0 <= value <= 100:  # noqa: PLR2004  # per cent
        raise StateFailure(RUNTIME, "ToleratedFailurePercentage must be between 0 and 100.")
    return float(value)


def _unusable(field: str, value: Json, path: Path, kind: str) -> StateFailure:
    shown = value if isinstance(value, str) else show(value)
    return StateFailure(
        RUNTIME,
        f'The {field}Path field refers to value "{shown}" which is not a valid {kind}: {path.text}',
    )
