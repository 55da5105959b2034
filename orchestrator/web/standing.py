"""How an execution stands, as its page shows it: marks for the picture, strips, effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from markupsafe import Markup

from orchestrator.service import Course, Iteration, Look, Mark, Outcome, Visit, draw

CELLS: Final = 200
"""Of more iterations several share a cell."""
_OF_OUTCOME: Final = {
    Outcome.OPEN: Mark.RUNNING,
    Outcome.DONE: Mark.DONE,
    Outcome.FAILED: Mark.FAILED,
    Outcome.CAUGHT: Mark.CAUGHT,
    Outcome.CANCELLED: Mark.CANCELLED,
}


def picture(look: Look, here: str) -> Markup | None:
    """The graph with live colours, each state a link to what is known of it."""
    if look.machine is None:
        return None
    links = {
        state.name: f"{here}?{urlencode({'state': state.name})}#state"
        for state in look.machine.every_state()
    }
    svg = draw(look.machine).svg(look.marks, links=links, style=False)
    return Markup(svg)  # noqa: S704  # the drawing escapes what comes from a definition


@dataclass(frozen=True, slots=True)
class Failed:
    """The last state that failed before an execution did; `caught`: a Catcher led on from it."""

    state: str
    event: int
    error: str
    cause: str
    caught: bool


def failure_of(look: Look, course: Course) -> Failed | None:
    """What led to the failure of an execution; None: it has not failed, or its own end says all."""
    if look.execution.error is None:
        return None
    for visit in reversed(course.visits):
        last = visit.attempts[-1] if visit.attempts else None
        error = visit.error or (None if last is None else last.error)
        failed = visit.outcome in (Outcome.FAILED, Outcome.CAUGHT)
        if failed and error is not None and visit.kind != "Fail" and visit.total is None:
            cause = visit.cause or ("" if last is None else last.cause) or ""
            caught = visit.outcome is Outcome.CAUGHT
            return Failed(visit.state, visit.event, error, cause, caught)
    return None


@dataclass(frozen=True, slots=True)
class Cell:
    """One iteration of a strip, or several beside each other."""

    first: int
    last: int
    mark: str
    title: str


@dataclass(frozen=True, slots=True)
class Strip:
    """The iterations of a Map."""

    state: str
    total: int
    counts: Mapping[str, int]
    cells: tuple[Cell, ...]


_WORST: Final = ("failed", "running", "waiting", "cancelled", "done", "pending")


def strips(look: Look, course: Course) -> list[Strip]:
    """The iterations of each Map that was entered, of the last visit to it."""
    found: list[Strip] = []
    running = {
        frame.state: look.strips[frame.id]
        for frame in look.frames
        if frame.state is not None and frame.id in look.strips
    }
    totals = {fork.frame: fork for fork in look.forks}
    for frame in look.frames:
        children = look.strips.get(frame.id)
        fork = totals.get(frame.id)
        if (
            children is None
            or fork is None
            or frame.state is None
            or not _is_map(look, frame.state)
        ):
            continue
        stands = {child.index: _of_child(child.status, child.rests_on) for child in children}
        found.append(_strip(frame.state, fork.total, stands))
    by_visit: dict[int, list[Iteration]] = {}
    for iteration in course.iterations:
        by_visit.setdefault(iteration.of.event, []).append(iteration)
    for visit in _last_maps(course):
        if visit.state in running and visit.left_at is None:
            continue
        inner = by_visit.get(visit.event, [])
        stands = {one.index: _OF_OUTCOME[one.outcome].value for one in inner}
        if visit.total:
            found.append(_strip(visit.state, visit.total, stands, done=visit.outcome))
    return found


def _is_map(look: Look, state: str) -> bool:
    return look.machine is not None and type(look.machine.state(state)).__name__ == "Map"


def _last_maps(course: Course) -> list[Visit]:
    last = {visit.state: visit for visit in course.visits if visit.kind == "Map"}
    return list(last.values())


def _of_child(status: str, rests_on: str | None) -> str:
    if status == "pending":
        return "pending"
    if status == "ended":
        return "done"
    return "running" if rests_on in ("task", "children") else "waiting"


def _strip(state: str, total: int, stands: Mapping[int, str], done: Outcome | None = None) -> Strip:
    rest = "done" if done is Outcome.DONE else "pending"
    every = [stands.get(index, rest) for index in range(total)]
    counts: dict[str, int] = {name: every.count(name) for name in _WORST if name in every}
    size = max(1, -(-total // CELLS))
    cells = []
    for first in range(0, total, size):
        part = every[first : first + size]
        mark = next(name for name in _WORST if name in part)
        last = first + len(part) - 1
        span = f"{first}" if first == last else f"{first} to {last}"
        cells.append(Cell(first, last, mark, f"{span}: {mark}"))
    return Strip(state, total, counts, tuple(cells))
