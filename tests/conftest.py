"""Fixtures for all tests: fresh databases and brokers on real servers, and the shared data.

Servers come from the environment (TEST_DATABASE_URL, TEST_REDIS_URL), else from the wheels that
pip installed, else from the system. Without any, a test is skipped and says so; with CI=true it
fails. Each pytest-xdist worker has servers of its own.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from sqlalchemy.engine import URL, make_url

from tests.servers import (
    REDIS_DATABASES,
    PostgresServer,
    RedisServer,
    ServerUnavailable,
    connect_redis,
    create_database,
    drop_database,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent


def _go_without(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def _migrate(url: str) -> None:
    from orchestrator.store import migrate

    migrate(url)


def _text(url: URL) -> str:
    return url.render_as_string(hide_password=False)


@pytest.fixture(autouse=True)
def _no_ledger_stays_open() -> Iterator[None]:
    """Sample handlers that ran in the test's own process have opened a ledger there."""
    yield
    if ledger := sys.modules.get("workers.ledger"):
        ledger.close()


# --------------------------------------------------------------------------------- PostgreSQL


@pytest.fixture(scope="session")
def postgres_admin_url() -> Iterator[URL]:
    """The URL by which databases are made and dropped, on a server that the session shares."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        yield make_url(given).set(drivername="postgresql+psycopg")
        return
    try:
        server = PostgresServer()
        server.start()
    except ServerUnavailable as reason:
        _go_without(f"nothing was tested on PostgreSQL: {reason}")
    yield server.admin_url
    server.remove()


@pytest.fixture(scope="session")
def postgres_template(postgres_admin_url: URL) -> Iterator[URL]:
    """A migrated database to copy."""
    url = create_database(postgres_admin_url)
    _migrate(_text(url))
    yield url
    drop_database(postgres_admin_url, url)


@pytest.fixture
def empty_postgres_url(postgres_admin_url: URL) -> Iterator[str]:
    """A fresh PostgreSQL database without tables."""
    url = create_database(postgres_admin_url)
    yield _text(url)
    drop_database(postgres_admin_url, url)


@pytest.fixture
def postgres_url(postgres_admin_url: URL, postgres_template: URL) -> Iterator[str]:
    """A fresh PostgreSQL database with the tables of this release."""
    url = create_database(postgres_admin_url, template=postgres_template)
    yield _text(url)
    drop_database(postgres_admin_url, url)


@pytest.fixture
def start_postgres() -> Iterator[Callable[..., PostgresServer]]:
    """Starts PostgreSQL servers that a test may stop and start; they go with the test."""
    servers: list[PostgresServer] = []

    def start(*settings: str) -> PostgresServer:
        try:
            server = PostgresServer(settings=settings)
            servers.append(server)
            server.start()
        except ServerUnavailable as reason:
            _go_without(f"nothing was tested on a PostgreSQL of its own: {reason}")
        return server

    yield start
    for server in servers:
        server.remove()


# ------------------------------------------------------------------------------------- SQLite


@pytest.fixture
def empty_sqlite_url(tmp_path: Path) -> str:
    """A SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'empty.db'}"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """A fresh SQLite file with the tables of this release."""
    path = tmp_path / "orchestrator.db"
    source, target = sqlite3.connect(sqlite_template), sqlite3.connect(path)
    source.backup(target)
    source.close()
    target.close()
    return f"sqlite:///{path}"


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A fresh database with tables: the test runs on SQLite and on PostgreSQL."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture(params=["sqlite", "postgres"])
def empty_database_url(request: pytest.FixtureRequest) -> str:
    """A fresh database without tables: the test runs on SQLite and on PostgreSQL."""
    return str(request.getfixturevalue(f"empty_{request.param}_url"))


# ------------------------------------------------------------------------------------ Chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless Chromium, shared by the tests of a file."""
    from tests.web.browser import chromium, started

    path = chromium()
    if path is None:
        _go_without("nothing was tested in a browser: there is no chromium on the PATH")
    with started(path) as found:
        yield found


# -------------------------------------------------------------------------------------- Redis


@pytest.fixture(scope="session")
def redis_urls() -> Iterator[Iterator[str]]:
    """The URLs of logical databases, one after the other, on a server that the session shares."""
    given = os.environ.get("TEST_REDIS_URL")
    if given:
        yield itertools.repeat(given)
        return
    try:
        server = RedisServer()
        server.start()
    except ServerUnavailable as reason:
        _go_without(f"nothing was tested on Redis: {reason}")
    yield (server.url(number) for number in itertools.cycle(range(REDIS_DATABASES)))
    server.remove()


@pytest.fixture
def redis_url(redis_urls: Iterator[str]) -> Iterator[str]:
    """An empty logical database of a Redis server."""
    url = next(redis_urls)
    with connect_redis(url) as client:
        client.flushdb()
    yield url
    with connect_redis(url) as client:
        client.flushdb()


@pytest.fixture
def start_redis() -> Iterator[Callable[[], RedisServer]]:
    """Starts Redis servers that a test may kill, flush and start; they go with the test."""
    servers: list[RedisServer] = []

    def start() -> RedisServer:
        try:
            server = RedisServer()
            servers.append(server)
            server.start()
        except ServerUnavailable as reason:
            _go_without(f"nothing was tested on a Redis of its own: {reason}")
        return server

    yield start
    for server in servers:
        server.remove()


@pytest.fixture
def redis_server(start_redis: Callable[[], RedisServer]) -> RedisServer:
    """A Redis server of the test's own, started."""
    return start_redis()


@pytest.fixture
def postgres_server(start_postgres: Callable[..., PostgresServer]) -> PostgresServer:
    """A PostgreSQL server of the test's own, started, with no database but its first."""
    return start_postgres()


# ---------------------------------------------------------------------------------- the data


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of third-party data: SHARED in the environment, else `shared` beside us."""
    path = Path(os.environ.get("SHARED") or ROOT.parent / "shared")
    if not path.is_dir():
        _go_without(f"nothing was tested against the third-party data: {path} is no folder")
    return path
