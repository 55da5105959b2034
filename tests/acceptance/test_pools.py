"""Every pool of Celery runs a batch of orders right."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.checks import check_orders
from tests.acceptance.cluster import Cluster
from tests.acceptance.orders import DEFINITION, MACHINE, Way, orders

WAYS = (Way.PAID, Way.REVIEWED, Way.REFUSED, Way.DECLINED, Way.INVALID, Way.UNDELIVERABLE)


@pytest.mark.parametrize(("pool", "slots"), [("prefork", 2), ("threads", 4), ("solo", 1)])
def test_a_batch_of_orders_runs_right_on_every_pool(
    deployed: Cluster, pool: str, slots: int
) -> None:
    placed = orders(len(WAYS), seed=slots, ways=WAYS)
    deployed.service.deploy(MACHINE, DEFINITION.read_text())
    worker = deployed.worker("w", pool=pool, concurrency=slots)
    deployed.scheduler("s")
    deployed.ready()
    for order in placed:
        deployed.service.start_execution(MACHINE, order.name, json.dumps(order.input))
    deployed.ended(MACHINE, len(placed))
    with deployed.ledger() as ledger:
        check_orders(deployed.service, ledger, placed)
        assert {(run.attempt, run.delivery) for run in ledger.runs()} == {(1, 1)}
    assert "Traceback" not in worker.log
