"""What the machines around may do to a deployment: each scenario hurts, heals, and then all ends.

`python -m tests.chaos.faults` runs every scenario on PostgreSQL and prints how long it took after
the fault had healed; `--only NAME` runs one.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil
import psycopg
import redis as redis_client

from orchestrator.store import migrate
from tests.acceptance.cluster import Cluster, cluster, until
from tests.chaos.fulfilment import DEFINITION, MACHINE, Order, check, orders
from tests.chaos.proxy import CommitCutter
from tests.servers import PostgresServer, RedisServer, connect_redis, create_database, libpq_url

LEASE_SECONDS: Final = 2.0
HEALED_SECONDS: Final = 60.0 + LEASE_SECONDS
"""All must have ended so soon after the fault has healed."""


@dataclass
class Scene:
    """A deployment and what is around it."""

    made: Cluster
    postgres: PostgresServer
    redis: RedisServer
    folder: Path
    placed: list[Order]
    notes: dict[str, object] = field(default_factory=dict)
    """What the scenario says of itself."""

    def start(self, placed: list[Order] | None = None) -> None:
        """Start orders."""
        for order in self.placed if placed is None else placed:
            self.made.service.start_execution(MACHINE, order.name, json.dumps(order.input))

    def processes(self) -> None:
        """Two workers of different pools and a scheduler, ready."""
        self.made.worker("forks")
        self.made.worker("threads", pool="threads", concurrency=4)
        self.made.scheduler("s1")
        self.made.ready()

    def under_way(self, ends: int = 2) -> None:
        """Wait until some orders have ended and the others have not."""
        until(lambda: self._ends() >= ends, what="orders to end")

    def _ends(self) -> int:
        return sum(run.ended_at is not None for run in self.made.executions(MACHINE))


Scenario = Callable[[Scene], None]
SCENARIOS: dict[str, Scenario] = {}


def scenario(act: Scenario) -> Scenario:
    """Register a scenario under its function's name."""
    SCENARIOS[act.__name__.replace("_", " ")] = act
    return act


# --------------------------------------------------------------------------------------- Redis


@scenario
def redis_is_killed_and_comes_back(scene: Scene) -> None:
    scene.processes()
    scene.start()
    scene.under_way()
    scene.redis.kill()
    time.sleep(3)
    scene.redis.start()


@scenario
def redis_forgets_everything(scene: Scene) -> None:
    scene.processes()
    scene.start()
    for ends in (1, 3, 5):
        scene.under_way(ends)
        scene.redis.flush()


@scenario
def redis_is_absent_when_all_begins(scene: Scene) -> None:
    scene.redis.kill()
    scene.made.worker("forks")
    scene.made.worker("threads", pool="threads", concurrency=4)
    scene.made.scheduler("s1")
    scene.start()
    time.sleep(3)
    scene.redis.start()


@scenario
def redis_is_full(scene: Scene) -> None:
    scene.processes()
    scene.start(scene.placed[:6])
    scene.under_way(1)
    with connect_redis(scene.redis.url()) as client:
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", 1)
        scene.start(scene.placed[6:])
        time.sleep(3)
        with suppress(redis_client.ResponseError):
            client.set("full", "x")
            raise AssertionError("Redis was not full")
        client.config_set("maxmemory", 0)


@scenario
def redis_stands_still(scene: Scene) -> None:
    scene.processes()
    scene.start()
    scene.under_way()
    with _frozen([_redis_process(scene)]):
        time.sleep(4)


# ---------------------------------------------------------------------------------- PostgreSQL


@scenario
def postgres_restarts_as_after_a_crash(scene: Scene) -> None:
    scene.processes()
    scene.start()
    for ends in (1, 4):
        scene.under_way(ends)
        scene.postgres.stop_immediate()
        time.sleep(1)
        scene.postgres.start()


@scenario
def postgres_ends_all_connections(scene: Scene) -> None:
    scene.processes()
    scene.start()
    for ends in (1, 2, 3, 4):
        scene.under_way(ends)
        with psycopg.connect(libpq_url(scene.made.database_url), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@scenario
def postgres_stands_still(scene: Scene) -> None:
    scene.processes()
    scene.start()
    scene.under_way()
    with _frozen(_postgres_processes(scene)):
        time.sleep(5)


@scenario
def connections_are_cut_during_commit(scene: Scene) -> None:
    own = Path(tempfile.mkdtemp(prefix="cut-"))
    target = scene.postgres.folder / ".s.PGSQL.5432"
    cutter = CommitCutter(own, target, every=7)
    straight = scene.made.settings
    cut_url = scene.made.database_url.replace(
        str(scene.postgres.folder).replace("/", "%2F"), str(own).replace("/", "%2F")
    )
    assert cut_url != scene.made.database_url
    scene.made.settings = {**straight, "ORCHESTRATOR_DATABASE_URL": cut_url}
    scene.processes()
    scene.start()
    scene.under_way(5)
    cutter.heal()
    scene.notes |= cutter.cut
    assert cutter.cut["before"] > 0
    assert cutter.cut["after"] > 0


# ----------------------------------------------------------------------------------- processes


@scenario
def a_worker_stands_still_past_its_lease_and_wakes(scene: Scene) -> None:
    scene.processes()
    scene.start()
    scene.under_way(1)
    member = scene.made.members[0]
    with _frozen([psutil.Process(member.pid), *member.children()]):
        time.sleep(LEASE_SECONDS + 3)


@scenario
def the_only_scheduler_is_stopped_for_a_while(scene: Scene) -> None:
    scene.processes()
    scene.start()
    scene.under_way(1)
    scene.made.members[2].kill()
    time.sleep(4)
    scene.made.ensure()


@scenario
def three_schedulers_do_the_work_of_one(scene: Scene) -> None:
    scene.processes()
    scene.made.scheduler("s2")
    scene.made.scheduler("s3")
    scene.start()


@scenario
def a_workers_main_is_killed_while_it_runs_tasks(scene: Scene) -> None:
    scene.processes()
    scene.start()
    scene.under_way(1)
    lost = _held_by(scene, scene.made.members[0])
    scene.made.members[0].kill()
    began = time.monotonic()
    until(lambda: not _still(scene, lost), what="others to have its tasks", pause=0.02)
    scene.notes["others had its tasks after seconds"] = round(time.monotonic() - began, 2)
    assert time.monotonic() - began < 5 + LEASE_SECONDS


@scenario
def everything_is_killed_at_once(scene: Scene) -> None:
    scene.processes()
    scene.start()
    scene.under_way(2)
    for member in scene.made.members:
        member.kill()
    scene.redis.kill()
    scene.postgres.stop_immediate()
    scene.postgres.start()
    scene.redis.start()
    scene.made.ensure()


# -------------------------------------------------------------------------------------- around


@contextmanager
def _frozen(processes: list[psutil.Process]) -> Iterator[None]:
    for process in processes:
        os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)


def _redis_process(scene: Scene) -> psutil.Process:
    with connect_redis(scene.redis.url()) as client:
        return psutil.Process(int(client.info("server")["process_id"]))


def _postgres_processes(scene: Scene) -> list[psutil.Process]:
    pid = int((scene.postgres.folder / "data" / "postmaster.pid").read_text().split()[0])
    main = psutil.Process(pid)
    return [main, *main.children(recursive=True)]


def _held_by(scene: Scene, member: object) -> set[tuple[int, str, str]]:
    """The attempts that processes of a worker hold, once there are some."""
    pids = {child.pid for child in scene.made.members[0].children()}
    found: set[tuple[int, str, str]] = set()

    def held() -> bool:
        with psycopg.connect(libpq_url(scene.made.database_url)) as connection:
            rows = connection.execute(
                "SELECT execution, id, claimed_by FROM frames WHERE claimed_by IS NOT NULL"
            ).fetchall()
        found.clear()
        found.update(row for row in rows if int(row[2].split(":")[1]) in pids)
        return bool(found)

    until(held, what=f"{member} to hold a claim", pause=0.01)
    return found


def _still(scene: Scene, lost: set[tuple[int, str, str]]) -> bool:
    with psycopg.connect(libpq_url(scene.made.database_url)) as connection:
        rows = connection.execute(
            "SELECT execution, id, claimed_by FROM frames WHERE claimed_by IS NOT NULL"
        ).fetchall()
    return bool(lost & set(rows))


def play(name: str, postgres: PostgresServer, redis: RedisServer, seed: int = 1) -> Scene:
    """Play one scenario and check that all ended as computed, soon after the fault had healed."""
    url = create_database(postgres.admin_url).render_as_string(hide_password=False)
    migrate(url)
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = f"sqlite:///{Path(folder) / 'ledger.db'}"
        settings = {
            "ORCHESTRATOR_LEDGER_URL": elsewhere,
            "ORCHESTRATOR_LEASE_SECONDS": str(LEASE_SECONDS),
        }
        with cluster(Path(folder), url, redis.url(), **settings) as made:
            scene = Scene(made, postgres, redis, Path(folder), orders(12, seed, busy_seconds=0.2))
            made.service.deploy(MACHINE, DEFINITION.read_text())
            SCENARIOS[name](scene)
            healed = time.monotonic()
            made.ended(MACHINE, len(scene.placed), HEALED_SECONDS)
            scene.notes["ended after the healing in seconds"] = round(time.monotonic() - healed, 1)
            with made.ledger() as ledger:
                check(made.service, ledger, scene.placed)
            return scene


def main() -> int:
    """Play the scenarios one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=SCENARIOS)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for name in [given.only] if given.only else SCENARIOS:
        postgres, redis = PostgresServer(), RedisServer()
        try:
            postgres.start()
            redis.start()
            scene = play(name, postgres, redis, given.seed)
        finally:
            redis.remove()
            postgres.remove()
        sys.stdout.write(f"{name}: {scene.notes}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
