"""Runs seeds: each is a deployment, a few executions, and everything that may go wrong."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from orchestrator.asl import definition
from orchestrator.asl.machine import Machine
from orchestrator.engine import Start
from orchestrator.execution.frame import Frame, FrameStatus
from orchestrator.execution.payload import Payload
from orchestrator.simulation.bells import Broker
from orchestrator.simulation.calls import Callers
from orchestrator.simulation.case import Case
from orchestrator.simulation.chance import Chance
from orchestrator.simulation.door import Call, Doors, another_input
from orchestrator.simulation.judgement import Judge
from orchestrator.simulation.lives import Lives
from orchestrator.simulation.machines import draw_case, draw_limits
from orchestrator.simulation.parts import LEASE_SECONDS, Deployment
from orchestrator.simulation.report import Report, Summary
from orchestrator.simulation.sagas import Operator
from orchestrator.simulation.ticks import Schedulers
from orchestrator.simulation.troubles import Troubles
from orchestrator.simulation.wire import FaultyWire
from orchestrator.simulation.worker import Worker
from orchestrator.simulation.world import SECOND, Process, Rates, World
from orchestrator.store.simulated import SimulatedDatabase

MEMORY: Final = Path("/dev/shm")  # noqa: S108  # a folder in memory, where there is one
LONGEST_SECONDS: Final = 6_000
"""How long an execution may go on once nothing goes wrong any more."""
LOOKED_AFTER: Final = 8
"""Steps between two looks whether all has ended."""
CALLED_EVERY: Final = 3
"""The machines of every third seed wait to be called; the others are drawn as if there were none.
"""
UNDOING_EVERY: Final = 7
"""The machines of every seventh seed are sagas, whoever else would have drawn them."""


class Simulation:
    """So many seeds, one after the other: iterate over it to run them."""

    def __init__(self, first: int, seeds: int = 1, *, logging: bool = False) -> None:
        self.summary = Summary()
        """What became of those that have run."""
        self._seeds = range(first, first + seeds)
        self._logging = logging

    def __iter__(self) -> Iterator[Report]:
        with _bench() as bench:
            for seed in self._seeds:
                report = bench.run(seed, logging=self._logging)
                self.summary.add(report)
                yield report


@contextmanager
def _bench() -> Iterator[_Bench]:
    folder = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="orchestrator-", dir=folder) as made:
        bench = _Bench(Path(made) / "simulated.db")
        try:
            yield bench
        finally:
            bench.close()


class _Bench:
    """The database and its wire, which the seeds use one after the other."""

    def __init__(self, path: Path) -> None:
        self._wire = FaultyWire()
        self._world = World(Chance(0), Rates(), logging=False)
        self._database = SimulatedDatabase(
            path,
            self._wire,
            lambda: self._world.microseconds(),  # noqa: PLW0108  # of the world of the moment
            lambda: self._world.monotonic(),  # noqa: PLW0108
        )

    def close(self) -> None:
        """Close the connections."""
        self._database.close()

    def run(self, seed: int, *, logging: bool) -> Report:
        """Run one seed."""
        chance = Chance(seed)
        world = self._world = World(chance, _rates(chance), logging=logging)
        self._wire.world = world
        self._database.empty()
        limits = draw_limits(chance)
        schedulers = Schedulers(world)
        observer = self._database.store(limits, LEASE_SECONDS)
        deployment = Deployment(
            world=world,
            database=self._database,
            broker=Broker(world),
            observer=observer,
            limits=limits,
            lives=Lives(),
            beating=chance.happens(0.2),
            parse=lru_cache(maxsize=None)(definition.parse),
            wake=schedulers.wake,
        )
        run = _Run(world, deployment, schedulers, **_kind(seed))
        run.go()
        return Report(seed, tuple(world.faults), world.counts, tuple(world.log))


def _kind(seed: int) -> dict[str, bool]:
    """What a seed is about, apart from everything."""
    undoing = seed % UNDOING_EVERY == 2  # noqa: PLR2004  # none of the seeds that are kept
    return {"called": seed % CALLED_EVERY == 1 and not undoing, "undoing": undoing}


def _rates(chance: Chance) -> Rates:
    """Draw how bad a world it is."""
    return Rates(
        overtaken=chance.one_of((0.0, 0.1, 0.3, 0.6)),
        killed=chance.one_of((0.0, 0.005, 0.02, 0.05)),
        cut=chance.one_of((0.0, 0.01, 0.05)),
        unknown=chance.one_of((0.0, 0.1, 0.2)),
        drained=chance.one_of((0.0, 0.1)),
        bell_lost=chance.one_of((0.0, 0.1, 0.5, 1.0)),
        bell_doubled=chance.one_of((0.0, 0.3)),
        bell_seconds=chance.one_of((0.01, 0.5, 3.0)),
        troubles_seconds=chance.one_of((2.0, 5.0, 15.0)),
    )


class _Run:
    """One seed's deployment, from its start until everything has ended."""

    def __init__(
        self,
        world: World,
        deployment: Deployment,
        schedulers: Schedulers,
        *,
        called: bool,
        undoing: bool,
    ) -> None:
        self._world = world
        self._called = called
        self._observer = deployment.observer
        self._parse = deployment.parse
        self._doors = Doors(world)
        self._callers = Callers(world, deployment.observer, self._doors)
        self._workers: dict[Process, Worker] = {}
        self._cases: dict[str, Case] = {}
        self._machines: dict[str, Machine] = {}
        self._calls: list[Call] = []
        self._operator = Operator(world, deployment.observer, self._doors, aborts=undoing)
        self._ended: set[int] = set()
        """Executions without frames: they have ended, once and for all."""
        self._workers_to_be = [self._worker(n, deployment) for n in range(world.chance.whole(1, 3))]
        self._processes = [
            *self._workers_to_be,
            *(
                Process(world, f"ticks {n}", partial(schedulers.make, deployment=deployment))
                for n in range(2)
            ),
            *(
                Process(world, f"door {n}", partial(self._doors.make, deployment=deployment))
                for n in range(2)
            ),
        ]
        self._troubles = Troubles(
            world=world,
            store=deployment.observer,
            processes=self._processes,
            workers=self._workers,
            doors=self._doors,
            ended=self._ended,
            stops=world.chance.happens(0.4),
            aborts=undoing,
        )
        for n in range(world.chance.whole(1, 4)):
            case = draw_case(world.chance, deployment.limits, called=called, undoing=undoing)
            self._plan(f"m{n}", case)

    def _worker(self, number: int, deployment: Deployment) -> Process:
        def make(process: Process) -> Worker:
            worker = self._workers[process] = Worker(process, deployment, self._cases)
            return worker

        return Process(self._world, f"worker {number}", make)

    def _plan(self, name: str, case: Case) -> None:
        parsed = self._parse(case.text, case.limits)
        if parsed.machine is None:
            self._world.blame(f"no machine: {parsed.findings[0]}: {case.text}")
            return
        revision = self._observer.machines.put(name, case.text)
        self._cases[name] = case
        self._machines[name] = parsed.machine
        self._world.say("machine", f"{name}: {case.text}")
        start = Start(name, revision.id, f"{name}-1", Payload.of(case.input))
        self._calls.append(Call(start))
        chance = self._world.chance
        self._world.later(
            chance.one_of((0.0, 0.0, 2.0)), partial(self._doors.call, self._calls[-1])
        )
        if chance.happens(0.3):
            self._world.later(chance.between(0.0, 9.0), partial(self._doors.call, Call(start)))
        if chance.happens(0.2):
            self._world.later(chance.between(9.0, 12.0), partial(self._contest, start))
        if self._called:
            self._callers.plan(start.name)

    def _contest(self, start: Start) -> None:
        """Ask for a name that is known to be taken, with another input."""
        if start.name in self._world.ledger.started:
            self._doors.call(Call(another_input(start), other_input=True))

    # -- from the start to the end ---------------------------------------------------------------

    def go(self) -> None:
        """Run until everything has ended, and judge it."""
        world = self._world
        late = world.chance.happens(0.35)
        for process in self._processes:
            seconds = world.chance.one_of((0.0, 0.0, 1.0, 4.0))
            if late and process in self._workers_to_be:
                seconds = world.chance.between(3.0, 10.0)
            world.later(seconds, process.start)
        world.later(0.5, self._troubles.begin)
        calm_at = int(world.chance.between(6.0, 30.0) * SECOND)
        steps = 0
        while not world.faults and world.go_on():
            steps += 1
            if not self._troubles.over and world.elapsed >= calm_at:
                self._calm()
            if self._troubles.over and steps % LOOKED_AFTER == 0:
                if self._all_ended():
                    break
                self._operator.look()
            if world.elapsed > calm_at + LONGEST_SECONDS * SECOND:
                world.blame(f"it never ends: {self._open()}")
        if not world.faults:
            Judge(
                world,
                self._observer,
                self._cases,
                self._machines,
                self._callers,
                called=self._called,
            ).judge()

    def _calm(self) -> None:
        world = self._world
        world.say("", "nothing goes wrong from now on")
        world.rates = world.rates.calmed()
        world.away_until = 0
        self._troubles.over = True

    def _all_ended(self) -> bool:
        answered = all(call.answered for call in self._doors.calls)
        return answered and self._callers.satisfied and not self._open()

    def _open(self) -> list[str]:
        started = self._world.ledger.started
        if not all(call.answered for call in self._calls):
            return ["not all are started"]
        open_now = []
        for name, number in started.items():
            over = number in self._ended and not self._called
            frames = [] if over else self._frames(number)
            if frames:
                open_now.append(f"{name}: {frames}")
            else:
                self._ended.add(number)
        return open_now

    def _frames(self, number: int) -> list[Frame]:
        """Return what is still to be done in an execution, or what follows it."""
        frames = self._observer.frames(number)
        if not self._called:
            return frames
        going_on = (FrameStatus.PENDING, FrameStatus.RESTING)
        return frames + [one for one in self._observer.effects(number) if one.status in going_on]
