"""Fixtures of the tests with worker processes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.workers.deployment import STOCK, Deployment, Worker, deployment


@pytest.fixture
def deployed(postgres_url: str, redis_url: str, tmp_path: Path) -> Iterator[Deployment]:
    """PostgreSQL, Redis and a scheduler; the test starts the workers."""
    with deployment(postgres_url, redis_url, tmp_path) as started:
        yield started


JOIN = """
from orchestrator.main import join

join(app)
"""


@pytest.fixture
def shop_home(tmp_path: Path) -> Path:
    """A stock application that has joined."""
    home = tmp_path / "shop_home"
    shutil.copytree(STOCK, home)
    module = home / "shop" / "celery_app.py"
    module.write_text(module.read_text() + JOIN)
    return home


@pytest.fixture
def joined(deployed: Deployment, shop_home: Path) -> Callable[..., Worker]:
    """Starts workers of a stock application that has joined, on all its queues."""
    return partial(deployed.shop_worker, shop_home)
