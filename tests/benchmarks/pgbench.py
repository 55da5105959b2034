"""What PostgreSQL can do: pgbench with the INSERTs and UPDATEs of one step, eight clients."""

from __future__ import annotations

import re
import subprocess
from typing import Final

import psycopg

from orchestrator.engine import Start
from orchestrator.execution.payload import Payload
from tests.benchmarks.ends import PAYLOAD
from tests.benchmarks.meter import cpu_seconds
from tests.benchmarks.stage import Stage
from tests.benchmarks.w1 import Figures, ten

CLIENTS: Final = 8
SECONDS: Final = 5
EXECUTIONS: Final = 1_000

SCRIPT: Final = r"""
\set number random(1, 1000)
BEGIN;
UPDATE executions SET version = version + 1, next_event_id = next_event_id + 5,
    last_event_at = now(), status = 'RUNNING', phase = 'open'
    WHERE id = (SELECT execution FROM numbered WHERE number = :number);
UPDATE frames SET entry = entry + 5, last_event = last_event + 5, entered_at = now(),
    state = 'S' || :number % 10, token = encode(sha256(random()::text::bytea), 'hex'),
    key = gen_random_uuid(), claimed_by = 'worker', lease_until = now() + interval '30 s',
    deliveries = 1, data = data
    WHERE id = '' AND execution = (SELECT execution FROM numbered WHERE number = :number);
INSERT INTO history (execution, first_id, last_id, events)
    SELECT execution, nextval('events'), 1, events FROM numbered WHERE number = :number;
COMMIT;
"""


def run(stage: Stage) -> Figures:
    """One turn, on tables that our own engine has filled."""
    with stage.deployment(schedulers=0) as deployment:
        revision = deployment.parts.service.deploy("ten", ten("noop")).id
        deployment.parts.engine.start_many(
            [Start("ten", revision, f"e{n}", Payload.parse(PAYLOAD)) for n in range(EXECUTIONS)]
        )
        with psycopg.connect(deployment.libpq, autocommit=True) as connection:
            connection.execute("CREATE SEQUENCE events START 1000")
            connection.execute(
                "CREATE TABLE numbered AS SELECT row_number() OVER (ORDER BY execution) AS number,"
                " execution, events FROM history"
            )
            connection.execute("CREATE UNIQUE INDEX ON numbered (number)")
            connection.execute("ANALYZE")
        script = deployment.folder / "step.sql"
        script.write_text(SCRIPT)
        before = cpu_seconds(stage.postgres.pid)
        per_second = _pgbench(stage, deployment.libpq, str(script))
        cpu = cpu_seconds(stage.postgres.pid) - before
    steps = per_second * SECONDS
    return {"steps_per_s": per_second, "cpu_ms_per_step": 1_000 * cpu / steps}


def _pgbench(stage: Stage, database: str, script: str) -> float:
    done = subprocess.run(
        [
            stage.postgres.binaries / "pgbench",
            *("--no-vacuum", "--protocol", "prepared", "--client", str(CLIENTS), "--jobs", "2"),
            *("--time", str(SECONDS), "--file", script, database),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    if found is None:
        raise RuntimeError(done.stdout)
    return float(found[1])
