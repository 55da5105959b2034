"""The timeline: one line per state, on which every attempt, wait, call and effect is a bar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.execution.frame import Frame, FrameStatus, Task
from orchestrator.service import Attempt, Course, Look, Visit
from orchestrator.web import words

WIDTH: Final = 1_000.0
LEAST: Final = 4.0
"""How wide a bar is that took no time."""
MOST_LINES: Final = 120
MOST_BARS: Final = 300
MOST: Final = 240
"""Characters of what is said of a bar."""
_RESTS: Final = frozenset({"Await", "Wait"})


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar; `kind` is its class in the stylesheet."""

    x: float
    width: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """A state, or what followed its transitions, with all its bars."""

    state: str
    depth: int
    what: str
    """Empty for the state itself; else `effect`."""
    bars: tuple[Bar, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """All lines, and the moments below them."""

    lines: tuple[Line, ...]
    begins: datetime
    ends: datetime
    more: int
    """Lines that are left out."""


class _Scale:
    """Where a moment is between the first and the last."""

    def __init__(self, begins: datetime, ends: datetime) -> None:
        self._begins = begins
        self._seconds = max((ends - begins).total_seconds(), 0.001)

    def x(self, at: datetime) -> float:
        part = (at - self._begins).total_seconds() / self._seconds
        return round(WIDTH * min(max(part, 0.0), 1.0), 1)

    def bar(self, begun: datetime, ended: datetime, kind: str, title: str) -> Bar:
        x = self.x(begun)
        width = max(round(self.x(ended) - x, 1), LEAST)
        return Bar(min(x, WIDTH - width), width, kind, title)


def timeline(look: Look, course: Course) -> Timeline:
    """Return the timeline of an execution, until its end or until now."""
    run = look.execution
    ends = run.ended_at or look.now
    scale = _Scale(run.started_at, ends)
    by_path: dict[tuple[str, ...], list[Visit]] = {}
    for visit in course.visits:
        by_path.setdefault(visit.path, []).append(visit)
    lines: list[Line] = []
    for path, visits in by_path.items():
        bars = [bar for visit in visits for bar in _bars(scale, visit, ends)]
        lines.append(Line(path[-1], len(path) - 1, "", _thinned(bars), len(visits)))
    lines += _effects(look, scale, ends)
    return Timeline(
        tuple(lines[:MOST_LINES]), run.started_at, ends, max(0, len(lines) - MOST_LINES)
    )


def _bars(scale: _Scale, visit: Visit, ends: datetime) -> Iterator[Bar]:
    left = visit.left_at or ends
    took = words.between(visit.entered_at, left)
    if visit.kind in _RESTS:
        yield scale.bar(visit.entered_at, left, "wait", f"waited {took}")
    elif not visit.attempts:
        yield scale.bar(visit.entered_at, left, f"plain {visit.outcome.value}", f"took {took}")
    for number, attempt in enumerate(visit.attempts, 1):
        yield from _attempt(scale, attempt, left, f"attempt {number}", "attempt")
    for attempt in visit.undone:
        yield from _attempt(scale, attempt, ends, f"undone by {attempt.resource}", "undoing")
    for note in visit.notes:
        if note.kind != "effect":
            text = f"{note.kind}: {note.text}"
            yield scale.bar(note.at, note.at, note.kind, words.short(text))


def _attempt(
    scale: _Scale, attempt: Attempt, until: datetime, what: str, kind: str
) -> Iterator[Bar]:
    """The bars of an attempt: its time in the queue, and its run."""
    ended = attempt.ended_at or until
    runs = attempt.ended_at is not None or attempt.worker is not None
    begun = attempt.begun_at or (attempt.wanted_at if runs else ended)
    queued = (begun - attempt.wanted_at).total_seconds()
    if queued > 0:
        yield scale.bar(attempt.wanted_at, begun, "queue", f"in the queue {words.seconds(queued)}")
    if runs or attempt.begun_at is not None:
        on = f" on {attempt.worker}" if attempt.worker else ""
        said = f": {attempt.error}" if attempt.error else ""
        text = (
            f"{what}{on}, {words.between(begun, ended)} after {words.seconds(queued)} in the queue,"
            f" {attempt.outcome.value}{said}"
        )
        yield scale.bar(begun, ended, f"{kind} {attempt.outcome.value}", words.short(text, MOST))


def _effects(look: Look, scale: _Scale, ends: datetime) -> Iterator[Line]:
    by_name: dict[tuple[str, str], list[list[Bar]]] = {}
    for frame in look.effects:
        if frame.task is not None and frame.entered_at is not None:
            some = by_name.setdefault((frame.state or "", frame.task.resource), [])
            some.append(list(_effect(scale, frame, frame.task, ends)))
    for (_, resource), some in by_name.items():
        bars = [bar for one in some for bar in one]
        yield Line(resource, 0, "effect", _thinned(bars), len(some))


def _effect(scale: _Scale, frame: Frame, task: Task, until: datetime) -> Iterator[Bar]:
    """The bars of an effect: its time until somebody took it, and its last attempt."""
    over = frame.status in (FrameStatus.ENDED, FrameStatus.FAILED)
    note = frame.effect
    ended = (None if note is None else note.ended_at) or task.ready_at if over else until
    known = None if note is None or not over else note.begun_at
    claimed = task.ready_at if task.claimed_by is not None or over else until
    begun = min(known or claimed, ended)
    wanted = min(frame.entered_at or begun, begun)
    queued = words.between(wanted, begun)
    if begun > wanted:
        yield scale.bar(wanted, begun, "queue", f"waits its turn and for a worker, {queued}")
    worker = task.claimed_by or (None if note is None else note.worker)
    if over or task.claimed_by is not None:
        on = f" on {worker}" if worker else ""
        outcome = {FrameStatus.ENDED: "done", FrameStatus.FAILED: "failed"}.get(
            frame.status, "open"
        )
        text = (
            f"{task.resource}, attempt {task.attempt}{on}, {words.between(begun, ended)}"
            f" after {queued} in the queue, {outcome}"
        )
        yield scale.bar(begun, ended, f"effect {outcome}", words.short(text, MOST))


def _thinned(bars: list[Bar]) -> tuple[Bar, ...]:
    """Leave out bars that would lie on each other, where there are many."""
    if len(bars) <= MOST_BARS:
        return tuple(bars)
    seen: dict[tuple[int, str], Bar] = {}
    for bar in bars:
        place = (int(bar.x / LEAST), bar.kind)
        if place not in seen or seen[place].width < bar.width:
            seen[place] = bar
    return tuple(seen.values())[: 2 * MOST_BARS]
