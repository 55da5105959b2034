"""Fixtures of the tests with worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workers.deployment import Deployment, deployment


@pytest.fixture
def deployed(postgres_url: str, redis_url: str, tmp_path: Path) -> Iterator[Deployment]:
    """PostgreSQL, Redis and a scheduler; the test starts the workers."""
    with deployment(postgres_url, redis_url, tmp_path) as started:
        yield started
