"""A database full of what was, against an empty one on the same server, in turns."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Final

import psycopg

from orchestrator.store import migrate
from tests.benchmarks import w1, w3
from tests.benchmarks.ends import PAYLOAD, on_postgres
from tests.benchmarks.stage import Stage
from tests.benchmarks.w1 import Figures
from tests.servers import create_database, drop_database, libpq_url

ENDED: Final = 1_000_000
PARKED: Final = 100_000
HISTORY_ROWS: Final = 3
TURNS: Final = 5
TIMERS: Final = 2_000


def run(stage: Stage, ended: int = ENDED, parked: int = PARKED) -> Figures:
    """W1 and timers, five turns on each; a ratio above 1 means that the full one is dearer."""
    url = create_database(stage.postgres.admin_url)
    text = url.render_as_string(hide_password=False)
    migrate(text)
    _fill(stage, text, ended, parked)
    shape = w1.SHAPES["W1"]
    step: dict[str, list[float]] = {"empty": [], "full": []}
    late: dict[str, list[float]] = {"empty": [], "full": []}
    turns: dict[str, str | None] = {"empty": None, "full": text}
    for number in range(TURNS):
        for name in sorted(turns, reverse=number % 2 == 0):
            figures = w1.run(stage, replace(shape, database=turns[name]))
            step[name].append(figures["cpu_ms_per_step"])
            timers = w3.run(stage, TIMERS, database=turns[name])
            late[name].append(timers["p50_ms"])
    drop_database(stage.postgres.admin_url, url)
    cpu = {name: statistics.median(values) for name, values in step.items()}
    lateness = {name: statistics.median(values) for name, values in late.items()}
    return {
        "cpu_ratio": cpu["full"] / cpu["empty"],
        "late_ratio": lateness["full"] / lateness["empty"],
        **{f"cpu_ms_per_step_{name}": value for name, value in cpu.items()},
        **{f"late_p50_ms_{name}": value for name, value in lateness.items()},
    }


def _fill(stage: Stage, url: str, ended: int, parked: int) -> None:
    """Copy one execution that has ended, and one that waits for a day, so many times."""
    with stage.deployment(w1.THREADS, database=url) as deployment:
        service = deployment.parts.service
        service.deploy("ten", w1.ten("noop"))
        service.deploy("wait", w3.machine(86_400))
        with on_postgres(deployment.libpq, w1.LOOK_SECONDS) as ends:
            over = service.start_execution("ten", input=PAYLOAD).id
            ends.wait(over)
        waits = service.start_execution("wait", input=PAYLOAD).id
    with psycopg.connect(libpq_url(url), autocommit=True) as connection:
        connection.execute(
            "DELETE FROM history WHERE execution = %s AND first_id NOT IN (SELECT first_id"
            " FROM history WHERE execution = %s ORDER BY first_id LIMIT %s)",
            (over, over, HISTORY_ROWS),
        )
        for model, copies, first in ((over, ended, 1), (waits, parked, ended + 1)):
            for table in ("executions", "documents", "history", "frames"):
                _copy(connection, table, model, range(first, first + copies))
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def _copy(
    connection: psycopg.Connection[tuple[object, ...]], table: str, model: int, ids: range
) -> None:
    """Copy a model's rows of a table: the ids are new, and the names of executions."""
    key = "id" if table == "executions" else "execution"
    changed = {key: "n", "name": "'n' || n"} if table == "executions" else {key: "n"}
    found = connection.execute(f"SELECT * FROM {table} LIMIT 0").description or ()  # noqa: S608
    names = [column.name for column in found]
    picked = ", ".join(changed.get(name, f"model.{name}") for name in names)
    statement = (
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {picked}"  # noqa: S608  # our own names
        f" FROM {table} AS model, generate_series({ids.start}, {ids.stop - 1}) AS n"
        f" WHERE model.{key} = {model}"
    )
    connection.execute(statement.encode())
