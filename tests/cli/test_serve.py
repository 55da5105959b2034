from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.cli.conftest import Call


@pytest.mark.parametrize("command", ["api", "dev"])
@pytest.mark.parametrize("host", ["192.0.2.1", "::", "example.org"])
def test_a_door_without_authentication_opens_on_loopback_only(
    call: Call, command: str, host: str
) -> None:
    answer = call(command, "--host", host)
    assert answer.code == 2
    assert "there is no authentication yet" in answer.err
    assert "--without-authentication" in answer.err


@pytest.mark.parametrize("command", ["api", "dev"])
def test_a_port_that_is_taken_is_said(on_sqlite: Call, command: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        more = ["--handlers", "json"] if command == "dev" else []
        answer = on_sqlite(command, "--port", port, *more)
    assert answer.code == 2
    assert f"127.0.0.1:{port} cannot be listened at: Address already in use" in answer.err


def test_a_door_needs_the_tables_of_its_release(call: Call, tmp_path: Path) -> None:
    answer = call("api", "--database-url", f"sqlite:///{tmp_path}/none.db", "--port", 0)
    assert answer.code == 1
    assert "run `orchestrator db upgrade`" in answer.err


def test_limits_are_two(call: Call) -> None:
    answer = call("dev", "--limits", "none")
    assert answer.code == 2
    assert "one of strict-aws, default" in answer.err


def test_a_mock_configuration_that_cannot_be_read_is_said(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "mocks.json"
    path.write_text("{")
    answer = call("dev", "--handlers", "json", "--mock-config", path, "--port", 0)
    assert answer.code == 2
    assert f"{path} is no mock configuration" in answer.err


def test_the_environment_of_clients(call: Call) -> None:
    lines = call("env", "--port", 4711).out.splitlines()
    assert "export AWS_ENDPOINT_URL_SFN=http://127.0.0.1:4711" in lines
    assert "export AWS_DISABLE_HOST_PREFIX_INJECTION=true" in lines
    assert all(line.startswith("export AWS_") for line in lines)
