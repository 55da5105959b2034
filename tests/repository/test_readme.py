"""What the README tells people to type works as it stands there, and every setting is told."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import yaml

from orchestrator.settings import Settings
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
README = (ROOT / "README.md").read_text()
INSIDE = "docker compose run --rm "

ELSEWHERE = {
    "make demo": "tests/repository/test_demo.py",
    "docker compose up --build": "tests/repository/test_compose.py",
    "make test": ".ci/run",
    "make check": ".ci/run",
    ". .venv/bin/activate": "tests/repository/test_bootstrap.py",
}
"""Commands that are not run here, and what runs them."""


def blocks() -> list[list[str]]:
    """The commands of each block of shell, without what is said of them."""
    found = re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    return [[re.sub(r"\s+# .*", "", line) for line in block.splitlines()] for block in found]


def block(telling: str) -> list[str]:
    """The commands of the one block in which that is typed."""
    (found,) = [lines for lines in blocks() if any(telling in line for line in lines)]
    return [line for line in found if line not in ELSEWHERE]


ALONE = "orchestrator run "
ASKED = "sqlite:///"
SERVED = "postgresql://"
ASKING = "orchestrator start order-payment --name 4712"
AWS = "orchestrator dev"
RUN_HERE = (ALONE, ASKED, SERVED, ASKING, AWS, INSIDE)


@dataclass(slots=True)
class Shell:
    """A folder with the definitions, and the environment that `export` changes."""

    folder: Path
    given: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def type(self, line: str) -> str:
        """Run a line as a shell would; what it prints on stdout."""
        words = shlex.split(line)
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            self.environment[name] = self.given.get(name, value)
            return ""
        if words[-1] == "&":
            self._leave_running(words[:-1])
            return ""
        ended = subprocess.run(
            self._program(words),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert ended.returncode == 0, f"{line}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def all(self, lines: Sequence[str]) -> dict[str, str]:
        return {line: self.type(line) for line in lines}

    def end(self) -> None:
        for process in self.running:
            process.send_signal(signal.SIGTERM)
        for process in self.running:
            assert process.wait(30) == 0

    def _leave_running(self, words: Sequence[str]) -> None:
        with (self.folder / f"{len(self.running)}.log").open("wb") as log:
            process = subprocess.Popen(
                self._program(words),
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.running.append(process)

    @staticmethod
    def _program(words: Sequence[str]) -> list[str]:
        return [str(PROGRAMS / words[0]), *words[1:]]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "definitions").symlink_to(ROOT / "definitions")
    kept = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    made = Shell(tmp_path, {}, kept)
    yield made
    for process in made.running:
        process.kill()
        process.wait()


def until(there: Callable[[], object], seconds: float = 60) -> None:
    limit_at = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < limit_at
        time.sleep(0.2)


def test_every_command_is_run_by_a_test() -> None:
    told = [line for lines in blocks() for line in lines]
    ours = [line for telling in RUN_HERE for line in block(telling)]
    assert [line for line in told if line not in ours and line not in ELSEWHERE] == []
    assert all((ROOT / path).exists() for path in ELSEWHERE.values())


def test_what_is_run_alone_can_be_asked_for_later(shell: Shell) -> None:
    told = shell.all(block(ALONE))
    assert json.loads(told[block(ALONE)[-1]])["order_id"]
    shown = "".join(shell.all(block(ASKED)).values())
    assert "order-payment:4711  SUCCEEDED" in shown
    assert "ExecutionSucceeded" in shown


def test_on_servers_an_order_is_deployed_started_shown_and_stopped(
    shell: Shell, empty_postgres_url: str, redis_url: str
) -> None:
    shell.given = {
        "ORCHESTRATOR_DATABASE_URL": empty_postgres_url,
        "ORCHESTRATOR_BROKER_URL": redis_url,
    }
    shell.all(block(SERVED))
    _deployed, _started, shown, _waits, stopped, _listed = shell.all(block(ASKING)).values()
    assert re.match(r"order-payment:4712  (RUNNING|SUCCEEDED)\n", shown)
    assert stopped == "order:4712 ABORTED\n"
    until(lambda: re.search(r"order-payment:4712 +SUCCEEDED", shell.type("orchestrator list")))

    for line in block(INSIDE):
        where, _, command = line.removeprefix(INSIDE).partition(" orchestrator ")
        service = where.split()[-1]
        assert service in yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
        shell.type(f"orchestrator {command}")
    until(
        lambda: (
            "order-payment:4713  FAILED" in shell.type("orchestrator describe order-payment:4713")
        )
    )
    shell.end()


def test_programs_for_aws_find_what_they_need(shell: Shell) -> None:
    serve, variables, _client = block(AWS)
    port = free_port()
    shell.type(serve.replace("orchestrator dev", f"orchestrator dev --port {port}"))
    (ask,) = re.findall(r"\$\((.*)\)", variables)
    exported = shell.type(f"{ask} --port {port}")
    (endpoint,) = re.findall(r"export AWS_ENDPOINT_URL\w*=(\S+)", exported)

    def answered() -> bool:
        asks = {"X-Amz-Target": "AWSStepFunctions.ListStateMachines"}
        try:
            return bool(httpx.post(endpoint, headers=asks).json() == {"stateMachines": []})
        except httpx.TransportError:
            return False

    until(answered)
    shell.end()


def test_the_files_that_the_documents_speak_of_are_there() -> None:
    places = (ROOT, ROOT / "orchestrator", ROOT / "tests")
    for document in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = document.read_text()
        told = re.findall(r"`([\w./-]+(?:\.py|\.json|\.md|/))`|\]\((?!http)([\w./-]+)\)", text)
        for name in map("".join, told):
            there = [place for place in (*places, document.parent) if (place / name).exists()]
            assert there, f"{document.name} speaks of {name}"


def test_every_setting_is_told() -> None:
    told = set(re.findall(r"`(ORCHESTRATOR_\w+)`", (ROOT / "docs" / "settings.md").read_text()))
    assert told == {f"ORCHESTRATOR_{name.upper()}" for name in Settings.model_fields}
