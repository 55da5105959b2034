"""Pools that the other acceptance tests leave out: solo, and children that end after each task."""

from __future__ import annotations

import json

from tests.acceptance.checks import check_orders
from tests.acceptance.cluster import Cluster, until
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


ITEMS = list(range(20))
ONE_BY_ONE = json.dumps(
    {
        "StartAt": "Each",
        "States": {
            "Each": {
                "Type": "Map",
                "MaxConcurrency": 1,
                "ItemProcessor": {
                    "StartAt": "Nap",
                    "States": {"Nap": {"Type": "Task", "Resource": "celery:left.nap", "End": True}},
                },
                "End": True,
            }
        },
    }
)


def test_children_that_end_after_each_task_and_a_kill_lose_no_item_and_no_order(
    deployed: Cluster,
) -> None:
    address = "line:1"
    deployed.service.deploy("line", ONE_BY_ONE)
    deployed.worker(
        "w",
        app="tests.acceptance.trial_worker",
        queues="left",
        more=("--max-tasks-per-child", "1"),
    )
    deployed.scheduler("s")
    deployed.ready()
    deployed.service.start_execution("line", "1", json.dumps(ITEMS))

    def begun() -> list[object]:
        history = deployed.service.whole_history(address)
        return [e.details["index"] for e in history if e.type == "MapIterationStarted"]

    until(lambda: len(begun()) >= 7, what="seven items to begin")
    deployed.members[0].kill()
    deployed.ensure()
    deployed.ended("line", 1)
    output = deployed.service.describe_execution(address).output
    assert output is not None
    assert output.value == ITEMS
    assert begun() == ITEMS
    assert deployed.service.operations.verify_execution(address) == ()
