"""Bells by way of a broker: one pipeline, no waiting for a broker that is away."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from structlog.testing import capture_logs

from orchestrator.dispatch.broker import CeleryBell
from orchestrator.dispatch.local import LocalBell
from orchestrator.dispatch.more import MoreSlots
from tests.servers import RedisServer, connect_redis


def lengths(url: str, *queues: str) -> list[int]:
    with connect_redis(url) as client:
        return [int(client.llen(queue)) for queue in queues]


def told(url: str, queue: str) -> list[int]:
    """For how many tasks each message of a queue rings, the oldest first."""
    with connect_redis(url) as client:
        bodies = [json.loads(text)["body"] for text in client.lrange(queue, 0, -1)]
    return [json.loads(base64.b64decode(body))[0][0] for body in reversed(bodies)]


def test_a_message_names_only_the_bell_and_for_how_many_tasks_it_rings(redis_url: str) -> None:
    bell = CeleryBell(redis_url)
    bell.ring({"payments": 11, "shipping": 1})
    assert told(redis_url, "payments") == [8, 3]
    assert told(redis_url, "shipping") == [1]
    with connect_redis(redis_url) as client:
        first, second = (json.loads(text) for text in client.lrange("payments", 0, -1))
    assert first["headers"]["task"] == "orchestrator.bell"
    assert first["headers"]["id"] != second["headers"]["id"]
    assert bell.failures == 0


def test_all_tasks_are_rung_for_in_a_bounded_number_of_messages(redis_url: str) -> None:
    bell = CeleryBell(redis_url)
    for queue, tasks in (("payments", 10_000), ("shipping", 500), ("returns", 129)):
        bell.ring({queue: tasks})
        assert sum(told(redis_url, queue)) == tasks
        assert len(told(redis_url, queue)) <= 16


def test_who_has_not_slots_enough_hands_on_in_two_halves(redis_url: str) -> None:
    bell = CeleryBell(redis_url)
    bell.hand_on("payments", 5)
    bell.hand_on("shipping", 1)
    assert told(redis_url, "payments") == [2, 3]
    assert told(redis_url, "shipping") == [1]


def test_one_bell_begins_as_many_slots_of_a_pool_of_threads_as_are_free() -> None:
    free, over, ran = 3, threading.Event(), threading.Semaphore(0)

    def work() -> None:
        ran.release()
        over.wait(5)

    with ThreadPoolExecutor(8) as pool:
        more = MoreSlots(pool, lambda: free - more.busy)
        assert more.begin(work, 2) == 2
        assert more.begin(work, 7) == 1
        for _ in range(3):
            assert ran.acquire(timeout=5)
        assert more.busy == 3
        over.set()
    assert more.busy == 0
    assert more.begin(work, 1) == 0  # the pool is shut down
    assert more.busy == 0


def test_a_slot_that_fails_frees_its_thread() -> None:
    with ThreadPoolExecutor(1) as pool:
        more = MoreSlots(pool, lambda: 1)
        assert more.begin(lambda: 1 // 0, 1) == 1
    assert more.busy == 0


def test_without_threads_there_are_no_more_slots() -> None:
    assert MoreSlots().begin(lambda: None, 5) == 0


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
