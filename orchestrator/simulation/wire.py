"""The wire between the processes of a run and their database."""

from __future__ import annotations

from orchestrator.simulation.sometimes import Sometimes
from orchestrator.simulation.world import Killed, Process, World
from orchestrator.store.simulated import WireCut


class FaultyWire:
    """Lets others go first, cuts the connection, and kills processes, as the seed has it."""

    def __init__(self) -> None:
        self.world: World | None = None
        self._faulty = False
        """Whether the transaction under way has met a fault of ours."""

    def _within(self) -> tuple[World, Process] | None:
        """Return the world and the process that speaks; checks are not disturbed."""
        world = self.world
        process = None if world is None else world.speaker
        return None if world is None or process is None else (world, process)

    def reading(self) -> None:
        """Let a statement outside of transactions come late or fail."""
        within = self._within()
        if within is not None and not within[0].writing:
            world, process = within
            world.let_others_go_first(process)
            _fail(world)

    def beginning(self) -> None:
        """Let a transaction come late or fail."""
        within = self._within()
        if within is not None:
            world, process = within
            world.let_meet(process)
            world.let_others_go_first(process)
            _kill(world, Sometimes.KILLED_BEFORE_COMMIT)
            _fail(world)

    def begun(self) -> None:
        """From now on nobody else writes."""
        within = self._within()
        if within is not None:
            within[0].writing = True
            self._faulty = False

    def committing(self) -> None:
        """Let a transaction be lost at its last step."""
        within = self._within()
        if within is not None:
            self._faulty = True
            _kill(within[0], Sometimes.KILLED_BEFORE_COMMIT)
            _cut_commit(*within, Sometimes.COMMIT_UNKNOWN_LOST)
            self._faulty = False

    def committed(self) -> None:
        """Let a transaction stand whose process never hears of it."""
        within = self._within()
        if within is not None:
            world, process = within
            world.writing = False
            _kill(world, Sometimes.KILLED_AFTER_COMMIT)
            _cut_commit(world, process, Sometimes.COMMIT_UNKNOWN_STOOD)
            world.let_others_go_first(process)

    def rolled_back(self) -> None:
        """Note that a transaction has met other rows than it was decided on."""
        within = self._within()
        if within is not None:
            world, process = within
            world.writing = False
            if not self._faulty and not process.name.startswith("door"):
                world.count(Sometimes.CLAIMED_IN_BETWEEN)


def _fail(world: World) -> None:
    if world.elapsed < world.away_until:
        world.count(Sometimes.DATABASE_AWAY)
        raise WireCut("the database is away")
    if world.chance.happens(world.rates.cut):
        raise WireCut("the wire is cut")


def _kill(world: World, at: Sometimes) -> None:
    if world.chance.happens(world.rates.killed):
        world.writing = False
        world.count(at)
        raise Killed


def _cut_commit(world: World, process: Process, at: Sometimes) -> None:
    workers = 2 if process.name.startswith("worker") else 1  # they have most to lose
    if world.chance.happens(workers * world.rates.unknown):
        world.writing = False
        process.unknown = True
        world.count(at)
        raise WireCut("the wire is cut during COMMIT")
