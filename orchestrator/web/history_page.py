"""The history of an execution, page by page, and the iterations of its Maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from orchestrator.execution.history import Detail, HistoryEvent
from orchestrator.execution.payload import Payload
from orchestrator.service import Course, Orchestrator
from orchestrator.web import words
from orchestrator.web.folding import Segment, folded
from orchestrator.web.request import Answer, Ask, Refused, Shown

PAGE: Final = 500
MOST_ITERATIONS: Final = 200


@dataclass(frozen=True, slots=True)
class EventLine:
    """An event as a line of the table."""

    event: HistoryEvent
    state: str
    text: str


class HistoryPage:
    """Shows what is recorded, oldest first."""

    def __init__(self, service: Orchestrator) -> None:
        self._service = service

    def show(self, ask: Ask) -> Answer:
        """Show a page of events."""
        address = ask.path["address"]
        run = self._service.find_execution(address)
        given = ask.given("after")
        after = int(given) if given.isdecimal() and len(given) < 18 else 0  # noqa: PLR2004  # bigint
        events = self._service.get_execution_history(address, after, PAGE)
        last = run.next_event_id - 1
        segments = [_lines(segment) for segment in folded(events)]
        values = {
            "run": run,
            "segments": segments,
            "first": after + 1,
            "last": events[-1].id if events else after,
            "total": last,
            "older": max(0, after - PAGE) if after else None,
            "newer": events[-1].id if events and events[-1].id < last else None,
            "newest": max(0, last - PAGE),
        }
        return Shown("history.html", values)

    def iterations(self, ask: Ask) -> Answer:
        """Show how some iterations of a Map stand, with what each went through."""
        look = self._service.views.execution(ask.path["address"])
        state = ask.given("state")
        first, last = _number(ask.given("first")), _number(ask.given("last"))
        if first is None or last is None or not 0 <= last - first <= MOST_ITERATIONS:
            raise Refused(
                400, "Which iterations?", f"From first to last, {MOST_ITERATIONS} or less."
            )
        course = Course().read(look.events)
        visits = [
            visit
            for visit in course.visits
            if visit.iteration is not None
            and first <= visit.iteration <= last
            and any(around == state for around in visit.path[:-1])
        ]
        frames = [frame for frame in look.frames if frame.id and frame.state]
        running = [
            child
            for frame in look.frames
            if frame.state == state
            for child in look.strips.get(frame.id, ())
            if first <= child.index <= last
        ]
        values = {
            "run": look.execution,
            "look": look,
            "state": state,
            "first": first,
            "last": last,
            "visits": visits,
            "running": running,
            "frames": frames,
            "now": look.now,
        }
        return Shown("iterations.html", values)


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 10 else None  # noqa: PLR2004  # of children


def _lines(segment: Segment) -> tuple[list[EventLine], int, list[EventLine]]:
    return (
        [_line(event) for event in segment.events],
        segment.rounds,
        [_line(event) for event in segment.folded],
    )


_SAID: Final = (
    "error",
    "cause",
    "call",
    "next",
    "resource",
    "workerName",
    "output",
    "input",
    "parameters",
)


def _line(event: HistoryEvent) -> EventLine:
    details = event.details
    parts = [f"{name}: {_shown(details[name])}" for name in _SAID if name in details][:3]
    return EventLine(event, str(details.get("name", "")), words.short(" · ".join(parts), 220))


def _shown(detail: Detail) -> str:
    return words.short(detail.text if isinstance(detail, Payload) else detail, 100)
