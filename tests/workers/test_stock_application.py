"""A Celery application that is not ours joins by a few lines and keeps its ways."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.execution.frame import ExecutionStatus
from tests.servers import connect_redis
from tests.workers.deployment import QUEUES, STOCK, Deployment, Worker, one_task, until

_DOCSTRING = (STOCK / "shop" / "__init__.py").read_text()

CHECKOUT: dict[str, Any] = {
    "StartAt": "Charge",
    "States": {
        "Charge": {
            "Type": "Task",
            "Resource": "celery:shop.payments.charge",
            "Parameters": {"order.$": "$.order", "cents.$": "$.cents"},
            "Catch": [{"ErrorEquals": ["CardDeclined"], "Next": "Declined"}],
            "ResultPath": "$.payment",
            "Next": "Receipt",
        },
        "Receipt": {
            "Type": "Task",
            "Resource": "celery:shop.mail.send_receipt",
            "Parameters": {"order.$": "$.order", "payment.$": "$.payment.payment"},
            "ResultPath": "$.receipt",
            "End": True,
        },
        "Declined": {"Type": "Fail", "ErrorPath": "$.Error", "CausePath": "$.Cause"},
    },
}


def test_it_joins_by_at_most_ten_changed_lines(
    joined: Callable[..., Worker], tmp_path: Path
) -> None:
    del joined
    changed = 0
    for path in sorted(STOCK.rglob("*.py")):
        after = tmp_path / "shop_home" / path.relative_to(STOCK)
        lines = difflib.ndiff(path.read_text().splitlines(), after.read_text().splitlines())
        changed += sum(line.startswith(("+ ", "- ")) for line in lines)
    assert 0 < changed <= 10


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_its_tasks_are_resources_on_the_queues_of_its_own_routes(
    deployed: Deployment, joined: Callable[..., Worker], pool: str
) -> None:
    worker = joined(pool=pool)
    deployed.deploy("checkout", CHECKOUT)
    output = deployed.output(deployed.start("checkout", "one", {"order": "a", "cents": 900}))
    assert isinstance(output, dict)
    assert isinstance(output["payment"], dict)
    key = output["payment"]["payment"]
    assert output["receipt"] == f"receipt for a: {key}"
    assert "charging 900 for order a, attempt 0" in worker.log
    assert "Task shop.payments.charge" in worker.log

    declined = deployed.ended(deployed.start("checkout", "two", {"order": "b", "cents": 900_000}))
    assert declined.status is ExecutionStatus.FAILED
    assert (declined.error, declined.cause) == (
        "CardDeclined",
        "900000 is more than the card has",
    )
    until(lambda: deployed.queued(*QUEUES) == 0)
    with connect_redis(deployed.settings.broker_url or "") as client:
        keys = {key.decode() for key in client.keys("*")}
    assert not {key for key in keys if key.startswith(("celery-task-meta", "unacked"))}


def test_retries_by_celery_are_failures_that_the_definition_decides_on(
    deployed: Deployment, joined: Callable[..., Worker]
) -> None:
    joined()
    retry = [{"ErrorEquals": ["Celery.Retry"], "IntervalSeconds": 1, "MaxAttempts": 1}]
    deployed.deploy("capture", one_task("celery:shop.payments.capture", Retry=retry))
    deployed.deploy("reconcile", one_task("celery:shop.payments.reconcile"))
    captured = deployed.start("capture", "one", {"order": "a", "fail_first": True})
    failed = deployed.ended(deployed.start("reconcile", "one", {"order": "a"}))
    assert (failed.error, failed.cause) == (
        "Celery.Retry",
        "GatewayAway: the bank does not answer for a",
    )
    assert deployed.output(captured) == {"captured": "a", "retries": 1}
    until(lambda: deployed.queued(*QUEUES) == 0)


def test_its_own_messages_are_run_as_ever(
    deployed: Deployment, joined: Callable[..., Worker]
) -> None:
    from celery import Celery

    worker = joined(pool="prefork", concurrency=1)
    sender = Celery(broker=deployed.settings.broker_url, set_as_current=False)
    sender.send_task("shop.payments.charge", ["c", 5], queue="celery")
    until(lambda: "charging 5 for order c" in worker.log)
    sender.close()


def test_a_task_whose_queue_nobody_consumes_waits_until_somebody_does(
    deployed: Deployment, joined: Callable[..., Worker]
) -> None:
    joined(queues="celery")
    deployed.deploy("checkout", CHECKOUT)
    address = deployed.start("checkout", "one", {"order": "a", "cents": 900})
    until(lambda: deployed.service.unserved() == ["celery:shop.mail.send_receipt"])
    joined(queues="mail")
    deployed.output(address)
    assert deployed.service.unserved() == []


def test_the_stock_application_knows_nothing_of_us() -> None:
    for path in (STOCK / "shop").glob("*.py"):
        assert "orchestrator" not in path.read_text().removeprefix(_DOCSTRING)
