"""A whole deployment in one process over any database, and machines to race on."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from orchestrator import main
from orchestrator.dispatch.local import LocalBell, LocalWorker
from orchestrator.execution.call import Call
from orchestrator.main import Embedded, Parts
from orchestrator.service import Orchestrator
from orchestrator.store import Store


@dataclass
class Deployment:
    """The parts over one database; `threads` make calls at the same time."""

    parts: Parts

    @property
    def service(self) -> Orchestrator:
        return self.parts.service

    @property
    def store(self) -> Store:
        return self.parts.store

    def state(self, address: str) -> str | None:
        run = self.service.find_execution(address)
        if run.ended_at is not None:
            return run.final_state
        waits = self.service.execution_waits(address)
        return next((one.state for one in waits if not one.frame), None)

    def types(self, address: str) -> list[str]:
        return [event.type for event in self.service.whole_history(address)]

    def until(self, holds: Callable[[], bool], seconds: float = 60) -> None:
        limit = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < limit, "it did not come to pass"
            time.sleep(0.05)

    def sleep_until(self, at: datetime) -> None:
        """Sleep until a moment of the database's clock, as exactly as it goes."""
        left = (at - self.store.now()).total_seconds()
        if left > 0:
            time.sleep(left)


@contextmanager
def deployment(url: str, modules: Sequence[str] = ()) -> Iterator[Deployment]:
    """Engine, worker and scheduler over a database."""
    for module in modules:
        __import__(module)
    settings = main.settings(url).model_copy(update={"poll_seconds": 0.05})
    bell = LocalBell()
    parts, ticks = main.scheduler(settings, bell)
    with Embedded(parts, LocalWorker(parts, bell, settings), ticks):
        yield Deployment(parts)


@contextmanager
def without_scheduler(url: str, modules: Sequence[str]) -> Iterator[Deployment]:
    """Engine and worker over a database whose moments somebody else looks after."""
    for module in modules:
        __import__(module)
    settings = main.settings(url)
    bell = LocalBell()
    parts = main.build(settings, bell)
    worker = LocalWorker(parts, bell, settings)
    worker.start()
    try:
        yield Deployment(parts)
    finally:
        worker.stop()
        parts.store.dispose()


def at_once(work: Sequence[Callable[[], None]]) -> None:
    """Do things at the same time, each in its thread; the first error is raised."""
    errors: list[BaseException] = []

    def run(one: Callable[[], None]) -> None:
        try:
            one()
        except BaseException as error:  # noqa: BLE001  # it is raised below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def verdict(call: Call) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(call.said)
    return said


class Aim:
    """When calls are made that race with timers: both sides are to win, whatever the machine.

    It is moved by every race, towards the side that wins less often than its share.
    """

    def __init__(self, seed: int, calls_per_timer: int) -> None:
        self._chance = random.Random(seed)
        self._step = timedelta(milliseconds=1)
        self._weight = calls_per_timer
        self._offset = timedelta()

    def at(self, fires_at: datetime) -> datetime:
        """A moment within 20 ms."""
        return fires_at + self._offset + timedelta(seconds=self._chance.uniform(-0.01, 0.01))

    def learn(self, *, timer_won: bool) -> None:
        """Aim earlier if the timer has won, later if it has lost."""
        self._offset += -self._weight * self._step if timer_won else self._step


RACE = json.dumps(
    {
        "Calls": {"go": {}},
        "StartAt": "A",
        "States": {
            "A": {
                "Type": "Await",
                "On": {"go": {"Next": "Called"}},
                "After": [{"TimestampPath": "$.at", "Next": "Fired"}],
            },
            "Called": {"Type": "Succeed", "On": {"go": {"Refuse": "called"}}},
            "Fired": {"Type": "Succeed", "On": {"go": {"Refuse": "fired"}}},
        },
    }
)
"""A call and a timer that both lead away, the timer at a moment of the input."""
