"""Shows that the lock rule keeps PostgreSQL free of deadlocks, and that without it there are many.

    python -m tests.store.deadlocks --seconds 30

Four processes commit groups of 20 out of the same 200 executions, in random order, with claims,
renewals, releases and lapses beside them. Once as the store does it; once with the rows of the
executions locked in order of arrival.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from orchestrator.store import Connecting, Store, migrate, statement
from tests.servers import PostgresServer, create_database
from tests.store import samples
from tests.store.processes import at_once, in_processes

PROCESSES = 4
EXECUTIONS = 200
GROUP = 20


@dataclass(frozen=True)
class Outcome:
    """What came of a run."""

    deadlocks: int
    committed: int
    stale: int
    failed: int
    claims: int
    lapses: int
    versions: int
    """How often the executions have been moved, by their own account."""


def _lock_in_order_of_arrival() -> None:
    """Lock executions one after the other as they come, and not too fast: the mutant."""
    statement.STEPS["moved"] = statement.STEPS["moved"].replace(
        " ORDER BY executions.id", " WHERE pg_sleep(0.001)::text IS NOT NULL"
    )
    assert "pg_sleep" in statement.STEPS["moved"]


def _commit(store: Store, ids: Sequence[int], until: float, draw: random.Random) -> Counter[str]:
    counts: Counter[str] = Counter()
    while time.monotonic() < until:
        chosen = draw.sample(ids, GROUP)
        views = list(store.read([(number, "") for number in chosen]).values())
        draw.shuffle(views)
        outcomes = store.commit([samples.moving(view) for view in views])
        counts.update(type(outcome).__name__ for outcome in outcomes)
    return counts


def _claim(store: Store, worker: str, until: float, draw: random.Random) -> Counter[str]:
    counts: Counter[str] = Counter()
    while time.monotonic() < until:
        lease = draw.choice((0.0, 30.0))
        claims = samples.claimed(store, worker, limit=GROUP, lease_seconds=lease)
        counts["claims"] += len(claims)
        draw.shuffle(claims)
        store.renew(worker, claims[:10])
        for claim in claims[:3]:
            store.heartbeat(claim)
        store.release(worker, claims[5:])
        counts["lapses"] += sum(store.lapse(100).given_back.values())
        time.sleep(0.005)
    return counts


def _work(
    url: str, meet: Any, number: int, ids: Sequence[int], seconds: float, ordered: bool
) -> Counter[str]:
    if not ordered:
        _lock_in_order_of_arrival()
    store = Store(url, connecting=Connecting(statement_seconds=60.0, lock_seconds=60.0))
    store.check()
    meet.wait()
    until = time.monotonic() + seconds
    claims: list[Counter[str]] = []
    beside = threading.Thread(
        target=lambda: claims.append(_claim(store, f"w{number}", until, random.Random(-number)))
    )
    beside.start()
    counts = _commit(store, ids, until, random.Random(number))
    beside.join()
    store.dispose()
    return counts + claims[0]


def deadlocks(url: str) -> int:
    """How many deadlocks PostgreSQL has seen in a database."""
    engine = create_engine(url)
    counted = text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    with engine.connect() as connection:
        found = connection.execute(counted).scalar_one()
    engine.dispose()
    return int(found)


def run(url: str, seconds: float, *, ordered: bool) -> Outcome:
    """Let four processes get in each other's way on a fresh database."""
    store = Store(url)
    begun = [samples.beginning() for _ in range(EXECUTIONS)]
    store.start(begun)
    store.dispose()
    ids = [one.execution.id for one in begun]
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        name = make_url(url).database
        connection.execute(text(f'ALTER DATABASE "{name}" SET deadlock_timeout = 20'))
    meet = at_once(PROCESSES)
    counts: Counter[str] = Counter()
    for found in in_processes(
        _work, [(url, meet, number, ids, seconds, ordered) for number in range(PROCESSES)]
    ):
        counts += found
    with engine.connect() as connection:
        versions = connection.execute(text("SELECT sum(version - 1) FROM executions")).scalar_one()
    engine.dispose()
    return Outcome(
        deadlocks(url),
        counts["Committed"],
        counts["Stale"],
        counts["Failed"],
        counts["claims"],
        counts["lapses"],
        int(versions),
    )


def main() -> int:
    """Run both and say what came of it; 1 if the rule did not hold or the test shows nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    seconds = parser.parse_args().seconds
    server = PostgresServer()
    server.start()
    found = {}
    for ordered in (True, False):
        url = create_database(server.admin_url).render_as_string(hide_password=False)
        migrate(url)
        found[ordered] = run(url, seconds, ordered=ordered)
        sys.stdout.write(f"{'with' if ordered else 'without'} the order: {found[ordered]}\n")
    server.remove()
    return int(found[True].deadlocks > 0 or found[False].deadlocks == 0)


if __name__ == "__main__":
    sys.exit(main())
