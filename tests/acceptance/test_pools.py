"""The one pool that the other acceptance tests leave out: they run on prefork and threads."""

from __future__ import annotations

import json

from tests.acceptance.checks import check_orders
from tests.acceptance.cluster import Cluster
from tests.acceptance.orders import DEFINITION, MACHINE, Way, orders

WAYS = (Way.PAID, Way.REVIEWED, Way.REFUSED, Way.DECLINED, Way.INVALID, Way.UNDELIVERABLE)


def test_a_batch_of_orders_runs_right_on_the_solo_pool(deployed: Cluster) -> None:
    placed = orders(len(WAYS), seed=1, ways=WAYS)
    deployed.service.deploy(MACHINE, DEFINITION.read_text())
    worker = deployed.worker("w", pool="solo", concurrency=1)
    deployed.scheduler("s")
    deployed.ready()
    for order in placed:
        deployed.service.start_execution(MACHINE, order.name, json.dumps(order.input))
    deployed.ended(MACHINE, len(placed))
    with deployed.ledger() as ledger:
        check_orders(deployed.service, ledger, placed)
        assert {(run.attempt, run.delivery) for run in ledger.runs()} == {(1, 1)}
    assert "Traceback" not in worker.log
