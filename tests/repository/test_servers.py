"""The servers that all other tests stand on are real, fresh, durable and mortal."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
import redis

from tests.servers import PostgresServer, RedisServer, connect_redis, libpq_url

ROOT = Path(__file__).resolve().parents[2]


def test_postgres_runs_with_durable_settings(empty_postgres_url: str) -> None:
    with psycopg.connect(libpq_url(empty_postgres_url)) as connection:
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            row = connection.execute(f"SHOW {name}".encode()).fetchone()
            assert row == ("on",)


@pytest.mark.parametrize("_again", [1, 2])
def test_each_test_gets_an_empty_postgres_database(empty_postgres_url: str, _again: int) -> None:
    with psycopg.connect(libpq_url(empty_postgres_url)) as connection:
        connection.execute("CREATE TABLE only_here (id int)")


@pytest.mark.parametrize("_again", [1, 2])
def test_each_test_gets_an_empty_redis_database(redis_url: str, _again: int) -> None:
    with connect_redis(redis_url) as client:
        assert client.dbsize() == 0
        client.set("only", "here")


def test_postgres_keeps_what_was_committed_over_an_immediate_stop(
    postgres_server: PostgresServer,
) -> None:
    url = libpq_url(postgres_server.admin_url)
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS id")
    postgres_server.stop_immediate()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
    postgres_server.start()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT id FROM kept").fetchone() == (1,)


def test_redis_comes_back_empty_at_the_same_address(redis_server: RedisServer) -> None:
    with connect_redis(redis_server.url()) as client:
        client.set("lost", "soon")
    redis_server.kill()
    with connect_redis(redis_server.url()) as client, pytest.raises(redis.ConnectionError):
        client.ping()
    redis_server.start()
    with connect_redis(redis_server.url()) as client:
        assert client.dbsize() == 0
        client.set("lost", "again")
    redis_server.flush()
    with connect_redis(redis_server.url()) as client:
        assert client.dbsize() == 0


_STARTER = """
import sys, time
from tests.servers import PostgresServer, RedisServer
servers = [PostgresServer(), RedisServer()]
for server in servers:
    server.start()
print(*(server._process.pid for server in servers), *(server.folder for server in servers))
sys.stdout.flush()
time.sleep(600)
"""


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_servers_die_with_the_process_that_started_them() -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c", _STARTER], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert starter.stdout is not None
    with starter.stdout:
        words = starter.stdout.readline().split()
    starter.kill()
    starter.wait()
    limit_at = time.monotonic() + 20
    while any(_alive(int(pid)) for pid in words[:2]) and time.monotonic() < limit_at:
        time.sleep(0.05)
    assert not any(_alive(int(pid)) for pid in words[:2])
    for folder in words[2:]:
        subprocess.run(["rm", "-rf", folder], check=True)
