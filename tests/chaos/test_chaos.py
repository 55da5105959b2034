"""Short forms of the proofs; `make proof` runs the long ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator import crashpoint
from tests.acceptance.cluster import cluster
from tests.acceptance.kills import repeated
from tests.chaos import embedded, faults
from tests.chaos.matrix import SHORT, survive
from tests.servers import PostgresServer, RedisServer

SEED = 3


def test_orders_survive_kills_of_every_kind_and_at_every_named_place(
    postgres_url: str, redis_server: RedisServer, tmp_path: Path
) -> None:
    with cluster(tmp_path, postgres_url, redis_server.url()) as made:
        matrix, _ = survive(made, redis_server, SHORT, SEED)
        with made.ledger() as ledger:
            again = repeated(ledger)

    assert set(matrix.places) == set(crashpoint.POINTS)
    assert sum(matrix.storm.killed.values()) + sum(matrix.places.values()) == 12
    assert matrix.holding >= SHORT.holding
    assert again > 0


@pytest.mark.parametrize("name", ["connections are cut during commit", "redis is full"])
def test_all_ends_as_computed_after_a_fault_has_healed(
    name: str, start_postgres: Callable[..., PostgresServer], redis_server: RedisServer
) -> None:
    faults.play(name, start_postgres(), redis_server, SEED)


def test_there_are_scenarios_enough_of_both_databases() -> None:
    assert len(faults.SCENARIOS) >= 12
    assert len(embedded.SCENARIOS) >= 5


def test_an_embedded_order_survives_another_program_that_holds_its_database() -> None:
    assert embedded.play("another program holds the database", count=1) >= 1
