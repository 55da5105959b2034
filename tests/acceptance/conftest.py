"""Fixtures of the acceptance tests: whole deployments on servers of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.cluster import Cluster, cluster


@pytest.fixture
def deployed(postgres_url: str, redis_url: str, tmp_path: Path) -> Iterator[Cluster]:
    """A cluster on PostgreSQL and Redis; the test starts its processes."""
    with cluster(tmp_path, postgres_url, redis_url) as made:
        yield made
