"""The client's side: executions are started, and their ends noticed in the database."""

from __future__ import annotations

import json
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import psycopg

from orchestrator.service import Orchestrator

END_SECONDS: Final = 120.0
PAYLOAD: Final = json.dumps(
    {
        "orderId": "ord-000000000001",
        "customer": {"id": 4711, "tier": "gold"},
        "items": [
            {"sku": "SKU-1", "qty": 2, "price": 19.99},
            {"sku": "SKU-2", "qty": 1, "price": 5.0},
        ],
        "note": "x" * 18,
    }
)
"""About 200 bytes."""


class NotSucceeded(Exception):
    """An execution of the benchmark ended otherwise, or not at all."""


Look = Callable[[list[int]], list[tuple[int, str]]]
"""Returns those of these executions that have ended, each with its status."""


class Ends:
    """Notices ends, of all that are waited for at once."""

    def __init__(self, look: Look, pause_seconds: float) -> None:
        self._ended = look
        self._pause_seconds = pause_seconds
        self._waited: dict[int, tuple[threading.Event, list[str]]] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def wait(self, execution: int) -> None:
        """Wait until an execution has ended; raises NotSucceeded."""
        ended, status = threading.Event(), list[str]()
        with self._lock:
            self._waited[execution] = ended, status
        if not ended.wait(END_SECONDS) or status != ["SUCCEEDED"]:
            raise NotSucceeded(f"execution {execution}: {status or 'has not ended'}")

    @contextmanager
    def noticed(self) -> Iterator[Ends]:
        """Look while the block runs."""
        self._thread.start()
        try:
            yield self
        finally:
            self._over.set()
            self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(self._pause_seconds):
            with self._lock:
                ids = list(self._waited)
            for execution, status in self._ended(ids) if ids else ():
                with self._lock:
                    ended, answer = self._waited.pop(execution)
                answer.append(status)
                ended.set()


@contextmanager
def on_postgres(database: str, pause_seconds: float) -> Iterator[Ends]:
    """Notice ends, in a transaction that stays open: it costs no commits."""
    with psycopg.connect(database) as connection:

        def look(ids: list[int]) -> list[tuple[int, str]]:
            return connection.execute(
                "SELECT id, status FROM executions WHERE id = ANY(%s) AND ended_at IS NOT NULL",
                (ids,),
            ).fetchall()

        with Ends(look, pause_seconds).noticed() as ends:
            yield ends


@contextmanager
def on_sqlite(path: Path, pause_seconds: float) -> Iterator[Ends]:
    """Notice ends."""
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:

        def look(ids: list[int]) -> list[tuple[int, str]]:
            return connection.execute(
                "SELECT id, status FROM executions WHERE ended_at IS NOT NULL"
                " AND id IN (SELECT value FROM json_each(?))",
                (json.dumps(ids),),
            ).fetchall()

        with Ends(look, pause_seconds).noticed() as ends:
            yield ends


def run_through(service: Orchestrator, ends: Ends, machine: str) -> Callable[[int], None]:
    """What one turn of the closed loop does: start an execution and wait for its end."""

    def run(_number: int) -> None:
        ends.wait(service.start_execution(machine, input=PAYLOAD).id)

    return run


def closed_loop(run: Callable[[int], None], executions: int, in_flight: int) -> list[float]:
    """Run so many executions, so many at a time; how many seconds each took."""
    numbers: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(executions):
        numbers.put(number)
    seconds: list[float] = []
    failures: list[Exception] = []

    def work() -> None:
        while True:
            try:
                number = numbers.get_nowait()
            except queue.Empty:
                return
            begun = time.perf_counter()
            try:
                run(number)
            except Exception as failure:  # noqa: BLE001  # it is raised again by the loop
                failures.append(failure)
                return
            seconds.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(in_flight)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return seconds
