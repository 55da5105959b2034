"""Orders under fire: processes that hold claims are killed, the broker forgets everything.

`python -m tests.acceptance.kills --orders 300 --kills 100 --seed 7` is the longer proof.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import sqlalchemy as sa

from tests.acceptance.checks import check_orders
from tests.acceptance.cluster import Cluster, cluster, until
from tests.acceptance.orders import DEFINITION, MACHINE, Order, orders
from tests.servers import PostgresServer, RedisServer, create_database
from workers.ledger import Ledger

CHILD, MAIN, SCHEDULER = "worker child", "worker main", "scheduler"
IN_FLIGHT_SECONDS = 0.05
"""What a process had sent before it was stopped has reached the database by then."""
MOST_DELIVERIES = 3
"""A task that was delivered more often is spared: it could fail for good, by the definition."""

_CLAIMS = sa.text(
    "SELECT execution, id, token, deliveries, claimed_by FROM frames"
    " WHERE claimed_by IS NOT NULL AND lease_until > now()"
)


@dataclass(frozen=True, slots=True)
class Held:
    """A claim as the database shows it."""

    execution: int
    frame: str
    token: str
    deliveries: int
    claimed_by: str

    @property
    def pid(self) -> int:
        """The process that holds it, by the name that it gave itself: host:pid:random."""
        return int(self.claimed_by.split(":")[1])


@dataclass
class Storm:
    """What was done to a cluster, so that a test can say that it was."""

    cluster: Cluster
    redis: RedisServer
    draw: random.Random
    killed: Counter[str] = field(default_factory=Counter)
    holding: int = 0
    """Kills of processes that stood still with a claim that the database showed as theirs."""
    flushed: int = 0

    def __post_init__(self) -> None:
        self._database = sa.create_engine(
            self.cluster.database_url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool
        )

    def rage(self, plan: Sequence[str], flushes: int) -> None:
        """Kill once per entry of the plan, and flush the broker so often in between."""
        flush_before = set(self.draw.sample(range(len(plan)), flushes))
        for number, target in enumerate(plan):
            if number in flush_before:
                self.redis.flush()
                self.flushed += 1
            self.kill(target)
            time.sleep(self.draw.uniform(0.1, 0.6))
            self.cluster.ensure()

    def kill(self, target: str) -> None:
        """SIGKILL to a process of this kind; workers while they hold a claim."""
        if target == SCHEDULER:
            schedulers = [m for m in self.cluster.members if "scheduler" in m.command]
            self.draw.choice(schedulers).kill()
        else:
            until(lambda: self._kill_holder(target), 60, f"a {target} with a claim", pause=0.01)
        self.killed[target] += 1

    def claims(self) -> list[Held]:
        """The claims that hold now."""
        with self._database.connect() as connection:
            return [Held(*row) for row in connection.execute(_CLAIMS)]

    def _kill_holder(self, target: str) -> bool:
        held = [claim for claim in self.claims() if claim.deliveries <= MOST_DELIVERIES]
        if not held:
            return False
        claim = self.draw.choice(held)
        if not _stopped(claim.pid):
            return False
        time.sleep(IN_FLIGHT_SECONDS)
        if claim not in self.claims():  # handed in meanwhile: it goes on
            os.kill(claim.pid, signal.SIGCONT)
            return False
        self.holding += 1
        if target == MAIN:
            self._kill_member_of(claim.pid)
        with suppress(ProcessLookupError):
            os.kill(claim.pid, signal.SIGKILL)
        return True

    def _kill_member_of(self, pid: int) -> None:
        for member in self.cluster.members:
            if any(child.pid == pid for child in member.children()):
                member.kill()


def _stopped(pid: int) -> bool:
    """Stop a process and wait until it stands still; False if it is gone."""
    with suppress(ProcessLookupError, psutil.NoSuchProcess):
        os.kill(pid, signal.SIGSTOP)
        process = psutil.Process(pid)
        while process.status() not in {psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE}:
            time.sleep(0.001)
        return bool(process.status() == psutil.STATUS_STOPPED)
    return False


def plan_of(kills: int, draw: random.Random) -> list[str]:
    """Which kinds of process are killed, in a drawn order: of ten, six children, two and two."""
    plan = [(CHILD, MAIN, CHILD, SCHEDULER, CHILD)[n % 5] for n in range(kills)]
    draw.shuffle(plan)
    return plan


def survive(
    made: Cluster, redis: RedisServer, placed: Sequence[Order], kills: int, seed: int
) -> Storm:
    """Run orders on two workers and two schedulers through a storm, and check what came of them."""
    storm = Storm(made, redis, random.Random(seed))
    made.service.deploy(MACHINE, DEFINITION.read_text())
    for name in ("w1", "w2"):
        made.worker(name)
    for name in ("s1", "s2"):
        made.scheduler(name)
    made.ready()
    for order in placed:
        made.service.start_execution(MACHINE, order.name, json.dumps(order.input))
    storm.rage(plan_of(kills, storm.draw), flushes=2)
    made.ended(MACHINE, len(placed), 120)
    with made.ledger() as ledger:
        check_orders(made.service, ledger, placed)
    return storm


def repeated(ledger: Ledger) -> int:
    """How many runs there were beyond the first of each key."""
    runs = ledger.runs()
    return len(runs) - len({run.key for run in runs})


def main() -> int:
    """Run the longer proof."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=200)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    postgres, redis = PostgresServer(), RedisServer()
    try:
        postgres.start()
        redis.start()
        url = create_database(postgres.admin_url).render_as_string(hide_password=False)
        from orchestrator.store import migrate

        migrate(url)
        began = time.monotonic()
        with (
            tempfile.TemporaryDirectory() as folder,
            cluster(Path(folder), url, redis.url()) as made,
        ):
            placed = orders(given.orders, given.seed, busy_seconds=0.2)
            storm = survive(made, redis, placed, given.kills, given.seed)
            with made.ledger() as ledger:
                again, acted = repeated(ledger), len(ledger.effects())
        sys.stdout.write(
            f"{given.orders} orders ended as computed in {time.monotonic() - began:.0f} s: "
            f"{dict(storm.killed)}, {storm.holding} while they held a claim, broker emptied "
            f"{storm.flushed} times; {acted} effects, {again} runs repeated\n"
        )
    finally:
        redis.remove()
        postgres.remove()
    return 0


if __name__ == "__main__":
    sys.exit(main())
