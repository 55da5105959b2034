"""Faces: what is written in a state's box, and how large that makes it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from orchestrator.asl.jsonata import Query
from orchestrator.asl.resources import Kind, Pattern
from orchestrator.asl.states import (
    Await,
    Choice,
    Compensate,
    Fail,
    Map,
    Parallel,
    Pass,
    State,
    Succeed,
    Task,
    Wait,
)
from orchestrator.asl.states.moment import Moment
from orchestrator.asl.states.quantity import Quantity
from orchestrator.asl.states.reaction import ReactionKind
from orchestrator.drawing import wording
from orchestrator.drawing.text import fit, shown, width, wrap
from orchestrator.drawing.transition import effects

NAME_SIZE: Final = 13.0
SMALL_SIZE: Final = 11.0
NAME_LINE, SMALL_LINE = 17.0, 15.0
PADDING: Final = 10.0
TEXT_AT: Final = 34.0
"""Where text begins in a box: right of the icon."""
_TEXT_END = 14.0
_MOST_NAME, _MOST_SMALL, _MOST_IN_FORK = 200.0, 250.0, 300.0
_MOST_NAME_LINES, _MOST_ROWS = 2, 6
_LEAST_WIDTH = 128.0
_GRID = 4.0
_CORNER_OF = {"choice": 6.0, "succeed": 8.0, "fail": 8.0}
"""What more a box takes whose corners are cut."""


@dataclass(frozen=True, slots=True)
class Row:
    """A small line in a box; `kind` is about, timer, effect, call or undo."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Face:
    """What is written in a box, each text short enough for it."""

    kind: str
    """The state's type in lower case."""
    name: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def width(self) -> float:
        """Return how wide a box must be for it."""
        names = max(width(line, NAME_SIZE, bold=True) for line in self.name)
        rows = max((width(row.text, SMALL_SIZE) for row in self.rows), default=0.0)
        end = _TEXT_END + (_CORNER_OF.get(self.kind, 0.0))
        needed = max(_LEAST_WIDTH, TEXT_AT + max(names, rows) + end)
        return math.ceil(needed / _GRID) * _GRID

    @property
    def height(self) -> float:
        """Return how high a box must be for it."""
        return 2 * PADDING + NAME_LINE * len(self.name) + SMALL_LINE * len(self.rows)


def face(state: State, inside: float = 0.0) -> Face:
    """Return what is written in a state's box; `inside` is the width of what stands in it."""
    room = inside - TEXT_AT - _TEXT_END
    most = max(room, _MOST_IN_FORK if isinstance(state, Parallel | Map) else _MOST_SMALL)
    rows = [Row(row.kind, fit(shown(row.text), SMALL_SIZE, most)) for row in _rows(state)]
    if len(rows) > _MOST_ROWS:
        rows[_MOST_ROWS - 1 :] = [Row("about", f"and {len(rows) - _MOST_ROWS + 1} more")]
    widest = max(width(row.text, SMALL_SIZE) for row in rows)
    broad = max(_MOST_NAME, widest, room)
    name = wrap(shown(state.name), NAME_SIZE, broad, _MOST_NAME_LINES, bold=True)
    return Face(type(state).__name__.lower(), name, tuple(rows))


def _rows(state: State) -> Iterator[Row]:
    yield Row("about", _about(state))
    match state:
        case Task():
            yield from _limits(state)
            yield from _undoing(state)
            if state.pivot:
                yield Row("undo", "pivot: no way back")
        case Parallel() | Map():
            yield from _retries(state)
            yield from _undoing(state)
        case Await():
            yield from _await(state)
        case Pass() | Choice() | Wait() | Succeed() | Fail() | Compensate():
            return


def _about(state: State) -> str:
    match state:
        case Task():
            return _task(state)
        case Wait():
            moment = Moment(
                state.seconds, state.seconds_path, state.timestamp, state.timestamp_path
            )
            return f"wait {wording.moment(moment)}"
        case Fail():
            return state.error if isinstance(state.error, str) else "Fail"
        case Parallel():
            number = len(state.branches)
            return f"Parallel · {number} {'branch' if number == 1 else 'branches'}"
        case Map():
            return _map(state)
        case Compensate():
            return "Compensate: all that is pending"
        case Pass() | Choice() | Await() | Succeed():
            return type(state).__name__


def _task(state: Task) -> str:
    resource = state.resource
    words = wording.function(state.parameters) if resource.kind is Kind.LAMBDA_INVOKE else None
    words = words or wording.resource(resource)
    return f"{words} · by token" if resource.pattern is Pattern.TASK_TOKEN else words


def _limits(state: Task) -> Iterator[Row]:
    words = [row.text for row in _retries(state)]
    if state.timeout_seconds is not None:
        words.insert(0, f"at most {wording.quantity(state.timeout_seconds)}")
    if words:
        yield Row("about", " · ".join(words))


def _retries(state: Task | Parallel | Map) -> Iterator[Row]:
    most = sum(retrier.max_attempts for retrier in state.retry)
    if most:
        yield Row("about", "1 retry" if most == 1 else f"{most} retries")


def _undoing(state: Task | Parallel | Map) -> Iterator[Row]:
    if state.compensate is not None:
        unknown = isinstance(state, Task) and state.compensate_unknown
        words = "undo, also if unknown" if unknown else "undo"
        yield Row("undo", f"{words}: {wording.resource(state.compensate.resource)}")
    elif not isinstance(state, Parallel) and state.adopts:
        yield Row("undo", "undo: what its executions did")


def _map(state: Map) -> str:
    items = wording.path(state.items_path) if state.items is None else "items"
    words = "Map" if items == "$" else f"Map · each of {items}"
    if _limited(state.max_concurrency):
        words += f" · {_number(state.max_concurrency)} at a time"
    return words


def _limited(found: Quantity) -> bool:
    return found != 0


def _number(found: Quantity) -> str:
    if isinstance(found, Query):
        return wording.query(found)
    return f"{found:g}" if isinstance(found, int | float) else found.text


def _await(state: Await) -> Iterator[Row]:
    for name, found in (("enter", state.on_enter), ("exit", state.on_exit)):
        if found:
            started = ", ".join(wording.resource(one.resource) for one in found)
            yield Row("effect", f"on {name}: {started}")
    for timer in state.after:
        if timer.next is None:
            words = effects(timer.effects).removeprefix(" + ").replace(" + ", ", ")
            yield Row("timer", f"after {wording.moment(timer.moment)}: {words}")
    for call, reactions in state.on.items():
        for reaction in reactions:
            if reaction.kind in (ReactionKind.STAY, ReactionKind.POSTPONE):
                words = "stays" if reaction.kind is ReactionKind.STAY else "later"
                yield Row("call", f"{call}: {words}{effects(reaction.effects)}")
