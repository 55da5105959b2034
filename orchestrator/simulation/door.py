"""Doors, and those who call: they ask again until they are answered, by whichever door lives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from orchestrator.engine import Engine, Outcome, Start
from orchestrator.execution.events import Event, StopRequested
from orchestrator.execution.payload import Payload
from orchestrator.simulation.parts import Deployment, Parts
from orchestrator.simulation.sometimes import Sometimes
from orchestrator.simulation.world import Process, World
from orchestrator.store import Store, StoreUnavailable

ASK_AGAIN_SECONDS = 3.0


@dataclass(slots=True, eq=False)
class Call:
    """A wish to start an execution, and whether it was granted."""

    start: Start
    other_input: bool = False
    """It names an execution that has another input."""
    answered: bool = False


class Door:
    """One life of one door."""

    def __init__(self, process: Process, deployment: Deployment) -> None:
        self.process = process
        self._world = process.world
        self._parts = Parts.of(deployment, process)

    @property
    def store(self) -> Store:
        """What it reads from."""
        return self._parts.store

    @property
    def engine(self) -> Engine:
        """What it hands events to."""
        return self._parts.engine

    def begin(self) -> None:
        """Wait for those who ask."""

    def start(self, call: Call) -> None:
        """Start an execution, and answer."""
        name = call.start.name
        try:
            started = self._parts.engine.start(call.start)
        except StoreUnavailable:
            return
        world = self._world
        world.say(self.process.name, f"starts {name}: {started.created}")
        call.answered = True
        known = world.ledger.started.setdefault(name, started.id)
        if known != started.id:
            world.blame(f"{name} was started twice: {known} and {started.id}")
        if started.same_input == call.other_input:
            world.blame(f"{name}: another input was taken for the same, or the same for another")
        if call.other_input:
            world.count(Sometimes.OTHER_INPUT)
        elif not started.created:
            world.count(Sometimes.STARTED_AGAIN)

    def stop(self, execution: int, *, runs: bool) -> None:
        """Stop an execution; `runs`: a handler is at work for it."""
        self._world.ledger.asked_to_stop.add(execution)
        (outcome,) = self.tell([StopRequested(execution, "Stopped", "by hand")])
        if outcome is Outcome.COMMITTED:
            self._world.ledger.stopped.add(execution)
            if runs:
                self._world.count(Sometimes.STOP_HIT_TASK)
        elif outcome is Outcome.STALE:
            self._world.count(Sometimes.STOP_LATE)

    def abort(self, execution: int) -> None:
        """End an execution now, whatever it has still to undo."""
        self._world.ledger.asked_to_abort.add(execution)
        self.tell([StopRequested(execution, "Aborted", "by hand", abort=True)])

    def tell(self, events: Sequence[Event]) -> list[Outcome | None]:
        """Hand events over; None: nobody knows what became of them."""
        try:
            answers = self._parts.engine.handle_many(events)
        except StoreUnavailable:
            return [None] * len(events)
        for one in answers:
            self._world.say(self.process.name, f"{one.event} is {one.outcome} {one.reason}")
        return [one.outcome for one in answers]


@dataclass(slots=True)
class Doors:
    """Several of them, and who stands before them."""

    world: World
    doors: dict[Process, Door] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)

    def make(self, process: Process, deployment: Deployment) -> Door:
        """Make the program of a door that starts."""
        door = self.doors[process] = Door(process, deployment)
        return door

    def call(self, call: Call) -> None:
        """Call, and call again until there is an answer."""
        if call not in self.calls:
            self.calls.append(call)
        if not call.answered:
            door = self.any()
            if door is not None:
                door.process.later(0.0, partial(door.start, call))
            self.world.later(ASK_AGAIN_SECONDS, partial(self.call, call))

    def any(self) -> Door | None:
        """Return a door that lives."""
        living = [process for process in self.doors if process.alive]
        return self.doors[self.world.chance.one_of(living)] if living else None


def another_input(start: Start) -> Start:
    """Return a start of the same name with another input."""
    return Start(start.machine, start.revision, start.name, Payload.of({"other": True}))
