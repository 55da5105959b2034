"""Applications and pools that cannot serve say so before they begin."""

from __future__ import annotations

import pytest
from celery import Celery

from orchestrator.dispatch.celery import UnsuitableApplication, check
from tests.workers.deployment import Deployment


@pytest.mark.parametrize("pool", ["gevent", "<class 'celery.concurrency.eventlet.TaskPool'>"])
def test_green_threads_are_refused(pool: str) -> None:
    with pytest.raises(UnsuitableApplication, match="prefork, threads, solo"):
        check(Celery(set_as_current=False), pool)


def test_an_application_that_accepts_no_json_is_refused() -> None:
    app = Celery(set_as_current=False)
    app.conf.accept_content = ["msgpack"]
    with pytest.raises(UnsuitableApplication, match="accept_content"):
        check(app, "prefork")


def test_every_usual_pool_is_accepted() -> None:
    for pool in ("prefork", "threads", "solo"):
        check(Celery(set_as_current=False), pool)


def test_a_worker_that_cannot_serve_ends_and_says_why(deployed: Deployment) -> None:
    (deployed.folder / "binary.py").write_text(
        "import os\n"
        "from celery import Celery\n"
        "from orchestrator.main import join\n"
        "app = Celery(broker=os.environ['ORCHESTRATOR_BROKER_URL'])\n"
        "app.conf.accept_content = ['yaml']\n"
        "join(app)\n"
    )
    worker = deployed.worker("--pool", "solo", app="binary", cwd=deployed.folder)
    assert worker.process.wait(30) != 0
    assert "this worker cannot serve the engine: bells are JSON" in worker.log
