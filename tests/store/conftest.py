from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.store import Store


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """A store on a fresh database, SQLite and PostgreSQL in turn."""
    store = Store(database_url, lease_seconds=30.0)
    yield store
    store.dispose()


@pytest.fixture
def other(database_url: str) -> Iterator[Store]:
    """The same database with connections of its own, as another process would have."""
    store = Store(database_url)
    yield store
    store.dispose()
