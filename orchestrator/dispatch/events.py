"""Tells monitors (Flower) of the tasks that run inside a bell, under their own names."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Final

import structlog
from celery import Celery
from celery.events.dispatcher import EventDispatcher

from orchestrator.dispatch.broker import BROKER_SECONDS, SILENT_SECONDS, impatient
from orchestrator.dispatch.serving import Run
from orchestrator.execution.payload import Payload
from orchestrator.handlers import Failed, Outcome, Returned, TaskContext

log = structlog.get_logger(__name__)

_SHOWN_CHARACTERS: Final = 200


class TaskEvents:
    """One process's worker events; what cannot be sent is dropped, as Celery's are."""

    def __init__(self, app: Celery, hostname: str, wanted: Callable[[], bool]) -> None:
        self._app = app
        self._hostname = hostname
        self._wanted = wanted
        self._dispatcher: EventDispatcher | None = None
        self._silent_until = 0.0
        self._lock = threading.Lock()

    def told(self, name: str, run: Run) -> Run:
        """The same run, with events around it while anybody wants them."""

        def telling(arguments: Payload, context: TaskContext) -> Outcome:
            if not self._wanted():
                return run(arguments, context)
            began = time.monotonic()
            self._send(
                "task-received",
                uuid=context.key,
                name=name,
                args=arguments.text[:_SHOWN_CHARACTERS],
                kwargs="{}",
                root_id=context.key,
                parent_id=None,
                retries=context.attempt - 1,
                eta=None,
                expires=None,
            )
            self._send("task-started", uuid=context.key)
            outcome = run(arguments, context)
            self._ended(context, outcome, time.monotonic() - began)
            return outcome

        return telling

    def close(self) -> None:
        """Close the connection."""
        dispatcher, self._dispatcher = self._dispatcher, None
        if dispatcher is not None:
            dispatcher.close()
            dispatcher.connection.collect(BROKER_SECONDS)

    def _ended(self, context: TaskContext, outcome: Outcome, seconds: float) -> None:
        match outcome:
            case Returned(result):
                self._send(
                    "task-succeeded",
                    uuid=context.key,
                    result=result.text[:_SHOWN_CHARACTERS],
                    runtime=seconds,
                )
            case Failed(error, cause):
                self._send(
                    "task-failed", uuid=context.key, exception=f"{error}: {cause}", traceback=""
                )

    def _send(self, event: str, **fields: object) -> None:
        with self._lock:
            if time.monotonic() < self._silent_until:
                return
            try:
                self._open().send(event, **fields)
            except Exception as error:  # noqa: BLE001 - a monitor is a guest: no task fails for it
                log.debug("an event was not sent", reason=str(error))
                self._dispatcher = None
                self._silent_until = time.monotonic() + SILENT_SECONDS

    def _open(self) -> EventDispatcher:
        if self._dispatcher is None or self._dispatcher.pid != os.getpid():
            self._dispatcher = self._app.events.Dispatcher(
                impatient(self._app), hostname=self._hostname, buffer_while_offline=False
            )
        return self._dispatcher
