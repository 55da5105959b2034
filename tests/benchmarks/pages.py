"""The console at scale: the list of a million executions, a Map of 10,000, a history of 100,000.

The pages are asked for over HTTP, drawn and all; every figure is the median of five.
"""

from __future__ import annotations

import json
import statistics
import time
from typing import Final

import httpx
import psycopg

from orchestrator import main
from orchestrator.service import Orchestrator
from orchestrator.store import migrate
from tests.benchmarks.report import Figures
from tests.benchmarks.stage import Stage
from tests.calls.house import serving
from tests.servers import create_database, drop_database, libpq_url

EXECUTIONS: Final = 1_000_000
ITEMS: Final = 10_000
EVENTS: Final = 100_000
TURNS: Final = 5
PATIENCE_SECONDS: Final = 600.0
WAITS: Final = json.dumps(
    {"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 86_400, "End": True}}}
)
EACH: Final = json.dumps(
    {
        "StartAt": "Each",
        "States": {
            "Each": {
                "Type": "Map",
                "ItemsPath": "$.items",
                "End": True,
                "ItemProcessor": {
                    "StartAt": "Rests",
                    "States": {"Rests": {"Type": "Wait", "Seconds": 86_400, "End": True}},
                },
            }
        },
    }
)
LOOP: Final = json.dumps(
    {
        "QueryLanguage": "JSONata",
        "StartAt": "Count",
        "States": {
            "Count": {
                "Type": "Pass",
                "Output": {"n": "{% $states.input.n + 1 %}"},
                "Next": "Again",
            },
            "Again": {
                "Type": "Choice",
                "Choices": [
                    {"Condition": f"{{% $states.input.n < {EVENTS // 4} %}}", "Next": "Count"}
                ],
                "Default": "Over",
            },
            "Over": {"Type": "Succeed"},
        },
    }
)
LISTS: Final = {
    "list": "/",
    "list_of_machine": "/?machine=waits",
    "list_of_status": "/?status=RUNNING",
    "list_of_none": "/?machine=waits&status=FAILED",
    "list_of_state": "/?machine=waits&state=W",
    "list_by_name": "/?name=n4711",
    "list_far_down": "/?before=500000",
}


def run(stage: Stage, executions: int = EXECUTIONS, items: int = ITEMS) -> Figures:
    """Milliseconds per page."""
    url = create_database(stage.postgres.admin_url)
    text = url.render_as_string(hide_password=False)
    migrate(text)
    parts, ticks = main.scheduler(main.settings(text))
    ticks.start()
    try:
        service = parts.service
        for name, definition in (("waits", WAITS), ("each", EACH), ("loop", LOOP)):
            service.deploy(name, definition)
        each = service.start_execution("each", "each", json.dumps({"items": [0] * items})).address
        loop = service.start_execution("loop", "loop", '{"n": 0}').address
        _until_begun(service, each, items)
        _until_ended(service, loop)
        model = service.start_execution("waits", "model").id
        _copy(text, model, executions)
        pages = {**LISTS, "map": f"/executions/{each}", "events": f"/executions/{loop}"}
        pages["events_last"] = f"/executions/{loop}/history?after={EVENTS - 500}"
        with serving(parts) as address, httpx.Client(base_url=address, timeout=60) as client:
            return {f"{name}_ms": _asked(client, path) for name, path in pages.items()}
    finally:
        ticks.stop()
        parts.store.dispose()
        drop_database(stage.postgres.admin_url, url)


def _asked(client: httpx.Client, path: str) -> float:
    taken = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        client.get(path).raise_for_status()
        taken.append(1_000 * (time.perf_counter() - begun))
    return statistics.median(taken)


def _until_begun(service: Orchestrator, address: str, items: int) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while service.find_execution(address).next_event_id < 3 * items:
        assert time.monotonic() < until, "the Map has not begun"  # a benchmark
        time.sleep(0.5)


def _until_ended(service: Orchestrator, address: str) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while service.find_execution(address).ended_at is None:
        assert time.monotonic() < until, "the loop has not ended"  # a benchmark
        time.sleep(0.5)


def _copy(url: str, model: int, executions: int) -> None:
    """Copy one that waits so many times: ids are new, and names."""
    with psycopg.connect(libpq_url(url), autocommit=True) as connection:
        for table in ("executions", "frames"):
            key = "id" if table == "executions" else "execution"
            found = connection.execute(f"SELECT * FROM {table} LIMIT 0").description or ()  # noqa: S608
            changed = {key: "n", "name": "'n' || n"} if table == "executions" else {key: "n"}
            names = [column.name for column in found]
            picked = ", ".join(changed.get(name, f"model.{name}") for name in names)
            connection.execute(
                f"INSERT INTO {table} ({', '.join(names)}) SELECT {picked}"  # noqa: S608
                f" FROM {table} AS model, generate_series(1, {executions}) AS n"
                f" WHERE model.{key} = {model}".encode()
            )
        connection.execute("VACUUM ANALYZE")
