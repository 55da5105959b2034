"""What is known of a state in an execution: its visits, data, variables, attempts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from orchestrator.execution.payload import Payload
from orchestrator.service import Course, Look, Visit

MOST_VISITS: Final = 50


@dataclass(frozen=True, slots=True)
class Change:
    """A variable before and after a visit; None: it was not there."""

    name: str
    before: Payload | None
    after: Payload | None

    @property
    def kind(self) -> str:
        """new, changed or same."""
        if self.before is None:
            return "new"
        if self.after is None or self.before.text == self.after.text:
            return "same"
        return "changed"


@dataclass(frozen=True, slots=True)
class StateView:
    """A state and one visit to it."""

    name: str
    kind: str
    comment: str | None
    visit: Visit | None
    visits: tuple[Visit, ...]
    """The last ones, newest first."""
    count: int
    variables: tuple[Change, ...]


def state_view(look: Look, course: Course, name: str, event: str) -> StateView | None:
    """Return what is known of a state; None: the machine has none of that name."""
    if look.machine is None:
        return None
    try:
        state = look.machine.state(name)
    except KeyError:
        return None
    visits = course.of(name)
    chosen = next((one for one in visits if str(one.event) == event), None)
    visit = chosen or (visits[-1] if visits else None)
    return StateView(
        name,
        type(state).__name__.rstrip("_"),
        state.comment,
        visit,
        tuple(visits[: -MOST_VISITS - 1 : -1]),
        len(visits),
        () if visit is None else tuple(_changes(course, visit)),
    )


def _changes(course: Course, visit: Visit) -> list[Change]:
    before = _before(course, visit)
    names = [*before, *(name for name in visit.assigned if name not in before)]
    return [Change(name, before.get(name), visit.assigned.get(name)) for name in names]


def _before(course: Course, visit: Visit) -> Mapping[str, Payload]:
    """The variables that a visit found: what was assigned before in its thread and around it."""
    around: list[tuple[int | None, int | None]] = []
    one: Visit | None = visit
    while one is not None:
        around.append((None if one.parent is None else one.parent.event, one.iteration))
        one = one.parent
    found: dict[str, Payload] = {}
    for earlier in course.visits:
        if earlier.event >= visit.event:
            break
        place = (None if earlier.parent is None else earlier.parent.event, earlier.iteration)
        if earlier.assigned and place in around:
            found.update(earlier.assigned)
    return found
