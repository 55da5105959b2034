"""What every process of a run has to work with: the real store and the real engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from orchestrator.asl.definition import Parsed
from orchestrator.asl.limits import Limits
from orchestrator.engine import Engine, Surroundings
from orchestrator.simulation.bells import Broker, ProcessBell
from orchestrator.simulation.lives import Lives
from orchestrator.simulation.world import Process, World
from orchestrator.store import Lifeline, Report, Store, StoreUnavailable, WorkerKind
from orchestrator.store.simulated import SimulatedDatabase

LEASE_SECONDS: Final = 10.0
BEAT_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Deployment:
    """What the processes of a run share: the outside of them."""

    world: World
    database: SimulatedDatabase
    broker: Broker
    observer: Store
    """Sees everything, and is not disturbed."""
    limits: Limits
    parse: Callable[[str, Limits], Parsed]
    lives: Lives
    beating: bool
    """Whether processes say that they live, and the dead are buried."""
    wake: Callable[[datetime], None]
    """Tells whoever schedules that a moment was set."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A process's own."""

    process: Process
    name: str
    """Of this life of the process."""
    lifeline: Lifeline
    store: Store
    engine: Engine
    bell: ProcessBell

    @classmethod
    def of(cls, deployment: Deployment, process: Process) -> Parts:
        """Make them anew, as a process does that starts."""
        world = deployment.world
        store = deployment.database.store(deployment.limits, LEASE_SECONDS, deployment.lives)
        bell = ProcessBell(process, deployment.broker)
        surroundings = Surroundings(
            random_bytes=process.random_bytes,
            milliseconds=lambda: world.microseconds() // 1_000,
            monotonic=world.monotonic,
            parse=deployment.parse,
        )
        engine = Engine(
            store,
            bell,
            limits=deployment.limits,
            wake=deployment.wake,
            surroundings=surroundings,
        )
        name = f"{process.name}.{process.life}"
        deployment.lives.born(name, process)
        return cls(process, name, store.lifeline(name), store, engine, bell)

    def beat(self, kind: WorkerKind, failed: Callable[[], None]) -> None:
        """Say again and again that the process lives."""
        try:
            self.lifeline.beat(Report(kind))
        except StoreUnavailable:
            failed()
        self.process.later(BEAT_SECONDS, partial(self.beat, kind, failed))
