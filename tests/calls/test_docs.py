"""What docs/calls.md prints is what is printed, and what it types works."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import httpx
import pytest

from orchestrator.asl.definition import parse
from orchestrator.cli import main as command
from orchestrator.client import DEFAULT_URL
from orchestrator.execution.frame import FrameKind, FrameStatus
from tests.calls.house import eventually, house
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "calls.md").read_text()


def test_the_table_of_the_page_is_the_one_that_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        command(["table", str(ROOT / "definitions" / "order.asl.json")])
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    (shown,) = re.findall(r"^```\n( +pay .*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert [line.rstrip() for line in shown.splitlines()] == printed


def test_the_order_has_no_errors_and_says_what_may_wait_for_ever() -> None:
    parsed = parse((ROOT / "definitions" / "order.asl.json").read_text())
    assert parsed.machine is not None
    assert [finding.pointer for finding in parsed.findings] == ["/States/Pending"]


def test_the_commands_of_the_page_do_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ORCHESTRATOR_LEDGER_URL", raising=False)
    monkeypatch.setenv("ORCHESTRATOR_DATA", "")
    monkeypatch.chdir(ROOT)
    url = f"sqlite:///{tmp_path / 'orchestrator.db'}"
    monkeypatch.setenv("ORCHESTRATOR_DATABASE_URL", url)
    typed, refused, curl = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    database, *commands = typed.splitlines()
    assert database == "export ORCHESTRATOR_DATABASE_URL=sqlite:///.orchestrator/orchestrator.db"
    codes, said = [], ""
    with house(tmp_path) as home:
        for line in (*commands, refused.partition(" || ")[0]):
            with pytest.raises(SystemExit) as ended:
                command(shlex.split(line)[1:])
            codes.append(ended.value.code)
            said = capsys.readouterr().out
            if "parcel-1" in line:
                assert said == "ship accepted: Paid → Shipped (id parcel-1)\n"
        assert curled(curl, home.url) == (409, "already paid")
    assert codes == [0, 0, 0, 1, 0, 0, 0, 0, 0, 1]


def curled(typed: str, url: str) -> tuple[int, str]:
    """What a command of curl is answered: its status, and the reason."""
    program, *options = shlex.split(typed.replace("\\\n", " "))
    assert program == "curl"
    headers = [options[n + 1] for n, option in enumerate(options) if option == "-H"]
    (target,) = [option for option in options if option.startswith(DEFAULT_URL)]
    answer = httpx.post(
        target.replace(DEFAULT_URL, url),
        content=options[options.index("-d") + 1],
        headers=dict(header.split(": ") for header in headers),
        timeout=30,
    )
    return answer.status_code, answer.json()["reason"]


def test_a_failed_effect_and_a_call_kept_for_long_ask_for_attention(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    definition = {
        "Calls": {"go": {}},
        "StartAt": "A",
        "States": {
            "A": {
                "Type": "Await",
                "OnEnter": {"Resource": "celery:nothing", "Parameters": {"a.$": "$.none"}},
                "On": {"go": {"Postpone": True}},
                "After": [{"Seconds": 9999, "Next": "B"}],
            },
            "B": {"Type": "Succeed"},
        },
    }
    monkeypatch.setenv("ORCHESTRATOR_DATA", "")
    monkeypatch.setattr("orchestrator.service.operations.KEPT_SECONDS", -1.0)
    with house(tmp_path) as home:
        home.client.deploy("asks", json.dumps(definition))
        address = home.client.start("asks", "one")
        assert home.client.call(address, "go").verdict == "pending"
        service = home.parts.service

        def asked() -> set[str]:
            return {one.kind.value for one in service.operations.attention()}

        eventually(lambda: {"effect failed", "call kept"} <= asked())
        (effect,) = service.execution_effects(address)
        found = {one.kind.value: one for one in service.operations.diagnose().findings}
        assert set(found) == {"effect failed", "call kept"}
        assert {(one.execution, one.state) for one in found.values()} == {
            (address, "A"),
            (address, None),
        }
        with pytest.raises(SystemExit) as told:
            command(["doctor", "--database-url", f"sqlite:///{tmp_path / 'orchestrator.db'}"])
        assert told.value.code == 1
        said = capsys.readouterr().out
        assert f"\n  orchestrator effects {address} --again '{effect.id}'\n" in said
        assert f"\n  orchestrator waits {address}\n" in said
        assert (effect.kind, effect.status) == (FrameKind.EFFECT, FrameStatus.FAILED)
        service.run_effect_again(address, effect.id)
        assert "effect failed" not in asked()
