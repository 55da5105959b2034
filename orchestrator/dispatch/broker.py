"""Rings bells through a Celery broker; one may be lost, doubled or late: nothing waits for it."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

import structlog
from celery import Celery

log = structlog.get_logger(__name__)

BELL: Final = "orchestrator.bell"
"""The name of the message, which is that of the Celery task that hears it."""
BROKER_SECONDS: Final = 0.5
"""How long a broker may take to connect or to answer. It is asked once: a lost bell rings again."""
SILENT_SECONDS: Final = 1.0
"""How long a broker that failed is not asked again."""
TASKS_PER_BELL: Final = 8
"""A message costs more than what it brings about: one says that several tasks are ready."""
MOST_BELLS: Final = 16
"""Messages per queue that are sent at once: of more tasks each rings for more, to be handed on."""

_TIMEOUTS: Final = {"socket_timeout": BROKER_SECONDS, "socket_connect_timeout": BROKER_SECONDS}

_BODY: Final = '[[%d], {}, {"callbacks": null, "errbacks": null, "chain": null, "chord": null}]'
_HEADERS: Final[dict[str, object]] = {
    "lang": "py",
    "task": BELL,
    "eta": None,
    "expires": None,
    "group": None,
    "parent_id": None,
    "retries": 0,
    "timelimit": [None, None],
    "argsrepr": "()",
    "kwargsrepr": "{}",
    "ignore_result": True,
}


class CeleryBell:
    """Publishes bells, many in one pipeline; what fails is counted, said once and never raised."""

    def __init__(self, broker: str | Celery) -> None:
        """`broker` is a URL, or an application whose broker and transport options are used."""
        self._app = (
            Celery(broker=broker, set_as_current=False) if isinstance(broker, str) else broker
        )
        self._lock = threading.Lock()
        self._producer: Any = None
        self._pid = os.getpid()
        self._silent_until = 0.0
        self._away = False
        self.failures = 0
        """Rings that did not reach the broker."""

    def ring(self, queues: Mapping[str, int]) -> None:
        """Publish bells for ready tasks, a few per message, to the queues that serve them."""
        self._send(
            [
                (queue, min(each, left))
                for queue, tasks in queues.items()
                for each in (max(TASKS_PER_BELL, -(-tasks // MOST_BELLS)),)
                for left in range(tasks, 0, -each)
            ]
        )

    def hand_on(self, queue: str, tasks: int) -> None:
        """Publish a bell for others, as its hearer has not slots enough: in two halves."""
        halves = (tasks // 2, tasks - tasks // 2)
        self._send([(queue, half) for half in halves if half])

    def _send(self, bells: Sequence[tuple[str, int]]) -> None:
        with self._lock:
            if time.monotonic() < self._silent_until:
                self.failures += 1
                return
            try:
                self._publish(bells)
            except Exception as error:  # noqa: BLE001 - brokers raise what they like; rows are the queue
                self._failed(error)
            else:
                self._succeeded()

    def _publish(self, bells: Sequence[tuple[str, int]]) -> None:
        producer = self._open()
        with producer.batch():
            for queue, tasks in bells:
                key = str(uuid.uuid4())
                producer.publish(
                    _BODY % tasks,
                    exchange="",
                    routing_key=queue,
                    headers={**_HEADERS, "id": key, "root_id": key},
                    correlation_id=key,
                    content_type="application/json",
                    content_encoding="utf-8",
                    delivery_mode=1,
                )

    def _open(self) -> Any:
        if self._pid != os.getpid():  # forked: the connection is the parent's
            self._producer, self._pid = None, os.getpid()
        if self._producer is None:
            self._producer = impatient(self._app).Producer(auto_declare=False)
        return self._producer

    def _failed(self, error: Exception) -> None:
        self.failures += 1
        self._silent_until = time.monotonic() + SILENT_SECONDS
        producer, self._producer = self._producer, None
        if producer is not None:
            _close(producer)
        if not self._away:
            log.warning("the broker is away; tasks wait for the next look", reason=str(error))
        self._away = True

    def _succeeded(self) -> None:
        if self._away:
            log.warning("the broker is back", failures=self.failures)
        self._away = False


def impatient(app: Celery) -> Any:
    """A connection of kombu's to an application's broker that gives up soon."""
    url = str(app.conf.broker_write_url or "")
    redis = url.startswith(("redis", "rediss", "sentinel"))
    return app.connection_for_write(transport_options=dict(_TIMEOUTS) if redis else {})


def _close(producer: Any) -> None:
    try:
        producer.connection.collect(BROKER_SECONDS)
    except Exception as error:  # noqa: BLE001 - it failed before; nothing is lost with it
        log.debug("a broken connection could not be closed", reason=str(error))
