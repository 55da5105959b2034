"""The console at scale: the list of a million executions, a Map of 10,000, a history of 100,000.

One of each is made by the engine, and copied in the database to its size.
The pages are asked for over HTTP, drawn and all; every figure is the median of five. The large ones
are opened and clicked through in Chromium as well, where there is one.
"""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import replace
from typing import Final, TypeAlias

import httpx
import psycopg

from orchestrator import main
from orchestrator.execution.history import HistoryEvent, encode
from orchestrator.store import migrate
from tests.benchmarks.browsing import browsed
from tests.benchmarks.report import Figures
from tests.benchmarks.stage import Stage
from tests.calls.house import serving
from tests.servers import create_database, drop_database, libpq_url
from tests.web.maps import over_items

EXECUTIONS: Final = 1_000_000
ITEMS: Final = 10_000
EVENTS: Final = 100_000
TURNS: Final = 5
MADE: Final = 40
"""Iterations that the engine makes."""
FORK: Final = 3
"""The event that opens the Map."""
WAITS: Final = json.dumps(
    {"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 86_400, "End": True}}}
)
EACH: Final = json.dumps(over_items({"Rests": {"Type": "Wait", "Seconds": 86_400, "End": True}}))
LISTS: Final = {
    "list": "/",
    "list_of_machine": "/?machine=waits",
    "list_of_status": "/?status=RUNNING",
    "list_of_none": "/?machine=waits&status=FAILED",
    "list_of_state": "/?machine=waits&state=W",
    "list_by_name": "/?name=n4711",
    "list_far_down": "/?before=500000",
}


HOLDS: Final = {
    "list_of_none": "No execution agrees",
    "list_by_name": ">n4711</a>",
    "map": "10\u202f000 waiting",
    "events": "History, 100\u202f",
    "events_last": "MapIterationStarted",
}
"""What stands on a page if the database is as it should be."""


class NotAsMade(Exception):
    """A page does not show what was put into the database."""


def run(stage: Stage, executions: int = EXECUTIONS) -> Figures:
    """Milliseconds per page."""
    url = create_database(stage.postgres.admin_url)
    text = url.render_as_string(hide_password=False)
    migrate(text)
    parts = main.build(main.settings(text))
    try:
        service = parts.service
        service.deploy("waits", WAITS)
        service.deploy("each", EACH)
        each = service.start_execution("each", "each", json.dumps({"items": [0] * MADE}))
        long = service.start_execution("each", "long", json.dumps({"items": [0] * MADE}))
        model = service.start_execution("waits", "model")
        with psycopg.connect(libpq_url(text), autocommit=True) as connection:
            _widen(connection, each.id, ITEMS)
            _lengthen(connection, long.id, service.whole_history(long.address))
            for table in ("executions", "frames"):
                _copy(connection, table, model.id, executions)
            connection.execute("VACUUM ANALYZE")
        pages = {**LISTS, "map": f"/executions/{each.address}"}
        pages["events"] = f"/executions/{long.address}"
        pages["events_last"] = f"/executions/{long.address}/history?after={EVENTS - 500}"
        with serving(parts) as address, httpx.Client(base_url=address, timeout=60) as client:
            for name, text in {**HOLDS, "list": f">n{executions}</a>"}.items():
                if text not in client.get(pages[name]).text:
                    raise NotAsMade(f"{pages[name]} does not show {text!r}")
            figures = {f"{name}_ms": _asked(client, path) for name, path in pages.items()}
            figures |= browsed(address, pages)
        return figures | {"list_worst_ms": max(figures[f"{name}_ms"] for name in LISTS)}
    finally:
        parts.store.dispose()
        drop_database(stage.postgres.admin_url, url)


def _asked(client: httpx.Client, path: str) -> float:
    taken = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        client.get(path).raise_for_status()
        taken.append(1_000 * (time.perf_counter() - begun))
    return statistics.median(taken)


_Connection: TypeAlias = "psycopg.Connection[tuple[object, ...]]"


def _widen(connection: _Connection, execution: int, items: int) -> None:
    """Give a Map so many iterations that wait, like its last one."""
    model = f"/{FORK}.{MADE - 1}"
    _insert(
        connection,
        "frames",
        {"id": f"'/{FORK}.' || n"},
        f"model.execution = {execution} AND model.id = '{model}'",
        range(MADE, items),
    )
    for statement in (
        f"UPDATE forks SET total = {items}, admitted = {items} WHERE execution = {execution}",  # noqa: S608
        f"UPDATE executions SET frames = {items + 1} WHERE id = {execution}",  # noqa: S608
    ):
        connection.execute(statement.encode())


def _lengthen(connection: _Connection, execution: int, events: list[HistoryEvent]) -> None:
    """Let a history go on with copies of what it holds, 100 events a row."""
    first = events[-1].id + 1
    with connection.cursor().copy(
        "COPY history (execution, first_id, last_id, events) FROM STDIN"
    ) as rows:
        while first < EVENTS:
            copied = [
                replace(event, id=first + n, previous_id=first + n - 1)
                for n, event in enumerate(events[1:101])
            ]
            rows.write_row((execution, first, copied[-1].id, encode(copied)))
            first = copied[-1].id + 1
    statement = f"UPDATE executions SET next_event_id = {first} WHERE id = {execution}"  # noqa: S608
    connection.execute(statement.encode())


def _copy(connection: _Connection, table: str, model: int, executions: int) -> None:
    """Copy one that waits so many times: ids are new, and names."""
    key = "id" if table == "executions" else "execution"
    changed = {key: "n", "name": "'n' || n"} if table == "executions" else {key: "n"}
    _insert(connection, table, changed, f"model.{key} = {model}", range(1, executions + 1))


def _insert(
    connection: _Connection, table: str, changed: dict[str, str], where: str, numbers: range
) -> None:
    found = connection.execute(f"SELECT * FROM {table} LIMIT 0").description or ()  # noqa: S608
    names = [column.name for column in found]
    picked = ", ".join(changed.get(name, f"model.{name}") for name in names)
    connection.execute(
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {picked} FROM {table} AS model,"  # noqa: S608
        f" generate_series({numbers.start}, {numbers.stop - 1}) AS n WHERE {where}".encode()
    )
