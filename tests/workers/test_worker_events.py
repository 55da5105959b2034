"""What monitors such as Flower see: runs under the handler's own name."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from celery import Celery

from tests.workers.deployment import Deployment, Worker, one_task, until

ORDER = {"order_id": "1", "customer": {"email": "a@example.com"}}


class Monitor:
    """Receives worker events as Flower does."""

    def __init__(self, broker_url: str) -> None:
        self.app = Celery(broker=broker_url, set_as_current=False)
        self.events: list[dict[str, Any]] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._receive, daemon=True)

    def _receive(self) -> None:
        with self.app.connection_for_read() as connection:
            receiver = self.app.events.Receiver(connection, handlers={"*": self.events.append})
            while not self._stopping.is_set():
                with contextlib.suppress(TimeoutError):
                    receiver.capture(limit=None, timeout=0.5, wakeup=False)

    def start(self) -> None:
        self._thread.start()
        until(lambda: self.of("worker-"), what="events of the worker")

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        self.app.close()

    def of(self, kind: str, **fields: object) -> list[dict[str, Any]]:
        return [
            event
            for event in self.events
            if event["type"].startswith(kind)
            and all(event.get(name) == value for name, value in fields.items())
        ]


@pytest.fixture
def monitor(deployed: Deployment) -> Iterator[Monitor]:
    watching = Monitor(deployed.settings.broker_url or "")
    yield watching
    watching.stop()


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_runs_are_seen_under_the_name_of_their_handler(
    deployed: Deployment, joined: Callable[..., Worker], monitor: Monitor, pool: str
) -> None:
    joined("-E", pool=pool)
    monitor.start()
    deployed.deploy("charge", one_task("celery:shop.payments.charge"))
    key = deployed.output(deployed.start("charge", "one", {"order": "a", "cents": 1}))["payment"]  # type: ignore[index, call-overload]
    deployed.ended(deployed.start("charge", "two", {"order": "a", "cents": 900_000}))
    until(lambda: monitor.of("task-failed"))
    (received,) = monitor.of("task-received", uuid=key)
    assert received["name"] == "shop.payments.charge"
    assert received["hostname"] == "w0@test"
    assert monitor.of("task-started", uuid=key)
    assert monitor.of("task-succeeded", uuid=key)
    assert "CardDeclined" in monitor.of("task-failed")[0]["exception"]
    assert not monitor.of("task-received", name="orchestrator.bell")


def test_events_can_be_switched_on_while_the_worker_runs(
    deployed: Deployment, monitor: Monitor
) -> None:
    deployed.worker("--pool", "threads", "--concurrency", "1").ready()
    deployed.deploy("send", one_task("celery:notifications.send"))
    given: Any = {"order": ORDER, "template": "shipped"}
    deployed.output(deployed.start("send", "before", given))
    monitor.app.control.enable_events()
    monitor.start()

    numbers = iter(range(1000))

    def seen() -> bool:
        deployed.output(deployed.start("send", f"after-{next(numbers)}", given))
        return bool(monitor.of("task-succeeded"))

    until(seen)
    assert {event["name"] for event in monitor.of("task-received")} == {"notifications.send"}
