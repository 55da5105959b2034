from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.stage import Stage, staged


@pytest.fixture
def stage(database_url: str) -> Iterator[Stage]:
    """A server over SQLite and over PostgreSQL, in turn."""
    with staged(database_url) as served:
        yield served


@pytest.fixture
def on_sqlite(sqlite_url: str) -> Iterator[Stage]:
    """A server over SQLite, where the database makes no difference."""
    with staged(sqlite_url) as served:
        yield served
