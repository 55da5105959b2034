"""The broker of a run: bells are lost, doubled, late and out of order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, Protocol

from orchestrator.simulation.sometimes import Sometimes
from orchestrator.simulation.world import Killed, Process, World

MOST_AT_ONCE: Final = 20


class Hearer(Protocol):
    """A worker that hears bells."""

    def hear(self, queue: str) -> None:
        """Look for a task in a queue."""
        ...


class Broker:
    """Takes bells to whichever worker is there."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._hearers: dict[Process, Hearer] = {}
        self._rung = 0
        self._heard = 0

    def listen(self, process: Process, hearer: Hearer) -> None:
        """Take bells to a worker, from its start to its death."""
        self._hearers[process] = hearer

    def take(self, queue: str) -> None:
        """Take one bell, and do with it what the seed wants."""
        chance, rates = self._world.chance, self._world.rates
        self._rung += 1
        copies = 1
        if chance.happens(rates.bell_lost):
            self._world.count(Sometimes.BELL_LOST)
            copies = 0
        elif chance.happens(rates.bell_doubled):
            self._world.count(Sometimes.BELL_DOUBLED)
            copies = 2
        for _ in range(copies):
            seconds = chance.between(0.0, rates.bell_seconds)
            self._world.later(seconds, partial(self._deliver, queue, self._rung))

    def deliver_now(self, queue: str) -> None:
        """Take one more bell to every worker: late ones that come at just this moment."""
        for process, hearer in list(self._hearers.items()):
            self._world.step_in(process, partial(hearer.hear, queue))

    def _deliver(self, queue: str, number: int) -> None:
        if number < self._heard:
            self._world.count(Sometimes.BELL_OVERTAKEN)
        self._heard = max(self._heard, number)
        there = [process for process in self._hearers if process.alive]
        if there:
            process = self._world.chance.one_of(there)
            process.later(0.0, partial(self._hearers[process].hear, queue))


class ProcessBell:
    """The bell of one process."""

    def __init__(self, process: Process, broker: Broker) -> None:
        self._process = process
        self._broker = broker

    def ring(self, queues: Mapping[str, int]) -> None:
        """Ring, unless it is the moment to die."""
        world = self._process.world
        if world.chance.happens(world.rates.killed):
            world.count(Sometimes.KILLED_BEFORE_BELLS)
            raise Killed
        for queue, tasks in queues.items():
            for _ in range(min(tasks, MOST_AT_ONCE)):
                self._broker.take(queue)
