"""What the README tells people to type works as it stands there, and every setting is told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import yaml

from orchestrator.settings import Settings
from tests.repository.shell import Shell, until
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
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
VARIABLES = "orchestrator env"
RUN_HERE = (ALONE, ASKED, SERVED, ASKING, AWS, VARIABLES, INSIDE)


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
    (serve,) = block(AWS)
    variables, _client = block(VARIABLES)
    port = free_port()
    shell.type(f"{serve} --port {port} &")
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
