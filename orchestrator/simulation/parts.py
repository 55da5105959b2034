"""What every process of a run has to work with: the real store and the real engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.asl.limits import Limits
from orchestrator.engine import Engine, Surroundings
from orchestrator.simulation.bells import Broker, ProcessBell
from orchestrator.simulation.world import Process, World
from orchestrator.store import Store
from orchestrator.store.simulated import SimulatedDatabase

LEASE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Deployment:
    """What the processes of a run share: the outside of them."""

    world: World
    database: SimulatedDatabase
    broker: Broker
    limits: Limits
    wake: Callable[[datetime], None]
    """Tells whoever schedules that a moment was set."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A process's own."""

    process: Process
    store: Store
    engine: Engine
    bell: ProcessBell

    @classmethod
    def of(cls, deployment: Deployment, process: Process) -> Parts:
        """Make them anew, as a process does that starts."""
        world = deployment.world
        store = deployment.database.store(deployment.limits, LEASE_SECONDS)
        bell = ProcessBell(process, deployment.broker)
        surroundings = Surroundings(
            random_bytes=process.random_bytes,
            milliseconds=lambda: world.microseconds() // 1_000,
            monotonic=world.monotonic,
        )
        engine = Engine(
            store,
            bell,
            limits=deployment.limits,
            wake=deployment.wake,
            surroundings=surroundings,
        )
        return cls(process, store, engine, bell)
