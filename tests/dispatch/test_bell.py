"""Bells by way of a broker: one pipeline, no waiting for a broker that is away."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from structlog.testing import capture_logs

from orchestrator.dispatch.broker import CeleryBell
from orchestrator.dispatch.local import LocalBell
from tests.servers import RedisServer, connect_redis


def lengths(url: str, *queues: str) -> list[int]:
    with connect_redis(url) as client:
        return [int(client.llen(queue)) for queue in queues]


def test_each_ready_task_is_a_message_that_names_only_the_bell(redis_url: str) -> None:
    bell = CeleryBell(redis_url)
    bell.ring({"payments": 2, "shipping": 1})
    assert lengths(redis_url, "payments", "shipping") == [2, 1]
    with connect_redis(redis_url) as client:
        first, second = (json.loads(text) for text in client.lrange("payments", 0, -1))
    assert first["headers"]["task"] == "orchestrator.bell"
    assert first["headers"]["id"] != second["headers"]["id"]
    assert bell.failures == 0


def test_bells_per_queue_are_bounded(redis_url: str) -> None:
    CeleryBell(redis_url).ring({"payments": 10_000})
    assert lengths(redis_url, "payments") == [100]


def test_a_broker_that_is_away_costs_less_than_a_second_and_raises_nothing(
    start_redis: Callable[[], RedisServer],
) -> None:
    server = start_redis()
    bell = CeleryBell(server.url())
    bell.ring({"payments": 1})
    server.kill()
    with capture_logs() as logs:
        for _ in range(3):
            began = time.monotonic()
            bell.ring({"payments": 1})
            assert time.monotonic() - began < 1.0
    assert bell.failures == 3
    assert [log["event"] for log in logs] == ["the broker is away; tasks wait for the next look"]


def test_a_broker_that_is_back_hears_bells_again(
    start_redis: Callable[[], RedisServer],
) -> None:
    server = start_redis()
    bell = CeleryBell(server.url())
    server.kill()
    bell.ring({"payments": 1})
    server.start()
    deadline = time.monotonic() + 5
    while lengths(server.url(), "payments") == [0] and time.monotonic() < deadline:
        bell.ring({"payments": 1})
        time.sleep(0.1)
    assert lengths(server.url(), "payments") == [1]


def test_a_local_bell_wakes_once_per_task_and_lets_go_when_it_is_closed() -> None:
    bell = LocalBell(threads=2)
    bell.ring({"local": 10})
    assert bell.hear()
    assert bell.hear()
    bell.close()
    assert not bell.hear()
