"""The Celery application: `celery -A workers.app worker`; `-Q payments` serves one domain."""

from __future__ import annotations

from typing import Final

from celery import Celery

import workers
from orchestrator.dispatch.celery import CONFIGURATION
from orchestrator.main import join
from orchestrator.settings import Settings

DOMAINS: Final = tuple(workers.__all__)
"""Each domain is a queue, so that it can have workers of its own."""

settings = Settings()
app = Celery("workers", broker=settings.broker_url)
app.conf.update(CONFIGURATION)
app.conf.task_queues = {domain: {"routing_key": domain} for domain in DOMAINS}
app.conf.task_default_queue = "payments"
app.conf.task_routes = {f"{domain}.*": {"queue": domain} for domain in DOMAINS}
join(app, settings)
