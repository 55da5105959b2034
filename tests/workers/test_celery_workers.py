"""Orders on real Celery worker processes, with PostgreSQL and Redis."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.workers.deployment import ROOT, Deployment
from workers.ledger import kept_at

POOLS = [("prefork", "2"), ("threads", "4"), ("solo", "1")]


def sample(machine: str, name: str) -> Any:
    return json.loads((ROOT / "definitions" / "inputs" / machine / f"{name}.json").read_text())


def deploy(deployed: Deployment, machine: str) -> None:
    deployed.deploy(machine, (ROOT / "definitions" / f"{machine}.asl.json").read_text())


@pytest.mark.parametrize(("pool", "concurrency"), POOLS)
def test_an_order_runs_on_every_pool(deployed: Deployment, pool: str, concurrency: str) -> None:
    deployed.worker("--pool", pool, "--concurrency", concurrency).ready()
    deploy(deployed, "order-payment")
    names = ["paid", "reviewed", "declined"]
    addresses = [
        deployed.start("order-payment", name, sample("order-payment", name)) for name in names
    ]
    assert [str(deployed.ended(address).status) for address in addresses] == [
        "SUCCEEDED",
        "SUCCEEDED",
        "FAILED",
    ]
    with kept_at(deployed.settings.database_url) as ledger:
        runs = ledger.runs(addresses[0])
        effects = ledger.effects(addresses[0])
    assert [run.handler for run in runs] == [
        "payments.validate",
        "payments.charge",
        "shipping.book_slot",
        "shipping.ship",
        "notifications.send",
    ]
    assert len(effects) == 4
    assert deployed.workers[0].terminate() == 0
    assert "Traceback" not in deployed.workers[0].log
