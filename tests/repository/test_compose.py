"""docker-compose.yml says what works: each of its commands runs, and together they run an order."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
import redis
import yaml
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from orchestrator import DEFAULT_PORT
from orchestrator.client import DEFAULT_URL
from tests.servers import PostgresServer, free_port, redis_binary, start_process

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
SERVERS = {"postgres", "redis"}
OURS = {"migrate", "api", "scheduler", "workers"}


@dataclass(frozen=True, slots=True)
class Service:
    """What the compose file says of one service."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    healthcheck: tuple[str, ...]
    needs: Mapping[str, str]

    def program(self) -> list[str | Path]:
        found = shutil.which(self.command[0], path=PROGRAMS)
        assert found, f"{self.name}: {self.command[0]} is no program of ours"
        return [found, *self.command[1:]]


def _services() -> dict[str, Service]:
    text = (ROOT / "docker-compose.yml").read_text()
    return {
        name: Service(
            name,
            tuple(service.get("command", ())),
            service.get("environment", {}),
            tuple(service.get("healthcheck", {}).get("test", ())[1:]),
            {need: how["condition"] for need, how in service.get("depends_on", {}).items()},
        )
        for name, service in yaml.safe_load(text)["services"].items()
    }


SERVICES = _services()


@pytest.fixture
def environment(empty_postgres_url: str, redis_url: str, tmp_path: Path) -> dict[str, str]:
    """What the compose file gives to our services, with the servers of this test."""
    given = SERVICES["workers"].environment
    assert set(given) == {"ORCHESTRATOR_DATABASE_URL", "ORCHESTRATOR_BROKER_URL"}
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "ORCHESTRATOR_DATABASE_URL": empty_postgres_url,
        "ORCHESTRATOR_BROKER_URL": redis_url,
    }


def _orchestrator(environment: Mapping[str, str], *arguments: str | Path) -> str:
    result = subprocess.run(
        [PROGRAMS / "orchestrator", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@contextmanager
def _running(service: str, environment: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Runs a service's command as the container would, and ends it as the container would."""
    log_path = folder / f"{service}.log"
    with log_path.open("wb") as log:
        process = start_process(
            SERVICES[service].program(), log=log, cwd=folder, environment=environment
        )
        try:
            yield
            assert process.poll() is None, log_path.read_text(errors="replace")
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0, log_path.read_text(errors="replace")
        finally:
            process.kill()
            process.wait()


def test_the_services_are_those_of_a_whole_deployment() -> None:
    assert set(SERVICES) == SERVERS | OURS
    assert {name for name, service in SERVICES.items() if service.healthcheck} == SERVERS
    for name in OURS:
        assert SERVICES[name].environment == SERVICES["workers"].environment


def test_nothing_starts_before_what_it_needs() -> None:
    assert SERVICES["migrate"].needs == {"postgres": "service_healthy"}
    for name in ("api", "scheduler", "workers"):
        assert SERVICES[name].needs == {
            "migrate": "service_completed_successfully",
            "redis": "service_healthy",
        }


def test_an_order_runs_through_the_services(environment: dict[str, str], tmp_path: Path) -> None:
    migrated = subprocess.run(
        SERVICES["migrate"].program(), env=environment, cwd=tmp_path, check=False, timeout=60
    )
    assert migrated.returncode == 0
    order = json.dumps(_paid_order())
    with (
        _running("scheduler", environment, tmp_path),
        _running("workers", environment, tmp_path),
    ):
        _orchestrator(environment, "deploy", ROOT / "definitions" / "order-payment.asl.json")
        _orchestrator(environment, "start", "order-payment", "--input", order, "--name", "composed")
        limit_at = time.monotonic() + 60
        while (status := _status(environment)) == "RUNNING" and time.monotonic() < limit_at:
            time.sleep(0.2)
        assert status == "SUCCEEDED"


def test_the_door_is_published_on_this_machine_only_at_the_port_that_everything_names() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    published = [f"127.0.0.1:{DEFAULT_PORT}:{DEFAULT_PORT}"]
    assert yaml.safe_load(text)["services"]["api"]["ports"] == published
    documents = (
        ROOT / "README.md",
        ROOT / "orchestrator" / "client.py",
        *(ROOT / "docs").iterdir(),
    )
    told = {
        port
        for document in documents
        if document.suffix in (".md", ".py")
        for port in re.findall(
            r"(?:localhost|127\.0\.0\.1|--port)[: ](\d+)\b", document.read_text()
        )
    }
    assert told <= {str(DEFAULT_PORT), "6379"}  # Redis listens, too
    assert f"http://localhost:{DEFAULT_PORT}" == DEFAULT_URL


def test_the_door_answers_over_the_database(environment: dict[str, str], tmp_path: Path) -> None:
    port = str(free_port())
    assert _orchestrator(environment, "db", "upgrade")
    api = SERVICES["api"]
    SERVICES["api on a port"] = replace(api, command=(*api.command, "--port", port))
    with _running("api on a port", environment, tmp_path):
        limit_at = time.monotonic() + 30
        while True:
            try:
                answer = httpx.post(
                    f"http://127.0.0.1:{port}/",
                    headers={"X-Amz-Target": "AWSStepFunctions.ListStateMachines"},
                )
            except httpx.TransportError:
                assert time.monotonic() < limit_at
                time.sleep(0.2)
            else:
                assert answer.json() == {"stateMachines": []}
                return


def _paid_order() -> object:
    return json.loads((ROOT / "definitions" / "inputs" / "order-payment" / "paid.json").read_text())


def _status(environment: Mapping[str, str]) -> str:
    shown = json.loads(_orchestrator(environment, "describe", "order-payment:composed", "--json"))
    return str(shown["status"])


def test_redis_runs_by_its_command(tmp_path: Path) -> None:
    name, *arguments = SERVICES["redis"].command
    assert name == "valkey-server"
    port = free_port()
    command = [str(redis_binary()), *arguments, "--port", str(port), "--dir", str(tmp_path)]
    with (tmp_path / "log").open("wb") as log:
        process = start_process(command, log=log, cwd=tmp_path)
    try:
        with redis.Redis(port=port, retry=Retry(ConstantBackoff(0.05), 200)) as client:
            assert client.ping()
    finally:
        process.kill()
        process.wait()


def test_postgres_is_healthy_by_its_check(postgres_server: PostgresServer) -> None:
    check = SERVICES["postgres"].healthcheck
    program = postgres_server.binaries / check[0]
    if not program.exists():
        pytest.skip("the health check was not tested: this PostgreSQL has no pg_isready")
    where = {"PGHOST": str(postgres_server.folder)}
    assert subprocess.run([program, *check[1:]], env=where, check=False).returncode == 0
    postgres_server.stop_immediate()
    assert subprocess.run([program, *check[1:]], env=where, check=False).returncode == 2
