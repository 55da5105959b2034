"""A Celery application of small handlers: `celery -A tests.acceptance.trial_worker worker -Q left`.

Where COUNTING_FILE is set, its workers count their statements.
"""

from __future__ import annotations

import os
import time

from celery import Celery

from orchestrator.dispatch.celery import CONFIGURATION
from orchestrator.handlers import handler
from orchestrator.main import join
from tests.acceptance.counting import FILE, count_into

if FILE in os.environ:
    count_into(os.environ[FILE], "worker")

app = Celery("trial", broker=os.environ["ORCHESTRATOR_BROKER_URL"])
app.conf.update(CONFIGURATION)
app.conf.task_queues = {side: {"routing_key": side} for side in ("left", "right")}
app.conf.task_default_queue = "left"
app.conf.task_routes = {f"{side}.*": {"queue": side} for side in ("left", "right")}
join(app)


@handler("left.echo")
@handler("right.echo")
def echo(event: object) -> object:
    """Give back what came."""
    return event


@handler("left.nap")
def nap(event: object) -> object:
    """Give back what came, after a moment."""
    time.sleep(0.1)
    return event


@handler("left.strange")
def strange(event: object) -> object:
    """Return what no JSON can say."""
    return {"set": {event}, "nan": float("nan")}
