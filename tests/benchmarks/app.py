"""The Celery application of the benchmark's workers: handlers that do nothing, or sleep."""

from __future__ import annotations

import threading
import time
from typing import Final

import psycopg
import redis
from celery import Celery

from orchestrator.asl.document import Json
from orchestrator.dispatch.celery import CONFIGURATION
from orchestrator.handlers import TaskContext, handler
from orchestrator.main import join
from orchestrator.settings import Settings
from tests.benchmarks import counting
from tests.servers import libpq_url

NAP_SECONDS: Final = 0.02
QUEUES: Final = ("bench", *(f"bench{n}" for n in range(10)))

counting.install()
settings = Settings()
app = Celery("benchmark", broker=settings.broker_url)
app.conf.update(CONFIGURATION)
app.conf.task_queues = {queue: {"routing_key": queue} for queue in QUEUES}
app.conf.task_default_queue = "bench"
app.conf.task_routes = {f"noop{n}": {"queue": f"bench{n}"} for n in range(10)}

_here = threading.local()


@handler("noop")
def noop(event: Json) -> Json:
    """Hand on what came."""
    return event


for number in range(10):
    handler(f"noop{number}")(noop)


@handler("nap")
def nap(event: Json, context: TaskContext) -> Json:
    """Take 20 ms and note, in Redis, that this step was run."""
    time.sleep(NAP_SECONDS)
    if not hasattr(_here, "redis"):
        _here.redis = redis.Redis.from_url(settings.broker_url or "")
    _here.redis.incr(f"ran:{context.execution}:{context.state}")
    return event


class NotCommitted(Exception):
    """A handler runs although the commit that made its task is not there."""


@handler("witness")
def witness(event: Json, context: TaskContext) -> Json:
    """Read through a connection of its own that the commit of the task before is there."""
    if not hasattr(_here, "database"):
        _here.database = psycopg.connect(libpq_url(settings.database_url), autocommit=True)
    found = _here.database.execute(
        "SELECT 1 FROM frames f JOIN executions e ON e.id = f.execution"
        " WHERE e.machine = %s AND e.name = %s AND f.state = %s AND f.key = %s"
        " AND f.claimed_by IS NOT NULL",
        (context.machine, context.execution, context.state, context.key),
    ).fetchone()
    if found is None:
        raise NotCommitted(context.state)
    return event


join(app, settings)
