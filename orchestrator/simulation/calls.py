"""Those who call executions: each asks under one id until the verdict is given, at any door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from orchestrator.asl import document
from orchestrator.engine import Arrival, Outcome
from orchestrator.execution.call import Call, Verdict, digest
from orchestrator.execution.events import CallArrived, EffectRetried
from orchestrator.execution.frame import FrameStatus
from orchestrator.execution.payload import Payload
from orchestrator.simulation.awaits import CALLS, LARGE
from orchestrator.simulation.chance import Chance
from orchestrator.simulation.door import ASK_AGAIN_SECONDS, Door, Doors
from orchestrator.simulation.sometimes import Sometimes
from orchestrator.simulation.world import World
from orchestrator.store import Store, StoreUnavailable

LATEST_SECONDS: Final = 15.0
"""Until when people come to call, from the beginning on."""


@dataclass(slots=True, eq=False)
class Wish:
    """A call that somebody wants to make, and whether its verdict was heard."""

    execution: int
    id: str
    name: str
    input: Payload
    at: str | None
    other: bool = False
    """Its id is that of another call: it must be refused for that."""
    heard: bool = False
    waited: bool = False

    @property
    def digest(self) -> str:
        """What tells it from other calls."""
        return digest(self.name, self.input, self.at)


@dataclass(slots=True)
class Callers:
    """Calls of one run, and what was said to each id."""

    world: World
    store: Store
    """The observer's."""
    doors: Doors
    wishes: list[Wish] = field(default_factory=list)
    _said: dict[tuple[int, str], str] = field(default_factory=dict)

    @property
    def satisfied(self) -> bool:
        """Whether every call has its verdict."""
        return all(wish.heard for wish in self.wishes)

    def plan(self, name: str) -> None:
        """Have people call an execution now and then, once it is there."""
        chance = self.world.chance
        for number in range(chance.whole(3, 9)):
            at = chance.between(0.0, LATEST_SECONDS)
            self.world.later(at, partial(self._begin, name, f"{name}/{number}"))
        for _ in range(2):
            self.world.later(chance.between(5.0, 40.0), partial(self._run_again, name))

    def _begin(self, name: str, call_id: str) -> None:
        execution = self.world.ledger.started.get(name)
        if execution is None:
            return
        chance = self.world.chance
        wish = Wish(
            execution, call_id, chance.one_of(CALLS), _input(chance), self._place(execution)
        )
        self.ask(wish)
        if chance.happens(0.3):
            self.world.later(chance.between(0.0, 9.0), partial(self.ask, wish))
        if chance.happens(0.2):
            other = replace(wish, input=Payload.of({"n": LARGE, "other": True}), other=True)
            self.world.later(chance.between(0.0, 9.0), partial(self.ask, other))

    def _place(self, execution: int) -> str | None:
        """Draw the frame of an iteration or branch, or none."""
        chance = self.world.chance
        if chance.happens(0.6):
            return None
        inner = [frame.id for frame in self.store.frames(execution) if frame.id]
        return chance.one_of(inner) if inner else None

    def ask(self, wish: Wish) -> None:
        """Ask for a verdict, and ask again until there is one."""
        if wish not in self.wishes:
            self.wishes.append(wish)
        door = self.doors.any()
        if door is not None:
            door.process.later(0.0, partial(self._call, door, wish))
        if not wish.heard:
            self.world.later(ASK_AGAIN_SECONDS, partial(self._ask_again, wish))

    def _ask_again(self, wish: Wish) -> None:
        if not wish.heard:
            self.ask(wish)

    def _call(self, door: Door, wish: Wish) -> None:
        """Do at a door what every door does with a call."""
        try:
            known = door.store.call(wish.execution, wish.id)
            if known is not None and not wish.other:
                self.world.count(Sometimes.CALL_REPEATED)
            if known is None:
                known = self._arrive(door, wish)
        except StoreUnavailable:
            return
        if known is not None:
            self._hear(wish, known)

    def _arrive(self, door: Door, wish: Wish) -> Call | None:
        call = Call(wish.id, wish.name, wish.input, wish.digest, door.store.now(), wish.at)
        handled = door.engine.hand_in(Arrival(CallArrived(wish.execution, call)))
        self.world.say(door.process.name, f"{wish.id} is {handled.outcome} {handled.reason}")
        if handled.outcome is not Outcome.COMMITTED and handled.call is None:
            if not handled.reason.startswith(_EXCUSES):
                self.world.blame(f"{door.process.name}: {wish.id} {handled.reason}")
            return None
        return handled.call

    def _hear(self, wish: Wish, known: Call) -> None:
        world = self.world
        if known.digest != wish.digest:
            world.count(Sometimes.CALL_ID_TAKEN)
            wish.heard = True
            return
        if known.verdict is Verdict.PENDING:
            if not wish.waited:
                world.count(Sometimes.CALL_KEPT)
            wish.waited = True
            return
        said = self._said.setdefault((wish.execution, wish.id), known.said)
        if said != known.said:
            world.blame(f"{wish.id} was answered {said}, and then {known.said}")
        if wish.waited and not wish.heard:
            world.count(Sometimes.CALL_DECIDED_LATER)
        wish.heard = True

    def _run_again(self, name: str) -> None:
        """Do what an operator does with an effect that has failed for good."""
        execution, door = self.world.ledger.started.get(name), self.doors.any()
        if execution is None or door is None:
            return
        for effect in self.store.effects(execution):
            if effect.status is FrameStatus.FAILED:
                event = EffectRetried(execution, effect.id)
                door.process.later(0.0, partial(self._retry, door, event))

    def _retry(self, door: Door, event: EffectRetried) -> None:
        if door.tell([event]) == [Outcome.COMMITTED]:
            self.world.count(Sometimes.EFFECT_RUN_AGAIN)
            self.world.ledger.run_again.add((event.execution, event.frame))

    def faults(self, name: str, calls: Mapping[str, Call]) -> list[str]:
        """Return what was said that is not on record."""
        return [
            f"{name}: {call_id} was answered {said}, and the record says otherwise"
            for (execution, call_id), said in self._said.items()
            if execution == self.world.ledger.started[name]
            and (call_id not in calls or calls[call_id].said != said)
        ]


_EXCUSES: Final = ("StoreUnavailable", "something else")


def _input(chance: Chance) -> Payload:
    return Payload.of({"n": chance.whole(0, 5)})


def words(call: Call) -> dict[str, document.Json]:
    """Return what a call was answered."""
    said = document.read(call.said)
    return said if isinstance(said, dict) else {}
