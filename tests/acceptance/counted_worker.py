"""A Celery application that counts: `celery -A tests.acceptance.counted_worker worker -Q left`."""

from __future__ import annotations

import os

from celery import Celery

from orchestrator.dispatch.celery import CONFIGURATION
from orchestrator.handlers import handler
from orchestrator.main import join
from tests.acceptance.counting import FILE, count_into

count_into(os.environ[FILE], "worker")

app = Celery("counted", broker=os.environ["ORCHESTRATOR_BROKER_URL"])
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
