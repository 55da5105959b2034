"""The calls and the effects of one transition: what was asked, what follows, in which turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from orchestrator.execution.call import Call
from orchestrator.execution.commands import Command, RingBell
from orchestrator.execution.decision import FrameUpdate, Missing, Seen, View
from orchestrator.execution.frame import Frame, FrameStatus, RestsOn, is_effect, is_undo
from orchestrator.execution.needs import NeedsMore


@dataclass(frozen=True, slots=True)
class Accepted:
    """A call that was accepted, and the frame that it has moved from a state."""

    call: Call
    frame: str
    origin: str | None


class Book:
    """What one transition does to calls and effects, collected while it is made."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.call: Call | None = None
        """The call that the context object shows."""
        self.arrived: Call | None = None
        """The call that this transition is about, accepted."""
        self.unended = view.execution.effects
        """How many effects have not ended."""
        self.accepted: list[Accepted] = []
        self.refused: list[Call] = []
        """Kept calls that are refused now."""
        self._effects: dict[str, Frame] = {}
        self._turns: dict[str, int] = {}

    # -- effects ---------------------------------------------------------------------------------

    def turn(self, frame_id: str, number: int) -> int:
        """Return the present turn of a frame, which the event of that number may begin."""
        return self._turns.setdefault(frame_id, number)

    def next_turn(self, frame_id: str) -> None:
        """Let what follows wait for what was started for a frame until now."""
        self._turns.pop(frame_id, None)

    def put_effect(self, frame: Frame) -> None:
        """Take an effect's frame as it stands now."""
        self._effects[frame.id] = frame

    def effects_of(self, frame_id: str) -> list[Frame]:
        """Return the effects of a frame as they stand now; asks for those that are not in hand."""
        if self._view.execution.effects and frame_id not in self._view.effects:
            raise NeedsMore(Missing(effects=(frame_id,)))
        prefix = f"{frame_id}!"
        found = {
            number: frame
            for number, frame in (*self._view.frames.items(), *self._effects.items())
            if number.startswith(prefix)
        }
        return list(found.values())

    def inserted(self) -> tuple[Frame, ...]:
        """Return the effects that are new."""
        return tuple(
            frame for number, frame in self._effects.items() if number not in self._view.frames
        )

    def updated(self) -> tuple[FrameUpdate, ...]:
        """Return the effects that stand otherwise than before."""
        known = self._view.frames
        return tuple(
            FrameUpdate(frame, Seen.of(known[number]))
            for number, frame in self._effects.items()
            if number in known
        )

    def commands(self) -> list[Command]:
        """Return what the world must hear of effects."""
        ready = (one for one in self._effects.values() if one.rests_on is RestsOn.TASK)
        return [RingBell(one.task.resource) for one in ready if one.task is not None]

    def moments(self) -> list[datetime]:
        """Return when effects must be looked at."""
        return [one.wake_at for one in self._effects.values() if one.wake_at is not None]

    # -- calls -----------------------------------------------------------------------------------

    def kept(self) -> list[Call]:
        """Return the calls that still wait for a verdict, in their order; asks for them."""
        view = self._view
        if not view.execution.kept:
            return []
        if view.calls is None:
            raise NeedsMore(Missing(calls=True))
        return [call for call in view.calls if not self._is_decided(call)]

    def undecided(self) -> list[Call]:
        """Return the same, and behind them the call that has arrived if nothing came of it."""
        arrived = self.arrived
        late = [] if arrived is None or self._is_decided(arrived) else [arrived]
        return [*self.kept(), *late]

    def _is_decided(self, call: Call) -> bool:
        return call.id in {one.call.id for one in self.accepted} | {one.id for one in self.refused}

    def waits_below(self, prefix: str) -> bool:
        """Tell whether some frame under a prefix rests on a call; asks for it."""
        known = self._view.waiting
        if prefix not in known:
            raise NeedsMore(Missing(waiting=(prefix,)))
        return known[prefix]

    def verdicts(
        self, accepted: Iterable[Call], version: int
    ) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
        """Return the calls that are new on record, and those of the kept ones that are decided."""
        number = None if self.arrived is None else self.arrived.id
        given = [*accepted, *self.refused]
        new = tuple(replace(call, number=version) for call in given if call.id == number)
        return new, tuple(call for call in given if call.id != number)


def is_open(frame: Frame) -> bool:
    """Tell whether a frame is part of the tree and has begun and not ended."""
    return frame.status is FrameStatus.RESTING and not (is_effect(frame.id) or is_undo(frame.id))
