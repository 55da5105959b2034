"""What a step and an item cost in statements, rows and commits: counts, which no load changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks import counting, w1, w2
from tests.benchmarks.ends import on_postgres
from tests.benchmarks.stage import Plan, Stage
from tests.servers import PostgresServer, RedisServer

TOGETHER = w1.Shape(plans=(Plan(slots=8),), executions=24, in_flight=8)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder: Path = tmp_path_factory.mktemp("counts")
    postgres, redis = PostgresServer(), RedisServer()
    try:
        postgres.start()
        redis.start()
        with counting.counting(folder):
            yield Stage(postgres, redis, folder)
    finally:
        postgres.remove()
        redis.remove()


def test_a_step_in_a_group_costs_less_than_a_statement_and_five_rows(place: Stage) -> None:
    figures = w1.run(place, TOGETHER)
    assert figures["statements_per_step"] < 1.5
    assert figures["rows_per_step"] < 5.5
    assert figures["durable_commits_per_execution"] < 8
    assert figures["wal_bytes_per_step"] < 1_800


def test_a_step_alone_costs_one_statement_and_one_transaction(place: Stage) -> None:
    figures = w1.run(place, replace(TOGETHER, executions=4, in_flight=1))
    # The start, ten results; what else is sent looks for work, or says that a process lives.
    assert figures["durable_commits_per_execution"] <= 1 + w1.STEPS + 1


def test_an_item_costs_as_many_rows_however_many_there_are(place: Stage) -> None:
    with place.deployment((Plan(slots=8),)) as deployment:
        deployment.parts.service.deploy("fan", w2.machine())
        with on_postgres(deployment.libpq, w1.LOOK_SECONDS) as ends:
            few, many = (
                w2.measured(deployment, ends, items)["rows_per_item"] for items in (60, 240)
            )
    assert many < 1.2 * few
    assert many < 7
