"""News between processes: told, heard, and heard again after a listener has lost its connection."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from sqlalchemy import create_engine, text
from structlog.testing import capture_logs

from orchestrator.store import Store, news

_LISTENERS = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND query LIKE 'LISTEN%'"
)


def until(there: Callable[[], object]) -> None:
    limit_at = time.monotonic() + 20
    while not there():
        assert time.monotonic() < limit_at
        time.sleep(0.02)


def test_a_listener_that_loses_its_connection_twice_says_so_twice_and_hears_again(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(news, "LOOK_SECONDS", 0.05)
    heard: list[str | None] = []
    store = Store(postgres_url)
    killer = create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with capture_logs() as logs:
        silence = store.listen(heard.append)
        until(lambda: heard == [None])
        for times in (2, 3):
            with killer.connect() as connection:
                assert connection.execute(_LISTENERS).scalars().all() == [True]
            until(lambda: heard.count(None) == times)  # noqa: B023  # it ends in this turn
        store.tell(["topic"])
        until(lambda: "topic" in heard)
        silence()
    killer.dispose()
    store.dispose()
    said = [one["event"] for one in logs if "news" in one["event"]]
    lost, back = "no news from the database, trying again", "there is news from the database again"
    assert said == [lost, back] * 2
    assert caplog.text == ""  # a pool that takes back what is lost tells of it with a traceback
