"""Time, the order of things, and the processes of one run.

A process is made of steps. While one waits for its database, others may go first: they are run
inside the wait, so that one thread and one stack are enough.
"""

from __future__ import annotations

import heapq
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Protocol

from orchestrator.simulation.chance import Chance
from orchestrator.simulation.ledger import Ledger
from orchestrator.simulation.sometimes import Sometimes
from orchestrator.store.moment import EPOCH

SECOND: Final = 1_000_000
BEGAN: Final = 1_800_000_000 * SECOND
"""The moment at which every run begins, in microseconds since 1970."""
TRUSTED: Final = 31 * SECOND
"""For so long a process may trust what it has read from a clock that has jumped back since."""
MOST_NESTED: Final = 3
"""How many processes wait for their database at the same time."""
MOST_CROWDED: Final = 8
"""Steps that are squeezed in before one transaction."""


class Killed(BaseException):
    """The process has died here: nothing of it goes on."""


@dataclass(frozen=True, slots=True)
class Rates:
    """How often things go wrong: per statement where nothing else is said."""

    overtaken: float = 0.0
    killed: float = 0.0
    cut: float = 0.0
    unknown: float = 0.0
    """Per commit: it stands or does not, and nobody hears which."""
    drained: float = 0.0
    """Per claim: its worker is told to end."""
    bell_lost: float = 0.0
    """Per bell."""
    bell_doubled: float = 0.0
    bell_seconds: float = 0.1
    """How late a bell may come."""
    troubles_seconds: float = 5.0
    """The pause between two troubles that are nobody's statement: a kill, a frozen process, …"""

    def calmed(self) -> Rates:
        """Return the rates of a world in which nothing goes wrong any more."""
        return replace(Rates(), overtaken=self.overtaken, bell_seconds=self.bell_seconds)


class Program(Protocol):
    """What a process does from its start on; all it knows is lost when the process dies."""

    def begin(self) -> None:
        """Begin: schedule the first steps."""
        ...


class Process:
    """One process, through all of its lives."""

    def __init__(self, world: World, name: str, program: Callable[[Process], Program]) -> None:
        self.world = world
        world.processes.append(self)
        self.name = name
        self.life = 0
        self.alive = False
        self.frozen_until = 0
        self.freezes = 0
        self.draws = 0
        """How many decisions it has drawn chance for."""
        self.unknown = False
        """Whether a commit of it was cut: set by the wire, taken back by who looks."""
        self.meets: list[Callable[[], None]] = []
        """What others do just before its next transaction begins."""
        self._program = program

    def start(self) -> None:
        """Start it, unless it lives."""
        if self.alive:
            return
        self.alive = True
        self.world.say(self.name, f"starts ({self.life})")
        self.later(0.0, self._program(self).begin)

    def die(self) -> None:
        """End it: it is started again after a while."""
        self.world.say(self.name, "is dead")
        self.life += 1
        self.alive = False
        self.frozen_until = 0
        self.world.later(self.world.chance.between(0.2, 12.0), self.start)

    def later(self, seconds: float, step: Callable[[], None]) -> None:
        """Take a step after a while, if it lives then."""
        self.world.schedule(seconds, self, step)

    def random_bytes(self, count: int) -> bytes:
        """Draw what its engine is in need of; ids are drawn from few, so that two may be alike."""
        if count < 16:  # noqa: PLR2004  # not a token
            return bytes([0] * (count - 1) + [self.world.chance.whole(0, 3) << 2])
        self.draws += 1
        return self.world.chance.random_bytes(count)


@dataclass(order=True, slots=True)
class _Job:
    at: int
    number: int
    process: Process | None = field(compare=False)
    life: int = field(compare=False)
    step: Callable[[], None] = field(compare=False)


class World:
    """One run."""

    def __init__(self, chance: Chance, rates: Rates, *, logging: bool) -> None:
        self.chance = chance
        self.rates = rates
        self.elapsed = 0
        """Microseconds since the run began, by the clock that never jumps."""
        self.jumped = 0
        """By how much the other clock has jumped."""
        self.back_at = -TRUSTED
        """When it has jumped back last."""
        self.counts: Counter[Sometimes] = Counter()
        self.ledger = Ledger()
        self.faults: list[str] = []
        """What must not have happened."""
        self.log: list[str] = []
        self.away_until = 0
        """Until then the database is away."""
        self.writing = False
        """Whether the process that runs holds the database's lock."""
        self.processes: list[Process] = []
        self.running: list[Process | None] = []
        """Who takes a step, behind those that wait for their database; None: the world itself."""
        self._latest = 0
        self._logging = logging
        self._jobs: list[_Job] = []
        self._numbers = 0

    # -- clocks ----------------------------------------------------------------------------------

    def microseconds(self) -> int:
        """Return the database's clock."""
        return BEGAN + self.elapsed + self.jumped

    def monotonic(self) -> float:
        """Return the seconds of the clock that never jumps."""
        return self.elapsed / SECOND

    def now(self) -> datetime:
        """Return the database's clock as a moment."""
        return EPOCH + timedelta(microseconds=self.microseconds())

    def latest(self) -> datetime:
        """Return the latest that the database's clock has ever shown."""
        return EPOCH + timedelta(microseconds=max(self._latest, self.microseconds()))

    # -- notes -----------------------------------------------------------------------------------

    def say(self, who: str, what: str) -> None:
        """Note what happens."""
        if self._logging:
            self.log.append(f"{self.elapsed / SECOND:11.6f} {who:<10} {what}")

    def count(self, what: Sometimes) -> None:
        """Count what happens sometimes."""
        self.counts[what] += 1
        self.say("", f"({what})")

    def blame(self, what: str) -> None:
        """Note what must not have happened: the run has failed."""
        self.say("FAULT", what)
        self.faults.append(what)

    # -- order -----------------------------------------------------------------------------------

    def schedule(self, seconds: float, process: Process | None, step: Callable[[], None]) -> None:
        """Have a step taken after a while: by a process in its present life, or by the world."""
        self._push(self.elapsed + int(seconds * SECOND), process, step)

    def later(self, seconds: float, step: Callable[[], None]) -> None:
        """Have the world do something after a while."""
        self.schedule(seconds, None, step)

    def _push(self, at: int, process: Process | None, step: Callable[[], None]) -> None:
        self._numbers += 1
        life = 0 if process is None else process.life
        heapq.heappush(self._jobs, _Job(at, self._numbers, process, life, step))

    def go_on(self, within: int | None = None) -> bool:
        """Take the next step, if there is one within so many microseconds; whether there was."""
        if not self._jobs or (within is not None and self._jobs[0].at > self.elapsed + within):
            return False
        job = heapq.heappop(self._jobs)
        self.elapsed = max(self.elapsed, job.at)
        process = job.process
        if process is None:
            self._run(None, job.step)
        elif job.life == process.life and process.alive:
            if process.frozen_until > self.elapsed:
                self._push(process.frozen_until, process, job.step)
            elif process in self.running:
                self._push(self.elapsed + SECOND // 100, process, job.step)
            else:
                self._run(process, job.step)
        return True

    def _run(self, process: Process | None, step: Callable[[], None]) -> None:
        life = 0 if process is None else process.life
        self.running.append(process)
        try:
            step()
        except Killed:
            if process is not None and process.life == life:
                process.die()
        except Exception:  # noqa: BLE001  # nothing may escape from a process: that is a finding
            self.blame(f"{'the world' if process is None else process.name}: {_traceback()}")
        finally:
            self.writing = False
            self.running.pop()

    @property
    def speaker(self) -> Process | None:
        """The process that speaks to the database now."""
        return self.running[-1] if self.running else None

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """Speak to the database as the world itself, while a process takes a step."""
        self.running.append(None)
        try:
            yield
        finally:
            self.running.pop()

    def let_meet(self, process: Process) -> None:
        """Let happen what is to happen just before a process begins to write."""
        life = process.life
        steps, process.meets = process.meets, []
        for step in steps:
            step()
        if process.life != life:
            raise Killed

    def crowd(self, seconds: float) -> None:
        """Take all steps of the next seconds at once, but no more than a few."""
        for _ in range(MOST_CROWDED):
            self.go_on(int(seconds * SECOND))

    def revive(self) -> None:
        """Start at once whoever is dead."""
        for process in self.processes:
            process.start()
        self.crowd(0.0)

    def step_in(self, process: Process, step: Callable[[], None]) -> None:
        """Have a process take a step now, if it can."""
        if process.alive and process not in self.running and process.frozen_until <= self.elapsed:
            self._run(process, step)

    def let_others_go_first(self, process: Process) -> None:
        """Let others take some steps while a process waits; it may be dead then."""
        life = process.life
        if len(self.running) <= MOST_NESTED and self.chance.happens(self.rates.overtaken):
            within = int(self.chance.one_of((0.0, 0.05, 0.5, 3.0)) * SECOND)
            gone = 0
            for _ in range(self.chance.whole(1, 6)):
                gone += self.go_on(within)
            if gone:
                self.count(Sometimes.OTHERS_WENT_FIRST)
        if process.life != life:
            raise Killed

    def jump(self, seconds: int) -> None:
        """Let the database's clock jump."""
        self._latest = max(self._latest, self.microseconds())
        self.jumped += seconds * SECOND
        if seconds < 0:
            self.back_at = self.elapsed
        self.count(Sometimes.CLOCK_FORWARD if seconds > 0 else Sometimes.CLOCK_BACK)

    @property
    def steady(self) -> bool:
        """Whether no process can be misled by a clock that has jumped back."""
        return self.elapsed > self.back_at + TRUSTED

    # -- what processes ask for ------------------------------------------------------------------

    def wait_until(self, at: datetime) -> float:
        """Return the seconds from now to a moment of the database's clock."""
        return max(0.0, (at - self.now()).total_seconds())

    def freeze(self, process: Process, seconds: float) -> None:
        """Freeze a process: its steps are taken when it is woken."""
        if process.alive:
            process.frozen_until = self.elapsed + int(seconds * SECOND)
            process.freezes += 1
            self.count(Sometimes.FROZEN)
            self.say(process.name, f"is frozen for {seconds:.3f} s")

    def kill(self, process: Process) -> None:
        """Kill a process, whatever it does."""
        if process.alive:
            process.die()


def _traceback() -> str:
    """Return what was raised and where, without what differs from run to run."""
    error = sys.exc_info()[1]
    places = traceback.extract_tb(error.__traceback__) if error is not None else []
    return f"{error!r} at " + " < ".join(f"{p.name}:{p.lineno}" for p in reversed(places[-6:]))
