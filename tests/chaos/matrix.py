"""The kill matrix: orders under SIGKILLs of every process and at every named place.

`python -m tests.chaos.matrix` runs the proof, `--short` what `make test` runs. At the end nothing
is lost, nothing is doubled, and no history has a gap.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator import crashpoint
from orchestrator.store import migrate
from tests.acceptance.cluster import Cluster, Member, cluster, until
from tests.acceptance.kills import CHILD, MAIN, SCHEDULER, Storm, repeated
from tests.chaos.fulfilment import DEFINITION, MACHINE, Order, check, orders
from tests.servers import PostgresServer, RedisServer, create_database

CRASH = "at "
ENDED_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is to be survived."""

    orders: int
    children: int
    mains: int
    schedulers: int
    flushes: int
    holding: int
    """How many kills must hit a process that holds a claim or an open transaction."""

    def targets(self, draw: random.Random) -> list[str]:
        """The kills, in a drawn order; every named place once."""
        made = [CHILD] * self.children + [MAIN] * self.mains + [SCHEDULER] * self.schedulers
        made += [f"{CRASH}{point}" for point in crashpoint.POINTS]
        draw.shuffle(made)
        return made


PROOF = Plan(orders=100, children=15, mains=10, schedulers=10, flushes=5, holding=25)
SHORT = Plan(orders=40, children=4, mains=2, schedulers=1, flushes=1, holding=6)


@dataclass
class Matrix:
    """A storm that also knows the named places."""

    made: Cluster
    redis: RedisServer
    draw: random.Random
    storm: Storm = field(init=False)
    places: Counter[str] = field(default_factory=Counter)
    ended_at_last_kill: int = 0

    def __post_init__(self) -> None:
        self.storm = Storm(self.made, self.redis, self.draw)

    @property
    def holding(self) -> int:
        """Kills that hit a claim or an open transaction: places within a commit hold one."""
        return self.storm.holding + sum(
            self.places[one] for one in ("claimed", "handled", "committing")
        )

    def rage(self, plan: Plan, placed: Sequence[Order]) -> None:
        """Kill one after the other; each finds orders under way, so the last before most ended."""
        targets = plan.targets(self.draw)
        flush_at = set(self.draw.sample(range(len(targets)), plan.flushes))
        first = len(placed) // 10
        self.start(placed[: 2 * first])
        self.await_ends(first)
        for number, target in enumerate(targets):
            rest = placed[2 * first :]
            share = rest[
                number * len(rest) // len(targets) : (number + 1) * len(rest) // len(targets)
            ]
            if number in flush_at:
                self.redis.flush()
                self.storm.flushed += 1
            if target.startswith(CRASH):
                self.crash(target.removeprefix(CRASH), share)
            else:
                self.start(share)
                self.storm.kill(target)
            self.made.ensure()
        self.ended_at_last_kill = self.ends()

    def start(self, placed: Sequence[Order]) -> None:
        """Start orders."""
        for order in placed:
            self.made.service.start_execution(MACHINE, order.name, json.dumps(order.input))

    def ends(self) -> int:
        """How many orders have ended."""
        return sum(run.ended_at is not None for run in self.made.executions(MACHINE))

    def await_ends(self, count: int) -> None:
        """Wait until so many orders have ended."""

        def reached() -> bool:
            self.made.ensure()
            return self.ends() >= count

        until(reached, ENDED_SECONDS, f"{count} orders to end", pause=0.1)

    def crash(self, point: str, share: Sequence[Order]) -> None:
        """Start processes anew of which the first at a named place dies, and give them work."""
        kind = "scheduler" if point == "due" else "celery"
        members = [one for one in self.made.members if kind in one.command]
        usual = members[0].environment
        for member in members:
            member.kill()
            member.environment = {**usual, "ORCHESTRATOR_CRASH_AT": f"{point}@2"}
            member.ensure()
        self.start(share)
        until(lambda: any(_died(one) for one in members), 60, f"a process to die at {point}")
        self.places[point] += 1
        for member in members:
            member.kill()
            member.environment = usual


def _died(member: Member) -> bool:
    """Whether the process, or a child of its pool, has ended by SIGKILL in this life."""
    return not member.runs or "signal 9" in member.log[member.log.rfind(" ready.") :]


def survive(made: Cluster, redis: RedisServer, plan: Plan, seed: int) -> tuple[Matrix, list[Order]]:
    """Run the orders through the plan, and check what came of them."""
    matrix = Matrix(made, redis, random.Random(seed))
    placed = orders(plan.orders, seed, busy_seconds=0.2)
    made.service.deploy(MACHINE, DEFINITION.read_text())
    for name in ("w1", "w2"):
        made.worker(name)
    for name in ("s1", "s2"):
        made.scheduler(name)
    made.ready()
    matrix.rage(plan, placed)
    made.ended(MACHINE, len(placed), ENDED_SECONDS)
    with made.ledger() as ledger:
        check(made.service, ledger, placed)
    return matrix, placed


def main() -> int:
    """Run the proof and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--short", action="store_true")
    given = parser.parse_args()
    plan = SHORT if given.short else PROOF
    postgres, redis = PostgresServer(), RedisServer()
    try:
        postgres.start()
        redis.start()
        url = create_database(postgres.admin_url).render_as_string(hide_password=False)
        migrate(url)
        began = time.monotonic()
        with (
            tempfile.TemporaryDirectory() as folder,
            cluster(Path(folder), url, redis.url()) as made,
        ):
            matrix, placed = survive(made, redis, plan, given.seed)
            with made.ledger() as ledger:
                runs, effects, again = (
                    len(ledger.runs()),
                    len(ledger.effects()),
                    repeated(ledger),
                )
        assert matrix.holding >= plan.holding, matrix.holding
        assert again > 0
        assert matrix.ended_at_last_kill < 0.8 * len(placed), matrix.ended_at_last_kill
        sys.stdout.write(
            f"{len(placed)} orders ended as computed in {time.monotonic() - began:.0f} s: killed "
            f"{dict(matrix.storm.killed)}, at places {dict(matrix.places)}, {matrix.holding} with "
            f"a claim or an open transaction; broker emptied {matrix.storm.flushed} times; "
            f"{effects} effects, {runs} runs, {again} of them repeated\n"
        )
    finally:
        redis.remove()
        postgres.remove()
    return 0


if __name__ == "__main__":
    sys.exit(main())
