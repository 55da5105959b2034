"""Orders on Celery workers end as their inputs say, whatever is killed meanwhile."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.cluster import cluster
from tests.acceptance.kills import CHILD, MAIN, SCHEDULER, repeated, survive
from tests.acceptance.orders import orders
from tests.servers import RedisServer

SEED = 20_250_607


def test_orders_survive_kills_of_claim_holders_and_flushes_of_the_broker(
    postgres_url: str, redis_server: RedisServer, tmp_path: Path
) -> None:
    placed = orders(30, SEED, busy_seconds=0.15)
    with cluster(tmp_path, postgres_url, redis_server.url()) as made:
        storm = survive(made, redis_server, placed, kills=10, seed=SEED)
        with made.ledger() as ledger:
            runs, effects = len(ledger.runs()), len(ledger.effects())
            again = repeated(ledger)
    assert storm.killed == {CHILD: 6, MAIN: 2, SCHEDULER: 2}
    assert storm.holding == 8
    assert storm.flushed == 2
    assert runs > effects
    assert again > 0
