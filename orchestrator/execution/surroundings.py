"""What a frame sees around it: the variables of the frames above it, and the context object."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from orchestrator.asl.document import Json
from orchestrator.asl.paths import NO_VARIABLES, ContextSource, Variables
from orchestrator.asl.states import Map, Parallel, Task
from orchestrator.execution.context import context_object, moment_text
from orchestrator.execution.frame import Frame, lineage
from orchestrator.execution.payload import Payload
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def variables(transition: Transition, thread: Thread) -> Variables:
    """Return the variables that a frame sees, its own and those around it."""
    if not transition.machine.assigns:
        return NO_VARIABLES
    outer = outer_variables(transition, thread)
    own = _value(thread.variables)
    return {**outer, **own} if outer and own else outer or own


def outer_variables(transition: Transition, thread: Thread) -> Variables:
    """Return the variables of the frames around a frame."""
    found: dict[str, Json] = {}
    for around in _around(transition, thread):
        found.update(_value(around))
    return found or NO_VARIABLES


def outer_texts(transition: Transition, thread: Thread) -> list[str]:
    """Return the variables of the frames around a frame as texts."""
    return [around.text for around in _around(transition, thread)]


def _around(transition: Transition, thread: Thread) -> list[Payload]:
    if not transition.machine.assigns or not thread.id:
        return []
    tree = transition.tree
    found: list[Payload] = []
    for one in lineage(thread.id)[:-1]:
        if not tree.knows(one):
            continue  # it was cancelled together with this one
        place = tree.standing(one)
        if place.variables is not None:
            found.append(place.variables)
        around = transition.machine.state(place.state or "")
        if isinstance(around, Map) and around.distributed:
            found.clear()  # its children are executions of their own
    return found


def context(
    transition: Transition, thread: Thread, item: tuple[int, Payload] | None = None
) -> ContextSource:
    """Return where an evaluation finds the context object; ItemSelector hands in its item."""
    return partial(_context, transition, thread, item)


def _context(transition: Transition, thread: Thread, item: tuple[int, Payload] | None) -> Json:
    about: dict[str, Json] = {
        "Name": thread.state,
        "EnteredTime": moment_text(thread.entered_at or transition.now),
    }
    state = transition.state_of(thread)
    if isinstance(state, Task | Parallel | Map):
        about["RetryCount"] = thread.retries.total
    view = transition.view
    here = item or _item_around(transition, thread.id)
    token = None
    if isinstance(state, Task) and state.resource.waits_for_token:
        token = transition.promised.get(thread.id) if thread.task is None else thread.task.token
    call = transition.book.call
    return context_object(view.execution, view.scope, view.input, about, here, token, call)


def _item_around(transition: Transition, frame_id: str) -> tuple[int, Payload] | None:
    tree = transition.tree
    for one in reversed(lineage(frame_id)):
        place = tree.standing(one) if tree.knows(one) else None
        if place is not None and place.item is not None:
            return _index(transition, place), place.item
    return None


def _index(transition: Transition, place: Thread | Frame) -> int:
    """Return the index of the iteration in which a frame stands: its own, or one around it."""
    machine, parts, name = transition.machine, place.id.split("/"), place.state
    while name is not None and (name := machine.around(name)) is not None:
        if isinstance(machine.state(name), Map):
            break
        parts.pop()  # a branch: it was cancelled, and has kept the item of the iteration
    return int(parts[-1].rsplit(".", 1)[1])


def surround(transition: Transition, thread: Thread) -> None:
    """Give a frame what it sees of those around it, which it will not find any more."""
    seen = variables(transition, thread)
    thread.variables = Payload.of(dict(seen)) if seen else None
    if thread.item is None and (here := _item_around(transition, thread.id)) is not None:
        thread.item = here[1]


def _value(variables: Payload | None) -> Variables:
    value = NO_VARIABLES if variables is None else variables.value
    return value if isinstance(value, Mapping) else NO_VARIABLES
