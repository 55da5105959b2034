"""W5: a hundred executions of ten steps of 20 ms, two workers, one of them killed."""

from __future__ import annotations

import time

import psycopg

from tests.benchmarks.ends import PAYLOAD
from tests.benchmarks.stage import Deployment, Plan, Stage
from tests.benchmarks.w1 import Figures, ten
from tests.servers import connect_redis

EXECUTIONS = 100
ENDED_BEFORE = 30
SLOTS = 8
LIMIT_SECONDS = 60.0
PLAN = Plan(slots=SLOTS)


def run(stage: Stage) -> Figures:
    """One turn; what a worker has begun counts only while it lives."""
    with stage.deployment((PLAN, PLAN)) as deployment:
        service = deployment.parts.service
        service.deploy("ten", ten("nap"))
        for _ in range(EXECUTIONS):
            service.start_execution("ten", input=PAYLOAD)
        _ended(deployment, ENDED_BEFORE)
        deployment.kill("worker0")
        killed = time.perf_counter()
        ended = _ended(deployment, EXECUTIONS)
        seconds = time.perf_counter() - killed
        with connect_redis(deployment.broker_url) as client:
            ran = [int(client.get(key) or 0) for key in client.scan_iter("ran:*", count=1_000)]
    return {
        "seconds_to_the_last_end": seconds,
        "stuck": float(EXECUTIONS - ended),
        "steps_run_twice": float(sum(times > 1 for times in ran)),
        "steps_not_run": float(EXECUTIONS * 10 - len(ran)),
    }


def _ended(deployment: Deployment, wanted: int) -> int:
    limit_at = time.monotonic() + LIMIT_SECONDS
    ended = 0
    with psycopg.connect(deployment.libpq, autocommit=True) as connection:
        while ended < wanted and time.monotonic() < limit_at:
            time.sleep(0.02)
            row = connection.execute(
                "SELECT count(*) FROM executions WHERE status = 'SUCCEEDED'"
            ).fetchone()
            ended = row[0] if row else 0
    return ended
