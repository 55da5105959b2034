"""What is away comes back: nothing is lost, nothing is restarted, and one message says it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

from orchestrator.store import migrate
from tests.acceptance.checks import check_orders
from tests.acceptance.cluster import Cluster, cluster, until
from tests.acceptance.orders import DEFINITION, MACHINE, Order, Way, orders
from tests.servers import PostgresServer, RedisServer, create_database

SEED = 8
AWAY_SECONDS = 2.0
WAYS = (Way.PAID, Way.REVIEWED, Way.HICCUP, Way.UNDELIVERABLE, Way.DECLINED)


def _start(made: Cluster, placed: Sequence[Order]) -> None:
    for order in placed:
        made.service.start_execution(MACHINE, order.name, json.dumps(order.input))


def _under_way(made: Cluster, ends: int) -> bool:
    runs = made.executions(MACHINE)
    return sum(run.ended_at is not None for run in runs) >= ends


def test_orders_survive_a_broker_and_a_database_that_go_away_and_come_back(
    postgres_server: PostgresServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    url = create_database(postgres_server.admin_url).render_as_string(hide_password=False)
    migrate(url)
    placed = orders(15, SEED, busy_seconds=0.3, ways=WAYS)
    elsewhere = f"sqlite:///{tmp_path / 'ledger.db'}"
    with cluster(tmp_path, url, redis_server.url(), ORCHESTRATOR_LEDGER_URL=elsewhere) as made:
        made.service.deploy(MACHINE, DEFINITION.read_text())
        made.worker("forks")
        made.worker("threads", pool="threads")
        made.scheduler("scheduler")
        made.ready()

        _start(made, placed[:5])
        until(lambda: _under_way(made, 1), what="an order to end")
        redis_server.kill()
        _start(made, placed[5:10])
        time.sleep(AWAY_SECONDS)
        redis_server.start()

        _start(made, placed[10:])
        until(lambda: _under_way(made, 6), what="orders to end")
        postgres_server.stop_immediate()
        time.sleep(AWAY_SECONDS)
        postgres_server.start()

        made.ended(MACHINE, len(placed))
        with made.ledger() as ledger:
            check_orders(made.service, ledger, placed)
        for member in made.members:
            assert member.runs
            assert member.starts == 1
        scheduler = made.members[-1].log
        assert scheduler.count("the database is away; trying again") == 1
        assert scheduler.count("the database is back") == 1
        for worker, processes in zip(made.members[:2], (3, 1), strict=True):
            assert 1 <= worker.log.count("the database is away; trying again") <= processes
        assert "Traceback" not in scheduler


def test_a_scheduler_waits_for_a_database_that_is_not_there_yet(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    url = create_database(postgres_server.admin_url).render_as_string(hide_password=False)
    migrate(url)
    with cluster(tmp_path, url, None) as made:
        rests = {"Type": "Wait", "Seconds": 1, "End": True}
        made.service.deploy("rest", json.dumps({"StartAt": "R", "States": {"R": rests}}))
        made.service.start_execution("rest", "r")
        made.parts.store.dispose()
        postgres_server.stop_immediate()
        scheduler = made.scheduler("s")
        until(lambda: "the database is away" in scheduler.log, what="the scheduler to say so")
        postgres_server.start()
        made.ended("rest", 1)
        assert (scheduler.runs, scheduler.starts) == (True, 1)
        assert scheduler.log.count("the database is away") == 1
        assert scheduler.stop() == 0
