"""Databases of earlier releases are kept, and this release goes on with what rests in them."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command

from orchestrator.engine import Children
from orchestrator.store import Announcement, migrate
from orchestrator.store.schema import _config, newest
from tests.engine.pump import QUEUE, WORKER, Pump
from tests.robustness.upgrade import FIXTURES, MACHINES, POSTGRES, SQLITE, starts_of

RELEASES = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
ENDS = dict.fromkeys(MACHINES, "SUCCEEDED") | {
    "failed": "FAILED",
    "aborted": "ABORTED",
    "deadline": "TIMED_OUT",
}


def _postgres(url: str, release: str) -> None:
    """Make the schema of that release, and fill in its rows."""
    engine = sa.create_engine(url)
    rows = json.loads((FIXTURES / release / POSTGRES).read_text())
    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, release)
        tables = sa.MetaData()
        tables.reflect(connection)
        for name, ones in rows.items():
            for row in ones:
                values = {column: _value(value) for column, value in row.items()}
                connection.execute(sa.insert(tables.tables[name]).values(values))
    engine.dispose()


def _value(value: Any) -> Any:
    match value:
        case {"moment": str(text)}:
            return datetime.fromisoformat(text)
        case _:
            return value


@pytest.fixture(params=["sqlite", "postgres"])
def restored(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], str]:
    def restore(release: str) -> str:
        if request.param == "postgres":
            url = str(request.getfixturevalue("empty_postgres_url"))
            _postgres(url, release)
            return url
        path = tmp_path / SQLITE
        shutil.copyfile(FIXTURES / release / SQLITE, path)
        return f"sqlite:///{path}"

    return restore


def test_there_is_a_fixture_of_the_first_release_that_failures_can_hit() -> None:
    assert "0005" in RELEASES
    assert all(release <= newest() for release in RELEASES)


@pytest.mark.parametrize("release", RELEASES)
def test_what_rests_in_an_earlier_database_goes_on_to_its_end(
    restored: Callable[[str], str], release: str
) -> None:
    url = restored(release)
    migrate(url)
    with Pump(url) as pump:
        pump.store.announce(WORKER, {"celery:later": Announcement(QUEUE)})
        _go_on(pump)
        operations = pump.service.operations
        there = {run.machine for run in pump.service.list_executions(limit=100)}
        assert there <= ENDS.keys()
        assert there >= ENDS.keys() or release < newest()
        for name, status in ENDS.items():
            if name not in there:
                continue
            address = f"{name}:one"
            assert pump.service.describe_execution(address).execution.status == status, name
            assert operations.verify_execution(address) == (), name
        kept = pump.service.describe_execution("kept:one").output
        assert kept is not None
        assert kept.value == "kept"
        once = pump.service.describe_execution("once:one").output
        assert once is not None
        assert "Task.WorkerLost" in once.text
        if "called" in there:
            _was_heard(pump)


def _was_heard(pump: Pump) -> None:
    """What was called before the upgrade is answered as before, or gets its verdict after it."""
    calls = {call.id: call for call in pump.service.execution_calls("called:one")}
    assert {number: call.verdict for number, call in calls.items()} == {
        "refused": "refused",
        "kept": "accepted",
    }
    effects = pump.service.execution_effects("called:one")
    assert [effect.status for effect in effects] == ["ended"] * 3


def _go_on(pump: Pump) -> None:
    until = time.monotonic() + 20.0
    starts = starts_of(pump)
    children = Children(pump.store, pump.engine, pump.store.scope)
    while _goes_on(pump):
        assert time.monotonic() < until
        starts.tick()
        children.tick()
        pump.engine.handle_many(pump.store.lapse(100).lost)
        pump.store.assign_queues()
        while pump.turn():
            pass
        for claim in pump.store.claim(WORKER, [QUEUE], {"celery:later"}, limit=10):
            pump.engine.handle_many([pump._result(claim)])  # noqa: SLF001 - of the test's own kind
        time.sleep(0.05)


def _goes_on(pump: Pump) -> bool:
    runs = pump.service.list_executions(limit=100)
    effects = [effect for run in runs for effect in pump.store.effects(run.id)]
    unended = any(effect.status in ("pending", "resting") for effect in effects)
    return unended or any(pump.store.frames(run.id) for run in runs)
