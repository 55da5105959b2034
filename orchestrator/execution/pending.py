"""The compensations of one transition: what is stored of them, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.execution.compensation import (
    Compensation,
    CompensationStatus,
    Key,
    Mark,
    Stretch,
    Wanted,
    only,
)
from orchestrator.execution.decision import Missing, View
from orchestrator.execution.needs import NeedsMore


class Pending:
    """What can be undone, as it stands now in a transition."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[Key, Compensation] = {}
        """Those that this transition has registered or changed."""
        self._marks: dict[Key, CompensationStatus] = {}
        self._dropped: list[Stretch] = []

    def put(self, compensation: Compensation) -> None:
        """Register a compensation, in place of what stood at its place."""
        self._known[compensation.number] = compensation
        self._marks.pop(compensation.number, None)

    def mark(self, number: Key, status: CompensationStatus) -> None:
        """Let a compensation come to another status."""
        known = self._known.get(number)
        if known is not None:
            self._known[number] = replace(known, status=status)
        else:
            self._marks[number] = status

    def drop(self, stretch: Stretch) -> None:
        """Forget what is open in a stretch: it will not be undone."""
        self._dropped.append(stretch)
        self._known = {
            number: one
            for number, one in self._known.items()
            if not (one.is_open and stretch.holds(number))
        }

    def newest(
        self, stretch: Stretch, before: tuple[int, int] | None = None
    ) -> Compensation | None:
        """Return the newest open one of a stretch; asks for it."""
        mine = [one for one in self._known.values() if one.is_open and stretch.holds(one.number)]
        stored = self._newest_stored(stretch, before)
        found = mine if stored is None else [*mine, stored]
        return max(found, key=lambda one: one.order, default=None)

    def every(self, stretch: Stretch) -> list[Compensation]:
        """Return all open ones of a stretch; asks for them."""
        found = {number: one for number, one in self._known.items() if stretch.holds(number)}
        for stored in self._stored(Wanted(stretch, every=True)):
            now = self._now(stored)
            if now is not None:
                found[now.number] = now
        return [one for one in found.values() if one.is_open]

    def one(self, number: Key) -> Compensation | None:
        """Return one compensation, whatever has become of it; asks for it."""
        known = self._known.get(number)
        if known is not None:
            return known
        stored = next(iter(self._stored(only(number))), None)
        return None if stored is None else self._now(stored)

    def _newest_stored(
        self, stretch: Stretch, before: tuple[int, int] | None
    ) -> Compensation | None:
        for loaded, stored in self._view.compensations.items():
            if loaded.every and _covers(loaded.stretch, stretch):
                there = [self._now(one) for one in stored if stretch.holds(one.number)]
                left = [one for one in there if one is not None and one.is_open]
                return max(left, key=lambda one: one.order, default=None)
        while True:
            found = next(iter(self._stored(Wanted(stretch, before))), None)
            if found is None:
                return None
            now = self._now(found)
            if now is not None and now.is_open:
                return now
            before = found.order

    def _now(self, stored: Compensation) -> Compensation | None:
        """Return a stored one as it stands now; None: it is among the known, or is no more."""
        number = stored.number
        if number in self._known or any(one.holds(number) for one in self._dropped):
            return None
        status = self._marks.get(number)
        return stored if status is None else replace(stored, status=status)

    def _stored(self, wanted: Wanted) -> tuple[Compensation, ...]:
        if self._view.execution.version == 0:
            return ()
        found = self._view.compensations.get(wanted)
        if found is None:
            raise NeedsMore(Missing(compensations=(wanted,)))
        return found

    # -- what is decided -------------------------------------------------------------------------

    @property
    def registered(self) -> tuple[Compensation, ...]:
        """Those that are new or have changed."""
        return tuple(self._known.values())

    @property
    def marked(self) -> tuple[Mark, ...]:
        """Those that have come to another status."""
        return tuple(Mark(number, status) for number, status in self._marks.items())

    @property
    def dropped(self) -> tuple[Stretch, ...]:
        """Where nothing is left that was open before."""
        return tuple(self._dropped)


def _covers(loaded: Stretch, stretch: Stretch) -> bool:
    return (
        loaded.low <= stretch.low and stretch.high <= loaded.high and loaded.floor <= stretch.floor
    )
